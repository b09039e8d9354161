#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of C++ belong to their task, and end the program where they leave it. INTEGRALS is the
example in C++20, if the compiler has that. Both may have the address sanitizer, beside a library
without it.

usage: exceptions_test.py COHORTRUN MEMBER [INTEGRALS]"""
import os
import re
import signal
import sys

import jobs
from jobs import check, check_equal, run

MEMBER, *INTEGRALS = (os.path.abspath(path) for path in sys.argv[2:])
# jobs.py preloads a library.
os.environ['ASAN_OPTIONS'] += ':detect_stack_use_after_return=1:verify_asan_link_order=0'


def test_each_its_own():
    for workers in 1, 3:
        for move in 'pinned', 'movable':
            status, out, err = run('-n', 1, '-x', 'COHORT_WORKERS=%d' % workers,
                                   '-x', 'COHORT_TASKS=' + move, MEMBER, 'each-its-own')
            check_equal((status, out), (0, 'each its own\n'))
            check('WARNING' not in err, err)  # of the sanitizer: a switch that it has not seen


def leave(case, who):
    """std::terminate is called before anything is unwound, so what() is said."""
    status, out, err = run('-n', 1, '-x', 'COHORT_WORKERS=1', MEMBER, case)
    check_equal((status, out), (128 + signal.SIGABRT, ''))
    check(re.search('^cohort: an exception has left ' + who + '$', err, re.M), err)
    check('nobody catches this' in err, err)


def test_leaves_a_task():
    for case in 'in-place', 'on-its-stack', 'on-sized', 'program':
        leave(case, r'the task \w+ \(/\S*/%s\)' % os.path.basename(MEMBER))


def test_leaves_another_function():
    """Of libuv's callbacks, too, with libuv in between, and at the end of a thread."""
    for case, name in (('blocking', 'throws'), ('callback', 'throws_back'),
                       ('on-loop', 'throws_on_loop'), ('timer', 'throws_in_time'),
                       ('close', 'throws_at_close'), ('operation', 'throws_in_operation'),
                       ('thread-end', 'throws_at_end')):
        leave(case, r'\w*%s\w* \(/\S*/%s\), which is called outside of tasks'
              % (name, os.path.basename(MEMBER)))


def test_example():
    """Each half that throws is waited for by the other one."""
    for program in INTEGRALS:
        for workers in 1, 2:
            status, out, err = run('-n', 1, '-x', 'COHORT_WORKERS=%d' % workers, program)
            check_equal((status, err), (0, ''))
            check_equal(out.splitlines(), ['sin x from 0 to 3.14159: 2.000000000',
                                           'sqrt x from 0 to 1: 0.666666667',
                                           '1/x from 1 to 2.71828: 1.000000000',
                                           '1/x from -1 to 1: a pole'])


jobs.run_cases(globals(), 'test_', [])
