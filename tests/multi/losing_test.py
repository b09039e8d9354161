#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that lose one locality after the other, until one is left. Usage: losing_test.py COHORTRUN
MEMBERS [--kills K] [--seed S] [--far] [case...]

Where each of them dies is drawn from a seed, also while the others agree and shrink."""
import os
import re
import sys

import jobs
from jobs import check, check_equal, run


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


MEMBER = os.path.abspath(os.path.join(sys.argv[2], 'losing_member'))
FAR = '--far' in sys.argv
KILLS = option('--kills', 35)
SEED = option('--seed', 1)
NUM = 8 # localities, of which all but one die


def lose(num, seed, *options):
    """The lines of the one that is left."""
    print('seed', seed, flush=True)
    status, out, err = run('-n', num, '--workers', 1, '--keep-going', *options, MEMBER, seed)
    check_equal(status, 0)
    ends = re.findall(r'^cohortrun: locality (\d+) .* was killed by signal 9 \(Killed\); '
                      r'\d+ goe?s? on$', err, re.M)
    dead = sorted(int(n) for n in ends)
    left = re.findall(r'^locality (\d+) is left$', out, re.M)
    check_equal((len(left), sorted(dead + [int(n) for n in left])), (1, list(range(num))))
    return out


def test_kills():
    for seed in range(SEED, SEED + (KILLS + NUM - 2) // (NUM - 1)):
        lose(NUM, seed)


def test_flat():
    """What the dead have had is used again, so that nothing grows."""
    out = lose(12, SEED, '-x', 'MEASURE=1')
    rounds = [[int(n) for n in line] for line in re.findall(
        r'^left \d+: mappings (\d+), descriptors (\d+), shared (\d+)$', out, re.M)]
    check(len(rounds) >= 6, out)
    for mappings, descriptors, shared in rounds[3:]:
        check(mappings <= max(r[0] for r in rounds[:3]) + 8, 'mappings:', out)
        check(descriptors <= max(r[1] for r in rounds[:3]) + 4, 'descriptors:', out)
        check(shared <= max(r[2] for r in rounds[:3]), 'shared memory:', out)


if __name__ == '__main__':
    flags = {'--kills': 1, '--seed': 1, '--far': 0, '--long': 0}
    chosen, args = [], sys.argv[3:]
    while args:
        arg = args.pop(0)
        if arg in flags:
            args = args[flags[arg]:]
        else:
            chosen.append(arg)
    jobs.run_cases(globals(), 'test_', chosen)
