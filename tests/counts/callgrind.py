# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of a program with one worker, by valgrind. Unlike time, that does not
depend on other processes."""
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77


def skip_without():
    if not shutil.which('valgrind'):
        print('skipped: instructions are counted by valgrind, which is not here')
        sys.exit(SKIPPED)


def run(command):
    """The number of instructions, and how many of these are locked, of each process that COMMAND
    is, in the order in which they end. Without what `meson test` asks of malloc: to fill memory
    that was given back."""
    done = subprocess.run(
        ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', '--collect-bus=yes',
         *command],
        env=dict(os.environ, COHORT_WORKERS='1', MALLOC_PERTURB_='0'), capture_output=True,
        text=True)  # meson bounds its time: it knows the sizes, and how slow the machine is
    collected = re.findall(r'Collected : (\d+) (\d+)', done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f'{command}: status {done.returncode}\n{done.stderr}')
    return [(int(all_of_them), int(locked)) for all_of_them, locked in collected]


def count(command):
    """The number of instructions of a whole run."""
    return run(command)[-1][0]


def count_cases(program, cases):
    """The same, and how many are locked, of each of CASES, a name and a number, of a program of
    cases.h: from where its process begins."""
    words = [str(word) for case in cases for word in case]
    counts = run([program, *words])[:-1]
    if len(counts) != len(cases):
        sys.exit(f'{program}: {len(counts)} counts of {len(cases)} cases')
    return counts
