#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions frequent calls take. The limits are some per cent more than the most of
several runs with gcc 12's -O2 (-O3 takes fewer). Polls of the loop come by the clock, so a run on
a busy machine has more of them: the least of up to five runs counts.

usage: instructions.py PROGRAM ARGUMENT...

Runs the program twice, with the arguments followed by a number of calls: few, and many."""
import os
import sys

import callgrind

RUNS = 5
# For each program and its arguments: what is counted there, the limit, into how many parts a call
# is divided, and how many calls the shorter and the longer run have. Ticks and polls come by the
# clock, and so do messages that meet or miss each other when communicators are made: 20,000
# instructions a run. A message of a channel is in four lists and a map, by which it is found and
# taken back, however many there are.
LIMITS = {
    'all_reduce_calls 1': ('an 8-byte all_reduce of a single site', 480, 1, (1000, 11000)),
    'all_reduce_calls 64': ('an 8-byte all_reduce of 64 sites in one locality, each site', 2000, 64,
                            (100, 400)),
    'all_reduce_two': ('an 8-byte all_reduce of two localities that share memory, each site', 3660,
                       2, (100, 1600)),
    'channel_calls': ('an 8-byte message between two localities that share memory', 4440, 1,
                      (100, 1600)),
    'one_sided_calls': ('8 bytes got, put or added in the memory of another locality of the host',
                        490, 3, (100, 5100)),
}


def main():
    callgrind.skip_without()
    command = sys.argv[1:]
    what, limit, parts, num_calls = LIMITS[' '.join([os.path.basename(command[0]), *command[1:]])]
    least = [float('inf')] * len(num_calls)
    for _ in range(RUNS):
        least = [min(so_far, callgrind.count([*command, str(calls)]))
                 for so_far, calls in zip(least, num_calls)]
        # The start cancels out.
        per_call = (least[1] - least[0]) / (num_calls[1] - num_calls[0]) / parts
        print(f'{what}: {per_call:.0f} instructions, at most {limit} wanted')
        if per_call <= limit:
            break
    sys.exit(per_call > limit)


main()
