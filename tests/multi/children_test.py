#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that tasks start have nothing of the runtime: the program's mask of signals, and none of
the runtime's descriptors.

usage: children_test.py COHORTRUN MEMBER [case...]"""
import os
import signal
import sys

import jobs
from jobs import check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
CHOSEN = sys.argv[3:]
WAYS = 'posix_spawn', 'fork', 'vfork', 'system'


def start_programs(num_localities, how, **settings):
    """The program has blocked SIGUSR1."""
    options = [part for setting in settings.items() for part in ('-x', '%s=%s' % setting)]
    status, out, err = run('-n', num_localities, '-x', 'COHORT_WORKERS=2', *options, MEMBER, how)
    check_equal((status, err), (0, ''))
    wanted = ['%s %s: %d' % (place, way, signal.SIGUSR1)
              for place in ('task', 'task', 'blocking', 'loop') for way in WAYS]
    check_equal(sorted(out.splitlines()), sorted(num_localities * wanted))


def test_signals():
    for how in 'cohort_main', 'cohort_start':
        for progress in 'workers', 'thread':
            start_programs(1, how, COHORT_PROGRESS=progress)


def test_descriptors():
    start_programs(3, 'cohort_main', COHORT_NET='shm')


def test_descriptors_of_libfabric():
    """What two kinds of providers open."""
    for provider in '', 'tcp;ofi_rxm':
        start_programs(3, 'cohort_main', COHORT_NET='ofi', COHORT_OFI_PROVIDER=provider)


jobs.run_cases(globals(), 'test_', CHOSEN)
