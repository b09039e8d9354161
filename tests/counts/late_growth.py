#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what a site does ahead of a late one takes instructions as its calls, or their blocks,
are. What is kept in order may take a logarithm more.

usage: late_growth.py LATE_SITE NUM...    each NUM is ten times the one before"""
import sys

import callgrind

FACTOR = 13 # for ten times as many
WHATS = ['exchange', 'strides', 'left_out', 'deadlines', 'scoped', 'cancelled', 'agree']


def grows(program, what, numbers):
    """Prints the numbers of instructions. Returns whether they grow too much."""
    start = callgrind.count([program, what, '1'])
    counts = [callgrind.count([program, what, str(number)]) - start for number in numbers]
    for number, count in zip(numbers, counts):
        print(f'{what} {number}: {count / number:.0f} instructions each', flush=True)
    return any(more > FACTOR * less for less, more in zip(counts, counts[1:]))


def main():
    callgrind.skip_without()
    numbers = [int(number) for number in sys.argv[2:]]
    sys.exit(any([grows(sys.argv[1], what, numbers) for what in WHATS]))


main()
