# SPDX-License-Identifier: Apache-2.0
"""A job: a command that prints a line of JSON for each result."""
import ctypes
import json
import os
import signal
import subprocess

from wrong import Wrong

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Job:
    """ARGS are its command, VARIABLES change its environment, and it may use so many of our CORES,
    or all of them."""

    def __init__(self, args, variables=None, cores=None):
        self.args = args
        self.variables = variables or {}
        self.cores = cores

    def prepare(self):
        """In the child. It does not outlive us."""
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        ours = sorted(os.sched_getaffinity(0))
        if self.cores and self.cores <= len(ours):
            os.sched_setaffinity(0, ours[:self.cores])

    def start(self, **streams):
        try:
            return subprocess.Popen(self.args, text=True, env={**os.environ, **self.variables},
                                    preexec_fn=self.prepare, **streams)
        except OSError as error:
            raise Wrong(f"{self.args[0]}: {error.strerror}") from error

    def is_fine(self):
        """Whether it succeeds. Nobody reads what it says."""
        with self.start(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            return process.wait() == 0

    def lines(self):
        """What it prints, line by line. Raises Wrong at its end if it fails. Who does not want to
        read on ends it."""
        name = self.args[0]
        with self.start(stdout=subprocess.PIPE) as process:
            try:
                yield from process.stdout
            except GeneratorExit:
                process.terminate()
                raise
        if process.returncode < 0:
            raise Wrong(f"{name} was killed by signal {-process.returncode}")
        if process.returncode:
            raise Wrong(f"{name} ended with status {process.returncode}")

    def results(self):
        """The results among its lines, which other lines of JSON may surround."""
        for line in self.lines():
            if line.startswith('{"name": '):
                yield json.loads(line.strip().rstrip(","))


def said(*command):
    """The lines that COMMAND prints; those of one that fails are told no one."""
    try:
        return list(Job(command).lines())
    except Wrong:
        return []
