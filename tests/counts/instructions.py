#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions frequent calls take. The limits are some per cent more than the most of
several runs with gcc 12's -O2 (-O3 takes fewer). Runs differ by how often an idle worker polls.

usage: instructions.py PROGRAM ARGUMENT...

Runs the program twice, with the arguments followed by a number of calls: few, and many."""
import os
import sys

import callgrind

CALLS = 100, 400
# For each program: what is counted there, the limit, and into how many parts a call is divided.
LIMITS = {
    'all_reduce_calls': ('an 8-byte all_reduce of 64 sites in one locality, each site', 2300, 64),
    'channel_calls': ('an 8-byte message between two localities that share memory', 4000, 1),
}


def main():
    callgrind.skip_without()
    command = sys.argv[1:]
    what, limit, parts = LIMITS[os.path.basename(command[0])]
    # The start cancels out.
    few, many = (callgrind.count([*command, str(calls)]) for calls in CALLS)
    per_call = (many - few) / (CALLS[1] - CALLS[0]) / parts
    print(f'{what}: {per_call:.0f} instructions, at most {limit} wanted')
    sys.exit(per_call > limit)


main()
