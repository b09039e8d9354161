#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether emptying a map takes instructions as its nodes are: at 10 and 100 times as many.

usage: map_growth.py MAP_EMPTY"""
import sys

import callgrind

NODES = 1000, 10000, 100000
FACTOR = 12 # for ten times as many; the last growth of the buckets may be far or near


def main():
    callgrind.skip_without()
    start = callgrind.count([sys.argv[1], '0'])
    counts = [callgrind.count([sys.argv[1], str(nodes)]) - start for nodes in NODES]
    for nodes, count in zip(NODES, counts):
        print(f'{nodes} nodes: {count / nodes:.0f} instructions each')
    sys.exit(any(more > FACTOR * less for less, more in zip(counts, counts[1:])))


main()
