#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what a site does ahead of a late one takes instructions as its calls, or their blocks,
are: at 10 times as many, and 10 times that. What is in order may take a logarithm more.

usage: late_growth.py LATE_SITE FEW WHAT..."""
import sys

import callgrind

FACTOR = 13 # for ten times as many


def grows(program, what, numbers):
    """Prints the numbers of instructions. Returns whether they grow too much."""
    start = callgrind.count([program, what, '1'])
    counts = [callgrind.count([program, what, str(number)]) - start for number in numbers]
    for number, count in zip(numbers, counts):
        print(f'{what} {number}: {count / number:.0f} instructions each', flush=True)
    return any(more > FACTOR * less for less, more in zip(counts, counts[1:]))


def main():
    callgrind.skip_without()
    program, few, *whats = sys.argv[1:]
    numbers = [int(few), 10 * int(few), 100 * int(few)]
    sys.exit(any([grows(program, what, numbers) for what in whats]))


main()
