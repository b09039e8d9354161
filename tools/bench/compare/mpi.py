# SPDX-License-Identifier: Apache-2.0
"""The MPIs that are there, and how each starts a job of its program (peer_mpi.c)."""
import re
import shutil

from job import Job, said
from wrong import complain

# Open MPI says "mpirun (Open MPI) 5.0.7" first, 4.1 calls it OpenRTE, MPICH " Version:      4.0.2"
# in some line.
VERSION = re.compile(r"(?:\(Open MPI\)|\(OpenRTE\)|Version:)\s*(\S+)")
# Components of Open MPI for collectives that it does not choose by itself.
COMPONENTS = {"acoll": {"coll_acoll_priority": "100"},
              "ucc": {"coll_ucc_enable": "1", "coll_ucc_priority": "100"},
              "xhc": {"coll_xhc_priority": "100"}}


class Mpi:
    """NAME is openmpi or mpich."""

    def __init__(self, name, program, seconds):
        self.name, self.program, self.seconds = name, program, seconds
        self.version = "of some version"
        for line in said("mpirun." + name, "--version"):
            found = VERSION.search(line)
            if found:
                self.version = found[1]
                break

    def job(self, num, words, *, hosts=(), parameters=None):
        """Of NUM processes, with these WORDS for the program. HOSTS are words for mpirun.

        Open MPI has to be told that there may be more processes than cores (then it lets those that
        wait yield by itself), and that running as root is intended; PARAMETERS are its. MPICH's
        time limit is in the environment."""
        args = ["mpirun." + self.name, *hosts]
        if self.name == "openmpi":
            args += ["--oversubscribe", "--bind-to", "none", "--allow-run-as-root", "--timeout",
                     str(self.seconds)]
            for parameter, value in (parameters or {}).items():
                args += ["--mca", parameter, value]
        return Job([*args, "-n", str(num), self.program, *words],
                   {"MPIEXEC_TIMEOUT": str(self.seconds)})


def find(programs, name):
    """The MPI of that NAME, or None: it is left out, which is told."""
    program, launcher = programs.peer(name), "mpirun." + name
    if not program:
        return None
    if not shutil.which(launcher):
        complain(f"left out: {name}, since there is no {launcher}")
        return None
    return Mpi(name, program, programs.seconds)


def components():
    """The names of those that Open MPI has here."""
    lines = said("ompi_info", "--parsable")
    return [name for name in COMPONENTS
            if any(line.startswith(f"mca:coll:{name}:version:") for line in lines)]
