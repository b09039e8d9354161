# SPDX-License-Identifier: Apache-2.0
"""libfabric's fi_pingpong, with which rows over ofi are compared."""
import contextlib
import os
import re
import socket
import subprocess
import time

from job import Job
from rounds import Contender
from wrong import Wrong

FEW, MOST = 50, 100000 # messages
SECONDS = 10           # until the server listens
LISTEN = "0A"          # as /proc/net/tcp has it
# "8  2k  =2k  31k  0.12s  0.25  30.11  0.03": the last but one is what is wanted.
LINE = re.compile(r"[0-9kmg]+\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+([0-9.]+)\s+\S+\s*")


@contextlib.contextmanager
def reserved_port():
    """A port that nobody uses now. Within this only the server can use it: it sets SO_REUSEADDR,
    too, so it can share the port with a socket that does not listen."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
        yield one.getsockname()[1]


def is_listening(port):
    """Asks the kernel. It does not connect, since the server takes the first connection for its
    client."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == LISTEN
                   for line in list(file)[1:])


class Pingpong(Contender):
    """By the provider that Cohort uses with the libfabric of Debian 12, if no other is wanted."""

    def __init__(self, name, seconds):
        super().__init__(name)
        self.seconds = seconds
        self.provider = os.environ.get("COHORT_OFI_PROVIDER") or "net"

    def columns(self):
        return []

    def takes(self, row):
        return row.kind == "ofi"

    def command(self, size, num, port_option, port):
        """Neither of the two waits for ever for the other one, if this program is killed."""
        return ["timeout", "--foreground", "600", self.name, "-p", self.provider, "-e", "rdm",
                "-I", str(num), "-S", str(size), port_option, str(port)]

    def await_server(self, server, port):
        end = time.monotonic() + SECONDS
        while server.poll() is None and time.monotonic() < end:
            if is_listening(port):
                return
            time.sleep(0.005)
        raise Wrong(f"the server does not listen on port {port}, with provider {self.provider} "
                    "(COHORT_OFI_PROVIDER)")

    def time(self, size, num):
        """The microseconds of a message."""
        with reserved_port() as port, \
             subprocess.Popen(self.command(size, num, "-B", port), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as server:
            try:
                self.await_server(server, port)
                client = Job([*self.command(size, num, "-P", port), "127.0.0.1"])
                found = [match[1] for match in map(LINE.fullmatch, client.lines()) if match]
            except Wrong:
                server.terminate()
                raise
        if not found or not float(found[-1]):
            raise Wrong("it has printed no time")
        return float(found[-1])

    def figures(self, rows, number):
        for row in rows:
            num = self.seconds * 1e6 / (2 * self.time(row.size, FEW))
            yield row, self.name, self.time(row.size, int(min(max(num, FEW), MOST)))
