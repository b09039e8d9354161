#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what a site does ahead of a late one takes instructions as its calls, or their blocks,
are. What is kept in order may take a logarithm more.

usage: late_growth.py LATE_SITE NUM...    each NUM is ten times the one before"""
import sys

import callgrind

FACTOR = 13 # for ten times as many
WHATS = ['exchange', 'strides', 'left_out', 'deadlines', 'scoped', 'cancelled', 'agree']


def grows(what, numbers, start, *counts):
    """Prints the numbers of instructions. Returns whether they grow too much."""
    counts = [count - start for count in counts]
    for number, count in zip(numbers, counts):
        print(f'{what} {number}: {count / number:.0f} instructions each', flush=True)
    return any(more > FACTOR * less for less, more in zip(counts, counts[1:]))


def main():
    callgrind.skip_without()
    numbers = [int(number) for number in sys.argv[2:]]
    counts = [all_of_it for all_of_it, _ in callgrind.count_cases(
        sys.argv[1], [(what, number) for what in WHATS for number in [1, *numbers]])]
    each = 1 + len(numbers)
    sys.exit(any([grows(what, numbers, *counts[i * each:(i + 1) * each])
                  for i, what in enumerate(WHATS)]))


main()
