#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Localities with a progress thread. Usage: progress_test.py COHORTRUN MEMBERS [--slow] [--far]
[--measure] [case...], with the folder of the member programs. Most jobs would never end without
the thread, see progress_member.c. --measure: prints how long locality 1 waits for locality 0, which
computes for 10 ms at a time, without and with the thread."""
import os
import re
import sys

import jobs
from jobs import check_equal, run

PROGRESS = os.path.join(sys.argv[2], 'progress_member')
COLL = os.path.join(sys.argv[2], 'coll_member')
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
SLOW = '--slow' in sys.argv # under a sanitizer
LARGE = 1 << 14 if SLOW else 1 << 17 # elements of 8 bytes
THREAD = ('-x', 'COHORT_PROGRESS=thread')


def computing(num_localities, collective, count=1, *algorithms, workers=1, launcher=()):
    status, out, err = run('-n', num_localities, '--workers', workers, *THREAD, *launcher, PROGRESS,
                           collective, count, *algorithms)
    check_equal((status, err), (0, ''))
    check_equal(sorted(out.splitlines()),
                ['locality %d is done' % i for i in range(num_localities)])


def test_short():
    for collective in ('broadcast', 'all_reduce', 'all_to_all', 'scan', 'barrier', 'split'):
        for workers in (1, 2):
            computing(2, collective, workers=workers)
    computing(3, 'all_reduce', workers=2)


def test_one_locality():
    computing(1, 'all_reduce', workers=3)


def test_large():
    """Copies and reductions that take long are for workers, and for the thread if none is idle."""
    for collective in ('broadcast', 'all_reduce', 'all_to_all'):
        computing(2, collective, LARGE)
        computing(3, collective, LARGE, workers=2)


def test_rows():
    """Rows in which locality 0 leads, or passes on what others bring."""
    for row in ('linear', 'ring', 'hierarchical', 'levels'):
        computing(3, 'all_reduce', 1000, 'all_reduce=' + row, workers=2)
    for row in ('linear', 'levels'):
        computing(3, 'broadcast', LARGE, 'broadcast=' + row, workers=2)


def test_levels():
    """Rows that follow the machine, on two hosts of two localities, which are played within one
    host or (--far) are the ones that the launcher has. Blocks of 1 MiB go in segments."""
    two_hosts = ('-x', 'COHORT_TOPOLOGY=2x1x2')
    for collective, row, count in (('all_reduce', 'levels', 1), ('all_reduce', 'levels', LARGE),
                                   ('all_reduce', 'shares', LARGE), ('broadcast', 'shares', LARGE),
                                   ('all_to_all', 'levels', 3000)):
        computing(4, collective, count, collective + '=' + row, workers=2, launcher=two_hosts)


def test_users_operation():
    for count in (1, 10000):
        for workers in (1, 2):
            computing(2, 'users', count, workers=workers)
            computing(2, 'users', count, 'all_reduce=linear', workers=workers)


def test_all_kinds():
    """What always runs, with the thread. Each job checks its own results."""
    for workers in (1, 2, 4):
        status, out, err = run('-n', 3, '--workers', workers, *THREAD, COLL, 'run', '--sites', 9,
                               '--kind', 'any', '--count', 500, '--generations',
                               20 if SLOW else 100, '--in-flight', 8)
        check_equal((status, err), (0, ''))
        check_equal(out.count('has done it, 3 sites'), 3)


def waits(net, rounds, settings, *call):
    _, out, _ = run('-n', 2, '--workers', 1, '-x', 'COHORT_NET=' + net, *settings, PROGRESS, *call,
                    rounds)
    return re.search(r'has waited (\S+) (\S+)', out).groups()


def measure():
    """Medians of the medians and of the longest of 3 jobs, in turns. All threads but the worker
    that computes share the last core."""
    os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    print('| a call | over | workers | thread |\n| --- | --- | --- | --- |')
    for net in ('shm', 'ofi'):
        for call in (('all_reduce', 1, ''), ('all_reduce', 1, 'all_reduce=linear'),
                     ('broadcast', 1 << 13, 'broadcast=linear'),
                     ('all_reduce', 1 << 17, 'all_reduce=linear')):
            found = [[waits(net, 60, settings, *call) for settings in ((), THREAD)]
                     for _ in range(3)]
            cells = ['%.1f, %.1f' % tuple(sorted(float(turn[mode][i]) for turn in found)[1]
                                          for i in range(2)) for mode in range(2)]
            print('| %s of %d B, %s | %s | %s |' % (call[0], 8 * call[1], call[2], net,
                                                  ' | '.join(cells)), flush=True)


if '--measure' in sys.argv:
    measure()
    sys.exit()
jobs.run_cases(globals(), 'test_', CHOSEN)
