#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what a program does takes instructions as its number of things is.

usage: linear_growth.py PROGRAM NUM...    each NUM is ten times the one before"""
import sys

import callgrind

FACTOR = 12 # for ten times as many; the last growth of a map's buckets may be far or near


def main():
    callgrind.skip_without()
    program, *numbers = sys.argv[1:]
    start = callgrind.count([program, '0'])
    counts = [callgrind.count([program, number]) - start for number in numbers]
    for number, count in zip(numbers, counts):
        print(f'{number}: {count / int(number):.0f} instructions each')
    sys.exit(any(more > FACTOR * less for less, more in zip(counts, counts[1:])))


main()
