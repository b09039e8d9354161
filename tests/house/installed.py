# SPDX-License-Identifier: Apache-2.0
"""What tests of an installation share: `meson install` into an empty folder, and its removal."""
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile

import house


def output(*command, **options):
    """What COMMAND prints. It has to succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode:
        house.finish([f"{' '.join(command)}: status {done.returncode}\n{done.stdout}"], 1)
    return done.stdout.strip()


def files(folder):
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]


@contextlib.contextmanager
def installed(build, meson):
    """The folder that BUILD is installed in. Afterwards it is uninstalled, and nothing may remain.

    meson keeps one list of what it has installed last. The one of a user's own installation is put
    back, and only one of these tests installs at a time."""
    log = os.path.join(build, "meson-logs", "install-log.txt")
    with tempfile.TemporaryDirectory() as scratch, \
            open(os.path.join(build, "meson-private", "install-test.lock"), "w",
                 encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = os.path.join(scratch, "kept-log")
        if os.path.exists(log):
            shutil.copy2(log, kept)
        try:
            root = os.path.join(scratch, "root")
            output(*meson.split(), "install", "--no-rebuild", "-C", build, "--destdir", root)
            yield root
            # What `ninja uninstall` runs.
            output(*meson.split(), "--internal", "uninstall", cwd=build)
            if files(root):
                house.finish([f"uninstall leaves {', '.join(files(root))}"], 1)
        finally:
            if os.path.exists(kept):
                shutil.copy2(kept, log)
            elif os.path.exists(log):
                os.remove(log)


def one_file(root, name):
    """The only file of that NAME below ROOT."""
    found = [path for path in files(root) if os.path.basename(path) == name]
    if len(found) != 1:
        house.finish([f"{len(found)} {name} installed"], 1)
    return found[0]


def run_hello(program, libraries):
    """PROGRAM is examples/hello.c, which finds shared libraries in LIBRARIES."""
    said = output(program, env={**os.environ, "LD_LIBRARY_PATH": libraries}, timeout=60)
    if said.count(": the sum is 3") != 2:
        house.finish([f"{program} says:\n{said}"], 1)


def run_large_frame(program, libraries):
    """PROGRAM is large_frame.c: its frame must meet the guard of the stack. Another worker could
    run both tasks on its thread's own stack, which has room for the frame."""
    done = subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": libraries,
                                          "COHORT_WORKERS": "1"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    if done.returncode != -signal.SIGSEGV or "grown beyond its stack of 262144" not in done.stdout:
        house.finish([f"{program}: status {done.returncode}, it says:\n{done.stdout}"], 1)


def check_linked(program, is_shared):
    needed = output("readelf", "--dynamic", program)
    if ("[libcohort.so.0]" in needed) != is_shared:
        house.finish([f"the libraries of {program}:\n{needed}"], 1)
