#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what a communicator of n sites in one locality takes grows like n: its creation and end,
and what else is done with it. Four times the sites may take five times the instructions.

usage: growth.py MANY_SITES FEW    FEW: sites, compared with four times as many"""
import sys

import callgrind

SITES = int(sys.argv[2]), 4 * int(sys.argv[2])
FACTOR = 5
WHATS = ['calls', 'tree', 'linear', 'agree', 'differ', 'leave']


def grows(what, few, many):
    """Prints the numbers of instructions. Returns whether they grow too much."""
    print(f'{what}: {few / SITES[0]:.0f} instructions a site with {SITES[0]} sites, '
          f'{many / SITES[1]:.0f} with {SITES[1]}')
    return many > FACTOR * few


def main():
    callgrind.skip_without()

    def count(what, sites):
        return callgrind.count([sys.argv[1], what, str(sites)])

    start = count('create', 1)
    created = [count('create', sites) - start for sites in SITES]
    failed = grows('create and give back', *created)
    for what in WHATS:
        counts = [count(what, sites) - start for sites in SITES]
        failed |= grows(what, *(there - base for there, base in zip(counts, created)))
    sys.exit(failed)


main()
