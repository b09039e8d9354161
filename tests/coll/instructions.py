#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is called often takes so many instructions, counted by valgrind: unlike time, that does not
depend on what else runs. The limits are a quarter more than what gcc 12's -O2 takes (-O3 takes
fewer): no accident.

usage: instructions.py PROGRAM ARGUMENT...

Runs the program with the arguments and with a number of calls behind them, once few, once many."""
import os
import re
import shutil
import subprocess
import sys

CALLS = 100, 400
# For a program, what is counted there, the limit, and in how many parts a call is.
LIMITS = {
    'all_reduce_calls': ('an 8-byte all_reduce of 64 sites in one locality, each site', 1900, 64),
    'channel_calls': ('an 8-byte message between two localities that share memory', 3400, 1),
}
SKIPPED = 77


def count(command):
    """The instructions of a whole run."""
    done = subprocess.run(
        ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', *command],
        env=dict(os.environ, COHORT_WORKERS='1'), capture_output=True, text=True, timeout=100)
    collected = re.search(r'Collected : (\d+)', done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f'{command}: status {done.returncode}\n{done.stderr}')
    return int(collected.group(1))


def main():
    if not shutil.which('valgrind'):
        print('skipped: instructions are counted by valgrind, which is not here')
        sys.exit(SKIPPED)
    command = sys.argv[1:]
    what, limit, parts = LIMITS[os.path.basename(command[0])]
    few, many = (count([*command, str(calls)]) for calls in CALLS)  # the difference has no start
    per_call = (many - few) / (CALLS[1] - CALLS[0]) / parts
    print(f'{what}: {per_call:.0f} instructions, at most {limit} wanted')
    sys.exit(per_call > limit)


main()
