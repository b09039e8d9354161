#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The listings of the pages in docs/ compile without a warning, and do what the pages show.

What a page shows is in shown.py. The blocks of a page are gone through in their order, in an empty
folder of the page's own.

In place of an installation stands the build. Hosts a and b are both this one: in place of ssh
stands a program that starts the command here, and cohortrun is told at which address it listens,
since no name server knows them.

usage: listings.py ROOT BUILD C-COMPILER [PAGE...]"""
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import house
import shown

LIMIT = 120

PACKAGE = """Name: cohort
Description: the build, in place of an installation
Version: 0
Cflags: -I{root}/include
Libs: -L{build} -lcohort
"""
# cohortrun's words for ssh are: -o BatchMode=yes HOST COMMAND. COHORT_TEST_HOST as in tests/multi.
SSH = """#!/bin/sh
shift 2
export COHORT_TEST_HOST="$1"
shift
exec sh -c "$*"
"""
COHORTRUN = """#!/bin/sh
[ "$1" != --hosts ] || set -- --listen 127.0.0.1 "$@"
exec {build}/tools/cohortrun "$@"
"""


def executable(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def environment(root, build, compiler, scratch):
    """With a compiler, pkg-config's file, cohortrun and ssh, and nothing of the user's own."""
    programs = os.path.join(scratch, "bin")
    os.mkdir(programs)
    # With the old PATH: ccache, in front of a compiler, would find this cc again.
    path = shlex.quote(os.environ["PATH"])
    executable(os.path.join(programs, "cc"), f'#!/bin/sh\nPATH={path} exec {compiler} "$@"\n')
    executable(os.path.join(programs, "ssh"), SSH)
    executable(os.path.join(programs, "cohortrun"), COHORTRUN.format(build=build))
    with open(os.path.join(scratch, "cohort.pc"), "w", encoding="utf-8") as file:
        file.write(PACKAGE.format(root=root, build=build))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COHORT_")}
    return {**kept, "PATH": f"{programs}:{build}/tools:{os.environ['PATH']}",
            "PKG_CONFIG_PATH": scratch, "LD_LIBRARY_PATH": build, "XDG_CONFIG_HOME": scratch,
            "HWLOC_HIDE_ERRORS": "2", "LC_ALL": "C"}


def run(command, folder, env):
    """What COMMAND prints, and its status."""
    with subprocess.Popen(["bash", "-c", command], cwd=folder, env=env, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            return process.communicate(timeout=LIMIT)[0], process.returncode
        except subprocess.TimeoutExpired:
            house.finish([f"$ {command}\nhas not ended after {LIMIT} s"], 1)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # nothing that was started goes on
    root, build, compiler, *chosen = sys.argv[1:]
    root, build = os.path.realpath(root), os.path.realpath(build)
    wrong, checked = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        env = environment(root, build, compiler, scratch)
        for path in chosen or house.files(root):
            text = house.read(root, path) if re.match(r"docs/.*\.md$", path) else ""
            if not shown.has_files(text):
                continue
            with tempfile.TemporaryDirectory() as folder:
                complaints, num = shown.check_page(
                    text, folder, lambda command, at=folder: run(command, at, env))
            wrong += [f"{path}: {complaint}" for complaint in complaints]
            checked += num
    house.finish(wrong, checked)


main()
