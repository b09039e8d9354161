# SPDX-License-Identifier: Apache-2.0
"""The programs beside this one: cohort-bench, cohortrun, and those of the peers."""
import os
import sys

from wrong import Wrong, complain


class Programs:
    """COHORTRUN: its path, if it is another one. SECONDS: of a job, which is ended then."""

    def __init__(self, cohortrun=None, seconds=0):
        self.folder = os.path.dirname(os.path.realpath(sys.argv[0]))
        self.bench = self.beside("cohort-bench")
        self.cohortrun = self.beside("cohortrun") if cohortrun is None else cohortrun
        self.seconds = seconds
        if not os.access(self.bench, os.X_OK):
            raise Wrong(f"there is no {self.bench}")

    def beside(self, name):
        return os.path.join(self.folder, name)

    def peer(self, name):
        """The program of a peer, which is built if that is there, and is never installed. None: it
        is left out, which is told."""
        path = self.beside("peer_" + name)
        if os.access(path, os.X_OK):
            return path
        complain(f"left out: {name}, since there is no {path}")
        return None

    def launch(self, localities, workers=1, *options):
        """How a job begins of so many localities; one is started without cohortrun."""
        if localities == 1:
            return [self.bench, "--json"]
        if not os.access(self.cohortrun, os.X_OK):
            raise Wrong(f"no launcher at '{self.cohortrun}': give --cohortrun PATH")
        return [self.cohortrun, "-n", str(localities), "--workers", str(workers), "--timeout",
                str(self.seconds), *options, self.bench, "--json"]
