#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A locality forks. Usage: fork_test.py COHORTRUN MEMBER [--far] [case...]"""
import os
import re
import sys

import jobs
from jobs import check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]

# What the child tries. It also awaits a promise of its own.
REFUSED = ['cohort_async', 'cohort_then', 'cohort_sleep', 'cohort_await', 'cohort_all_reduce',
           'cohort_barrier', 'cohort_channel_set', 'cohort_channel_get',
           'cohort_channel_get_object', 'cohort_comm_idle', 'cohort_comm_roll_call',
           'cohort_comm_create']


def check_fork(num, who, expected_status=0):
    """The child is told what it can't do, and ends when it returns. No other process is
    affected."""
    status, out, err = run('-n', num, '--workers', 2, MEMBER, who)
    check_equal((status, err), (0, ''))
    says = re.findall('^child: (.*)$', out, re.M)
    wanted = ['%s: in a process that was forked, which has no runtime' % name for name in REFUSED]
    check_equal(sorted(says), sorted(num * wanted))
    check_equal(out.count('the child\'s status is %d\n' % expected_status), num)
    check_equal(out.count('done\n'), num)


def test_program():
    for num in (1, 3):
        check_fork(num, 'program')


def test_task():
    for num in (1, 3):
        check_fork(num, 'task')
        check_fork(num, 'failing_task', 1)


def test_operation():
    """With one locality, an operation is never called. With two, each of them calls it once."""
    check_fork(2, 'operation')


def test_thread():
    for num in (1, 3):
        check_fork(num, 'thread')


if __name__ == '__main__':
    jobs.run_cases(globals(), 'test_', CHOSEN)
