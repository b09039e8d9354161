#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Remote tasks in real jobs. Usage: remote_test.py COHORTRUN MEMBER [--far] [case...]; --far: on
two hosts."""
import os
import re
import sys

import jobs
from jobs import check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]


def lines_of(num, mode, *launcher):
    status, out, err = run('-n', num, *launcher, MEMBER, mode)
    check_equal((status, err), (0, ''))
    return out.splitlines()


def test_each():
    for num in (1, 2, 4):
        check_equal(lines_of(num, 'each'), ['called'])


def test_all():
    for num in (2, 3, 5):
        lines = lines_of(num, 'all')
        check_equal(lines, ['everywhere: COHORT_OK'] * num + [
            'refuse: COHORT_OK' if num == 2 else 'refuse: COHORT_ERR_NOT_SUPPORTED: '
            'remote task "refuse" at locality 2: not in 2',
            'unknown: COHORT_ERR_BAD_PARAMETER: remote task "unknown" at locality 1: '
            'no function of that name is registered there',
            'far away: COHORT_ERR_BAD_PARAMETER: cohort_async_at: remote task "where" at locality '
            '%d: there is no such locality: there are %d' % (num, num)])


def test_many():
    check_equal(lines_of(3, 'many'), ['many: COHORT_OK'])
    check_equal(lines_of(2, 'many', '--workers', 3), ['many: COHORT_OK'])


def test_leave():
    """The job does not end before tasks that remote tasks have left are over, one behind the
    other."""
    check_equal(sorted(lines_of(4, 'leave')), ['late 1', 'late 2', 'late 3'])


def test_state():
    """Before the start and after the end."""
    want = ['COHORT_ERR_STATE: cohort_async_at: the runtime is not up']
    lines = lines_of(2, 'state')
    check_equal(sorted(lines), ['after: ' + want[0]] * 2 + ['before: ' + want[0]] * 2)


def test_die():
    """The caller is told who died, and the launcher too."""
    status, out, err = run('-n', 3, MEMBER, 'die')
    check(status != 0, status)
    check(re.search(r'^die: COHORT_ERR_PEER_DIED: remote task "die" at locality 1: '
                    r'locality 1 .*was killed by signal 9', out), out, err)


def test_scope():
    """The await of a scope returns when the whole tree of tasks is over, wherever they are."""
    for num in (2, 3, 4):
        check_equal(lines_of(num, 'scope'), ['scope: COHORT_OK', 'count: COHORT_OK', 'grown: 511'])


def test_scope_dies():
    status, out, err = run('-n', 3, MEMBER, 'scope_dies')
    check(status != 0, status)
    check(re.search(r'^scope: COHORT_ERR_PEER_DIED: .*locality 1 .*was killed by signal 9', out),
          out, err)


jobs.run_cases(globals(), 'test_', CHOSEN)
