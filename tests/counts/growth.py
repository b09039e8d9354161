#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what a communicator of n sites in one locality takes grows like n: its creation and end,
and what else is done with it. Four times the sites may take five times the instructions, but little
more than four times to create. Where each site sends something to each other one, that is so of the
messages.

usage: growth.py MANY_SITES FEW    FEW: sites, compared with four times as many"""
import sys

import callgrind

SITES = int(sys.argv[2]), 4 * int(sys.argv[2])
FACTOR = 5
CREATE_FACTOR = 4.1 # a look through all sites is cheap beside the rest; 4.03 as it is
WHATS = ['calls', 'tree', 'linear', 'agree', 'differ', 'leave', 'wait_long']
OF_ALL_PAIRS = ['pairs'] # with a quarter of the sites, which is memory enough


def grows(what, few, many, sites=SITES, of='site', factor=FACTOR):
    """Prints the numbers of instructions. Returns whether they grow too much."""
    print(f'{what}: {few / sites[0]:.0f} instructions a {of} with {sites[0]}, '
          f'{many / sites[1]:.0f} with {sites[1]}', flush=True)
    return many / few > factor / 4 * sites[1] / sites[0]


def main():
    callgrind.skip_without()

    fewer = SITES[0] // 4, SITES[1] // 4
    cases = [('create', 1), *((what, sites) for what in ['create', *WHATS] for sites in SITES),
             *((what, sites) for what in ['create', *OF_ALL_PAIRS] for sites in fewer)]
    counted = dict(zip(cases, (all_of_it for all_of_it, _ in
                               callgrind.count_cases(sys.argv[1], cases))))

    def count(what, sites):
        return counted[what, sites]

    start = count('create', 1)
    created = [count('create', sites) - start for sites in SITES]
    failed = grows('create and give back', *created, factor=CREATE_FACTOR)
    for what in WHATS:
        counts = [count(what, sites) - start for sites in SITES]
        failed |= grows(what, *(there - base for there, base in zip(counts, created)))
    created = [count('create', sites) for sites in fewer]
    for what in OF_ALL_PAIRS:
        counts = [count(what, sites) - base for sites, base in zip(fewer, created)]
        failed |= grows(what, *counts, [sites * sites for sites in fewer], 'message')
    sys.exit(failed)


main()
