# SPDX-License-Identifier: Apache-2.0
"""What figures depend on, in one line: the date, the commit of this checkout, and the machine."""
import datetime
import os
import subprocess


def origin(report):
    """Of a JSON REPORT that cohort-compare has printed just now."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        commit = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], text=True,
                                check=True, capture_output=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    machine = report["machine"]
    quick = ", a quick run" if report["quick"] else ""
    return (f"{datetime.date.today()}, commit {commit}, {machine['cores']} cores of "
            f"{machine['cpu']}, {machine['system']}, load {machine['load']:.1f}{quick}")
