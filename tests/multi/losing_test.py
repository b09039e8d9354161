#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that lose one locality after the other, until one is left. Usage: losing_test.py COHORTRUN
MEMBERS [--kills K] [--renewals R] [--seed S] [--far] [case...]

Where each of them dies is drawn from a seed, also while the others agree and shrink."""
import os
import re
import sys
import time

import jobs
from jobs import check, check_equal, run


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


MEMBER = os.path.abspath(os.path.join(sys.argv[2], 'losing_member'))
KILLS = option('--kills', 35)
SEED = option('--seed', 1)
RENEWALS = option('--renewals', 100)
NUM = 8 # localities, of which all but one die


def lose(num, seed, *options):
    """The lines of the one that is left."""
    print('seed', seed, flush=True)
    status, out, err = run('-n', num, '--workers', 1, '--keep-going', *options, MEMBER, seed)
    check_equal(status, 0)
    # Where others have the cores, cohortrun may see a connection close a second before the end.
    ends = re.findall(r'^cohortrun: locality (\d+) .* was killed by signal 9 \(Killed\)'
                      r'(?:, since it has closed its connection to cohortrun)?; '
                      r'\d+ goe?s? on$', err, re.M)
    dead = sorted(int(n) for n in ends)
    left = re.findall(r'^locality (\d+) is left$', out, re.M)
    check_equal((len(left), sorted(dead + [int(n) for n in left])), (1, list(range(num))))
    return out


def test_kills():
    for seed in range(SEED, SEED + (KILLS + NUM - 2) // (NUM - 1)):
        lose(NUM, seed)


def measured(out):
    """Of each round: mappings, descriptors, and KiB that are shared and of its own."""
    return [[int(n) for n in line] for line in re.findall(
        r'^left \d+: mappings (\d+), descriptors (\d+), shared (\d+), own (\d+)$', out, re.M)]


def renew(num, seed, rounds, deaths):
    """A communicator is revoked and made anew, again and again. Returns the looks of site 0."""
    start = time.monotonic()
    status, out, err = run('-n', num, '--workers', 1, '--keep-going', '--timeout', max(60, rounds),
                           '-x', 'MEASURE=1', MEMBER, seed, rounds, 10 * deaths)
    check_equal((status, len(re.findall('was killed by signal 9', err))), (0, deaths))
    check_equal(len(re.findall(r'^locality \d+ is left$', out, re.M)), num - deaths)
    print('   %d rounds with %d deaths in %.1f s' % (rounds, deaths, time.monotonic() - start))
    looks = measured(out)
    check(rounds - 10 <= len(looks) <= rounds, looks) # site 0 may die, and another one go on
    return looks


def test_renew():
    """As ULFM's tests do it: revoke and shrink a hundred times. Nothing grows, whether some die or
    not. Pages of shared memory come and go."""
    for deaths in (0, 2):
        looks = renew(4, SEED, RENEWALS, deaths)
        quarter = len(looks) // 4
        for what, name, room in ((0, 'mappings', 8), (1, 'descriptors', 4), (2, 'KiB shared', 512),
                                 (3, 'KiB of its own', 512)):
            early = max(look[what] for look in looks[quarter:2 * quarter])
            late = max(look[what] for look in looks[3 * quarter:])
            print('   %d and %d %s' % (early, late, name))
            check(late <= early + room, 'grown:', deaths, name, early, late)


def test_flat():
    """What the dead have had is used again, so that nothing grows. Pages of shared memory come and
    go: 600 to 740 KiB in the first rounds, and 2 of 16 times the fourth had the most."""
    out = lose(12, SEED, '-x', 'MEASURE=1')
    rounds = measured(out)
    check(len(rounds) >= 6, out)
    for mappings, descriptors, shared, _ in rounds[3:]:
        check(mappings <= max(r[0] for r in rounds[:3]) + 8, 'mappings:', out)
        check(descriptors <= max(r[1] for r in rounds[:3]) + 4, 'descriptors:', out)
        check(shared <= max(r[2] for r in rounds[:3]) + 64, 'shared memory:', out)


if __name__ == '__main__':
    flags = {'--kills': 1, '--renewals': 1, '--seed': 1, '--far': 0, '--long': 0}
    chosen, args = [], sys.argv[3:]
    while args:
        arg = args.pop(0)
        if arg in flags:
            args = args[flags[arg]:]
        else:
            chosen.append(arg)
    jobs.run_cases(globals(), 'test_', chosen)
