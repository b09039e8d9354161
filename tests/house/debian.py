# SPDX-License-Identifier: Apache-2.0
"""An empty Debian in a folder, and hosts made of it: for tests that install Cohort's packages.

own_namespaces() continues the program with mounts, processes and a host name of its own, so nothing
of what it mounts and starts is left when it ends, however it ends."""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile

import house

SUITE = "bookworm"
INSIDE = "COHORT_TEST_FOLDER"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "net/tun")
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2",
         "ptmx": "pts/ptmx"}
USER = "new"


def run(*command, limit=600, **options):
    """What COMMAND prints, on stdout and stderr, and its status."""
    with subprocess.Popen(command, stdin=options.pop("stdin", subprocess.DEVNULL), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options) as process:
        try:
            return process.communicate(timeout=limit)[0], process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            house.finish([f"{' '.join(command)}: has not ended after {limit} s"], 1)


def need(*command, **options):
    """What COMMAND prints. It has to succeed."""
    said, status = run(*command, **options)
    if status:
        house.finish([f"{' '.join(command)}: status {status}\n{said}"], 1)
    return said


def own_namespaces():
    """The folder that the program may use, which is removed when it ends."""
    if INSIDE in os.environ:
        return os.environ.pop(INSIDE)
    if os.geteuid():
        house.skip("needs root, for debootstrap and chroot")
    enter = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts")
    said, status = run(*enter, "true")
    if status:
        house.skip(f"no namespaces of its own: {said.strip()}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="cohort-debian-") as folder:
        with subprocess.Popen([*enter, sys.executable, "-B", *sys.argv],
                              env={**os.environ, INSIDE: folder}) as inner:
            try:
                status = inner.wait()
            finally:
                inner.kill()
    sys.exit(status)


def find_mirror(suite=SUITE):
    """Where apt here has its Debian from, which has the other suites, too: the address, and the
    lines for sources.list. Skips the test if there is none."""
    said = need("apt-get", "indextargets", "--format",
                "deb $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    lines = sorted({line for line in said.splitlines() if line.split()[2].startswith(SUITE)
                    and line.split()[3] == "main"})
    mirror = [line for line in lines if line.split()[2] == SUITE]
    if not mirror:
        house.skip(f"apt here has no {SUITE}")
    uri = mirror[0].split()[1]
    if suite != SUITE:
        lines = [f"deb {uri} {suite} main"]
    with tempfile.TemporaryDirectory() as folder:
        said, status = run("/usr/lib/apt/apt-helper", "-o", "Acquire::Retries=0",
                           "-o", "Acquire::http::Timeout=20", "download-file",
                           f"{uri}dists/{suite}/InRelease", f"{folder}/InRelease", limit=120)
    if status:
        house.skip(f"the mirror of apt does not answer: {said.strip().splitlines()[-1]}")
    return uri, lines


class Tree:
    """A Debian in FOLDER. Commands in it get an environment of their own, as after a login."""

    def __init__(self, folder):
        self.folder = folder
        self.inside = ()  # what enters the namespaces of its host

    def path(self, name):
        return os.path.join(self.folder, name.lstrip("/"))

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def mount(self, shm="size=64m"):
        """What a running system has. Shared memory is as small as in a container of docker. The
        root is a mount point, so that programs in it can have mounts of their own."""
        need("mount", "--bind", self.folder, self.folder)
        need("mount", "-t", "proc", "proc", self.path("proc"))
        need("mount", "-t", "sysfs", "-o", "ro", "sysfs", self.path("sys"))
        run("mount", "-t", "cgroup2", "cgroup2", self.path("sys/fs/cgroup"))  # if it can be had
        need("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self.path("dev"))
        os.mkdir(self.path("dev/net"))
        for name in DEVICES:
            if not os.path.exists(f"/dev/{name}"):
                continue
            self.write(f"dev/{name}", "")
            need("mount", "--bind", f"/dev/{name}", self.path(f"dev/{name}"))
        for name, target in LINKS.items():
            os.symlink(target, self.path(f"dev/{name}"))
        os.mkdir(self.path("dev/pts"))
        need("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=666", "devpts",
             self.path("dev/pts"))
        os.mkdir(self.path("dev/shm"))
        need("mount", "-t", "tmpfs", "-o", f"mode=1777,{shm}", "tmpfs", self.path("dev/shm"))

    def enter(self, command, user="root"):
        """The words that run the COMMAND of a shell in the user's home."""
        home = "/root" if user == "root" else f"/home/{user}"
        return (*self.inside, "chroot", f"--userspec={user}:{user}", self.folder, "env", "-i",
                f"PATH={PATH}", f"HOME={home}", f"USER={user}", "LANG=C.UTF-8", "TERM=dumb",
                "bash", "-c", f"cd && {command}")

    def run(self, command, user="root", **options):
        """What COMMAND prints, and its status."""
        return run(*self.enter(command, user), **options)

    def start(self, command):
        """A process of root's for COMMAND, which goes on."""
        return subprocess.Popen(self.enter(f"exec {command}"), stdin=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def need(self, command, user="root", **options):
        said, status = self.run(command, user, **options)
        if status:
            house.finish([f"{self.folder}: {command}: status {status}\n{said}"], 1)
        return said

    def install(self, *packages):
        self.need(f"DEBIAN_FRONTEND=noninteractive apt-get install -qy {' '.join(packages)}",
                  limit=1200)

    def copy(self, folder):
        need("cp", "-a", "--reflink=auto", "--one-file-system", self.folder, folder)
        return Tree(folder)


def bootstrap(folder, mirror, suite=SUITE):
    """An empty Debian, which is not mounted, with a user without a password."""
    uri, lines = mirror
    said, status = run("debootstrap", "--variant=minbase", suite, folder, uri, limit=1200)
    if "noexec or nodev" in said:
        house.skip(f"{os.path.dirname(folder)} has no programs or devices; set TMPDIR")
    if status:
        house.finish([f"debootstrap: status {status}\n{said}"], 1)
    tree = Tree(folder)
    tree.write("etc/apt/sources.list", "".join(f"{line}\n" for line in lines))
    # A mirror may have stood still for longer than what it has is valid.
    tree.write("etc/apt/apt.conf.d/old", 'Acquire::Check-Valid-Until "false";\n')
    # Nobody needs it after a crash.
    tree.write("etc/dpkg/dpkg.cfg.d/unsafe", "force-unsafe-io\n")
    # Installing a package starts no server.
    tree.write("usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n")
    os.chmod(tree.path("usr/sbin/policy-rc.d"), 0o755)
    if os.path.exists("/etc/resolv.conf"):
        with open("/etc/resolv.conf", encoding="utf-8") as file:
            tree.write("etc/resolv.conf", file.read())
    tree.need(f"apt-get -q update && useradd --create-home --shell /bin/bash {USER}")
    return tree


@contextlib.contextmanager
def hosts(trees):
    """TREES, names and what runs there, as hosts of a network of their own. What the hosts have
    started ends with them."""
    with contextlib.ExitStack() as stack:
        pids = {}
        for name, tree in trees.items():
            holder = stack.enter_context(subprocess.Popen(
                ["unshare", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount",
                 f"--mount-proc={tree.path('proc')}", "sh", "-c",
                 f"hostname {name}; echo; exec sleep infinity"], stdout=subprocess.PIPE))
            stack.callback(holder.kill)
            holder.stdout.readline()
            with open(f"/proc/{holder.pid}/task/{holder.pid}/children", encoding="ascii") as file:
                pids[name] = file.read().strip()
            tree.inside = ("nsenter", f"--target={pids[name]}", "--net", "--uts", "--pid",
                           "--mount")
            stack.callback(setattr, tree, "inside", ())
        first, second = pids.values()
        need("ip", "link", "add", "eth0", "netns", first, "type", "veth",
             "peer", "name", "eth0", "netns", second)
        for i, (name, tree) in enumerate(trees.items()):
            for words in (f"addr add 10.77.0.{1 + i}/24 dev eth0", "link set eth0 up",
                          "link set lo up"):
                need(*tree.inside, "ip", *words.split())
            # As Debian's installer writes it.
            others = "".join(f"10.77.0.{1 + j}\t{other}\n" for j, other in enumerate(trees)
                             if other != name)
            tree.write("etc/hosts", f"127.0.0.1\tlocalhost\n127.0.1.1\t{name}\n{others}")
        yield
