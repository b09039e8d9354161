# SPDX-License-Identifier: Apache-2.0
"""What figures depend on, in one line: the date, the commit of this checkout, the machine, and the
versions of others."""
import datetime
import os
import subprocess

# What those are called whose figures have a column in README.md.
PEERS = {"openmpi": "Open MPI", "mpich": "MPICH", "tbb": "oneTBB", "openmp": "OpenMP of"}


def origin(*reports):
    """Of JSON REPORTS that cohort-compare has printed just now. The load is the first one's."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        commit = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], text=True,
                                check=True, capture_output=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    machine = reports[0]["machine"]
    quick = ", a quick run" if reports[0]["quick"] else ""
    peers = "".join(f", {PEERS[name]} {version}" for report in reports
                    for name, version in report["peers"].items() if name in PEERS)
    return (f"{datetime.date.today()}, commit {commit}, {machine['cores']} cores of "
            f"{machine['cpu']}, {machine['system']}, load {machine['load']:.1f}{peers}{quick}")
