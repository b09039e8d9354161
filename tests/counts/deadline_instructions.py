#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions a deadline adds to a call: an 8-byte all_reduce of two sites of a locality,
for each of them, with and without one that never comes. A call without a deadline has the limit of
instructions.py.

usage: deadline_instructions.py ALL_REDUCE_CALLS"""
import sys

import callgrind

CALLS = 1000, 11000
SITES = 2
RUNS = 5
LIMIT = 250 # 235


def per_call(*arguments):
    """Polls come by the clock, so the least of some runs counts. The start cancels out."""
    least = [min(callgrind.count([sys.argv[1], str(SITES), *arguments, str(calls)])
                 for _ in range(2)) for calls in CALLS]
    return (least[1] - least[0]) / (CALLS[1] - CALLS[0]) / SITES


def main():
    callgrind.skip_without()
    for _ in range(RUNS):
        without, with_one = per_call(), per_call('deadline')
        print(f'an all_reduce of two sites, each: {without:.0f} instructions, {with_one:.0f} with '
              f'a deadline: {with_one - without:.0f} more, at most {LIMIT} wanted')
        if with_one - without <= LIMIT:
            sys.exit()
    sys.exit(1)


main()
