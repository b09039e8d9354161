#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that localities read and write by themselves, in real jobs. Usage: memory_test.py
COHORTRUN MEMBER [--far] [case...]; --far: on two hosts."""
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


def test_use():
    for num in (1, 2, 4):
        check_equal(lines_of(num, 'use'), ['used'])
    check_equal(lines_of(3, 'use', '--workers', 3), ['used'])


def test_given_back():
    for num in (1, 2, 4):
        lines = lines_of(num, 'given_back')
        check_equal(len(lines), 4)
        for name, line in zip(('get', 'put', 'add'), lines):
            check(re.fullmatch(r'%s: COHORT_ERR_GONE: .*cohort_memory_%s.* locality %d: '
                               r'the memory was given back' % (name, name, num - 1), line), line)
        check_equal(lines[3], 'behind: COHORT_ERR_BAD_PARAMETER: cohort_memory_add: 8 bytes at '
                    '4096 of 4096 bytes of locality %d: it has no such bytes' % (num - 1))


def test_lose():
    """The owner is killed: each of the others is told, also where its memory is still there."""
    status, out, err = run('-n', 3, MEMBER, 'lose')
    check(status != 0, status)
    for what in 'lost', 'again':
        check(re.search(r'^%s: COHORT_ERR_PEER_DIED: .*cohort_memory_.* locality 1: '
                        r'locality 1 .*was killed by signal 9' % what, out, re.M), out, err)


def test_lose_and_go_on():
    status, out, err = run('-n', 4, '--keep-going', MEMBER, 'lose')
    for what in 'lost', 'again':
        check_equal(len(re.findall(r'^%s: COHORT_ERR_PEER_DIED: ' % what, out, re.M)), 3)


def test_child():
    """A forked child is no locality."""
    lines = lines_of(2, 'child')
    for function in 'share', 'get':
        check_equal(len([line for line in lines if re.match(
            '%s: COHORT_ERR_STATE: cohort_memory_%s: ' % (function, function), line)]), 2)


def test_state():
    """Before the start and after the end."""
    check_equal(sorted(lines_of(2, 'state')), sorted(
        2 * ['%s: COHORT_ERR_STATE: cohort_memory_%s: the runtime is not up' % (when, function)
             for when in ('after', 'before') for function in ('add', 'share')]))


def test_limited():
    """Where the size of address space is limited there is ordinary memory, also within a host."""
    check_equal(lines_of(2, 'limited'), ['used'])


jobs.run_cases(globals(), 'test_', CHOSEN)
