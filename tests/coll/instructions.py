#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An 8-byte all_reduce of 64 sites in one locality takes so many instructions at each site, counted
by valgrind: unlike time, that does not depend on what else runs.

usage: instructions.py ALL_REDUCE_CALLS"""
import os
import re
import shutil
import subprocess
import sys

SITES = 64
CALLS = 100, 400
LIMIT = 1900  # a quarter more than the 1510 of gcc 12's -O2 (-O3 takes fewer): no accident
SKIPPED = 77


def count(program, calls):
    """The instructions of a whole run."""
    done = subprocess.run(
        ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', program,
         str(SITES), str(calls)],
        env=dict(os.environ, COHORT_WORKERS='1'), capture_output=True, text=True, timeout=100)
    collected = re.search(r'Collected : (\d+)', done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f'{program} {SITES} {calls}: status {done.returncode}\n{done.stderr}')
    return int(collected.group(1))


def main():
    if not shutil.which('valgrind'):
        print('skipped: instructions are counted by valgrind, which is not here')
        sys.exit(SKIPPED)
    few, many = (count(sys.argv[1], calls) for calls in CALLS)  # the difference has no start
    per_call = (many - few) / (CALLS[1] - CALLS[0]) / SITES
    print(f'{per_call:.0f} instructions for each site and call, at most {LIMIT} wanted')
    sys.exit(per_call > LIMIT)


main()
