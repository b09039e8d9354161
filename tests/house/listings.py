#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The listings of the pages in docs/ compile without a warning, and do what the pages show.

A block ```c whose first line is /* NAME.c */ is that file. A block ```console is what is typed
behind "$ ", and below each command what it prints, on stdout and stderr. The blocks of a page are
gone through in their order, in an empty folder of the page's own. Each command has to succeed.

In what is printed
    ...              within a line is any text, and as a line of its own any number of lines;
    4.2 ms, pid 77   times, numbers of processes and addresses may be any others;
    and the lines of a job may be in any order.

In place of an installation stands the build. Hosts a and b are both this one: in place of ssh
stands a program that starts the command here, and cohortrun is told at which address it listens,
since no name server knows them.

usage: listings.py ROOT BUILD C-COMPILER [PAGE...]"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import house

BLOCK = re.compile(r"^```(c|console)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"/\* (\w+\.c) \*/\n")
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.M)
# What is another number in each run.
VARIES = re.compile(r"\d+(?:\\\.\d+)?(?=\\ (?:s|ms|us|ns|MB/s)\b)|(?<=pid\\ )\d+|0x[0-9a-f]+")
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
    first, *words = compiler.split()
    compiler = " ".join([shutil.which(first) or first, *words])  # not the cc that follows
    executable(os.path.join(programs, "cc"), f'#!/bin/sh\nexec {compiler} "$@"\n')
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
            os.killpg(process.pid, signal.SIGKILL)
            house.finish([f"$ {command}\nhas not ended after {LIMIT} s"], 1)


def pattern(line):
    """A regular expression for a line that a page shows."""
    text = VARIES.sub(lambda match: r"[0-9a-fx.]+", re.escape(line))
    return re.compile(text.replace(re.escape("..."), ".*"))


def difference(shown, printed, any_order):
    """What is wrong with the lines PRINTED, or None."""
    left = list(printed)
    for line in shown:
        if line == "...":
            continue
        wanted = pattern(line)
        at = next((i for i, text in enumerate(left) if wanted.fullmatch(text)), None)
        if at is None:
            return f"does not print: {line}"
        if any_order:
            left.pop(at)
        elif at > 0 and "..." not in shown:
            return f"prints what the page does not have: {left[0]}"
        else:
            left = left[at + 1:]
    return f"prints what the page does not have: {left[0]}" if left and "..." not in shown else None


def check_command(command, shown, folder, env):
    printed, status = run(command, folder, env)
    wrong = f"ends with status {status}" if status else None
    wrong = wrong or difference(shown.rstrip().splitlines(), printed.rstrip().splitlines(),
                                "cohortrun" in command)
    return [f"$ {command}\n{wrong}. It has printed:\n{printed}"] if wrong else []


def check_page(text, env):
    """What is wrong with the page, and how many files and commands it has."""
    wrong, num = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, block in BLOCK.findall(text):
            name = FILE.match(block) if kind == "c" else None
            if name:
                num += 1
                with open(os.path.join(folder, name[1]), "w", encoding="utf-8") as file:
                    file.write(block)
            for command, shown in COMMAND.findall(block) if kind == "console" else []:
                num += 1
                wrong += check_command(command, shown, folder, env)
    return wrong, num


def main():
    root, build, compiler, *chosen = sys.argv[1:]
    root, build = os.path.realpath(root), os.path.realpath(build)
    wrong, checked = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        env = environment(root, build, compiler, scratch)
        for path in chosen or house.files(root):
            text = house.read(root, path) if re.match(r"docs/.*\.md$", path) else ""
            if not any(FILE.match(block) for _, block in BLOCK.findall(text)):
                continue
            complaints, num = check_page(text, env)
            wrong += [f"{path}: {complaint}" for complaint in complaints]
            checked += num
    house.finish(wrong, checked)


main()
