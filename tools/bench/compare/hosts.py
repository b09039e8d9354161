# SPDX-License-Identifier: Apache-2.0
"""Hosts that are namespaces of this machine, for as long as a function runs.

Each host has a network stack of its own, which a bridge connects to the others as v-NAME, a name, a
session, shared memory, and a folder for temporary files. They share the machine's cores and all
other files."""
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import traceback

from wrong import Wrong, complain

NETWORK = "10.77.0.0/24"
LAUNCHER = "10.77.0.1" # the address there of who starts jobs,
BRIDGE = "br0"         # and the interface that has it
AGENT = "/run/agent"   # a program that is told a host and a command to run there
FOLDER = "/run/tmp"    # for TMPDIR: on each host, and outside, another one
MOST, MOST_OF_NAME = 16, 12

# What `ip netns exec` starts has mounts of its own, and those of the host hide the launcher's.
# UCX, in MPICH, takes processes with one IPC namespace for one host's, whatever that is called.
# The kernel shares out cores among sessions first, so a host has one of its own.
AGENT_TEXT = """\
#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts --ipc sh -c '
    hostname "$0" && mount --bind /run/tmp-"$0" /run/tmp &&
        mount --bind /run/shm-"$0" /dev/shm && exec setsid --wait sh -c "$*"
' "$host" "$@"
"""

# os.unshare is there from Python 3.12 on.
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 18
PR_SET_PDEATHSIG = 1


def names(num, slots=0):
    """"h0,h1" for two hosts; "h0:4,h1:4" with SLOTS 4, as each launcher wants it."""
    return ",".join(f"h{i}" + (f":{slots}" if slots else "") for i in range(num))


def launch(places):
    """What cohortrun needs to start a job at PLACES."""
    if places.hosts == 1:
        return []
    return ["--hosts", names(places.hosts, places.localities), "--listen", LAUNCHER, "--agent",
            AGENT + " {host}"]


def check(result, what, hints):
    """RESULT is that of a function of the C library, whose failure is that of WHAT. HINTS: by the
    error."""
    error = ctypes.get_errno()
    if result:
        raise Wrong(f"--hosts: {what}: {os.strerror(error)}{hints.get(error, '')}")


def unshare(flags):
    check(LIBC.unshare(flags), "no namespaces of its own", {errno.EPERM: ": this needs root"})


def mount(kind, folder, flags):
    check(LIBC.mount(kind, folder, kind, ctypes.c_ulong(flags), None),
          f"{folder.decode()} can't be mounted", {})


def hide_mounts():
    """They are no longer visible outside."""
    check(LIBC.mount(None, b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None),
          "no mounts of its own", {errno.EINVAL: ": / is no mount point, as in a chroot"})


def ip(text):
    if subprocess.call(["ip", *text.split()], stdout=subprocess.DEVNULL):
        raise Wrong(f"--hosts: it was: ip {text}")


def make_folders():
    for folder in b"/run", b"/dev/shm":
        mount(b"tmpfs", folder, MS_NOSUID | MS_NODEV)
    for folder in "/run/netns", FOLDER:
        os.mkdir(folder, 0o700)
    with open(AGENT, "w", encoding="ascii") as file:
        file.write(AGENT_TEXT)
    os.chmod(AGENT, 0o755)


def make_host(name, number):
    """The congestion control of the system's own choice may pace what is sent: bbr, which some
    virtual machines have, holds back a message by more than a virtual link takes for it, more in
    one run than in another (docs/performance.md, "Beside MPI over several hosts"). Reno is there in
    all kernels, and may be set in a namespace."""
    for text in (f"netns add {name}", f"-n {name} link set lo up",
                 f"link add v-{name} type veth peer name eth0 netns {name}",
                 f"link set v-{name} master {BRIDGE} up",
                 f"-n {name} addr add 10.77.0.{2 + number}/24 dev eth0",
                 f"-n {name} link set eth0 up",
                 f"netns exec {name} sysctl -q -w net.ipv4.tcp_congestion_control=reno"):
        ip(text)
    for kind in "tmp", "shm":
        os.mkdir(f"/run/{kind}-{name}", 0o700)


def make_hosts(some):
    make_folders()
    for text in ("link set lo up", f"link add {BRIDGE} address 02:00:00:00:00:01 type bridge",
                 f"link set {BRIDGE} up", f"addr add {LAUNCHER}/24 dev {BRIDGE}"):
        ip(text)
    for number, name in enumerate(some):
        make_host(name, number)


def enter_namespaces():
    unshare(CLONE_NEWNS | CLONE_NEWNET)
    hide_mounts()
    mount(b"proc", b"/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def forked(function):
    """The pid of a process that FUNCTION tells how to end."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        status = function()
        sys.stdout.flush()
    except Wrong as wrong:
        complain(wrong)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def exit_status(status):
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def run_first(some, function):
    """The first process of its namespace. With it all others end. It outlives neither FUNCTION nor
    the process outside, and collects processes that have lost their parents."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    enter_namespaces()
    make_hosts(some)
    pid = forked(function)
    while True:
        ended, status = os.wait()
        if ended == pid:
            return exit_status(status)


def wait_for(first, signals):
    """Waits for the first process, or for one of SIGNALS. When the first process has ended, so has
    all that it has started."""
    while True:
        number = signal.sigwait(signals)
        if number != signal.SIGCHLD:
            break
        ended, status = os.waitpid(first, os.WNOHANG)
        if ended:
            return exit_status(status)
    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    os.kill(os.getpid(), number)
    return 128 + number


def run(some, function):
    """Makes hosts of these names, and runs FUNCTION in a process that can reach them. Returns the
    status that it returns, or 1 after telling what went wrong. Then the hosts are gone, and so are
    all processes that were started meanwhile and what they have left in /run and /dev/shm: all of
    it belongs to namespaces that end with FUNCTION, or with this process, however it ends."""
    if len(some) > MOST or not all(0 < len(name) <= MOST_OF_NAME for name in some):
        raise Wrong(f"--hosts: not up to {MOST} names of up to {MOST_OF_NAME} bytes: "
                    f"'{','.join(some)}'")
    if not shutil.which("ip"):
        raise Wrong("--hosts needs the program ip, of the package iproute2")
    signal.signal(signal.SIGCHLD, signal.SIG_DFL) # ignored, it would not come
    ending = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    signals = {signal.SIGCHLD,
               *(number for number in ending if signal.getsignal(number) != signal.SIG_IGN)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    unshare(CLONE_NEWPID)

    def first():
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return run_first(some, function)
    return wait_for(forked(first), signals)


def run_command(some, command):
    def function():
        try:
            os.execvp(command[0], command)
        except OSError as error:
            complain(f"{command[0]}: {error.strerror}")
            return 127
    return run(some, function)
