#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A task that grows beyond its stack, with each kind of guard, and one that crashes otherwise.

usage: stack_test.py COHORTRUN MEMBER [case...]"""
import os
import re
import signal
import sys

import jobs
from jobs import check, check_equal, far_hosts, run

MEMBER = os.path.abspath(sys.argv[2])
CHOSEN = sys.argv[3:]


def overflow(guard):
    """The number of mappings that are guards, and whether the task has come back from beyond."""
    # On another worker the task would run on the thread's own stack.
    status, out, err = run('-n', 1, '-x', 'COHORT_STACK_GUARD=' + guard, '-x', 'COHORT_WORKERS=1',
                           MEMBER)
    check_equal(status, 128 + signal.SIGSEGV)
    line = (r'^cohort: the task \w+ \(/\S*/stack_member\) has grown beyond its stack of '
            r'262144 bytes \(COHORT_STACK\)$')
    check(re.search(line, err, re.M), err)
    return int(re.search(r'^guards: (\d+)$', out, re.M)[1]), 'back' in out


def test_each_kind():
    """Pages catch the task; bytes tell of it later. The lowest stack has a page, unless the kernel
    has guards that are no mappings."""
    kernel, page, canary = (overflow(guard) for guard in ('kernel', 'page', 'canary'))
    check_equal((kernel[1], page[1], canary[1]), (False, False, True))
    check(page[0] > canary[0] and kernel[0] in (page[0], canary[0] - 1), kernel, page, canary)


def test_default():
    check_equal(overflow(''), overflow('kernel'))


def test_crash():
    """A signal that a task has caused is explained: by the locality itself, which also says who
    has called the place, by cohortrun, and in the errors of the others. On another host, too."""
    for hosts in (), far_hosts(2):
        check_crash(*run('-n', 2, *hosts, MEMBER, 'crash'))


def check_crash(status, _, err):
    check_equal(status, 128 + signal.SIGSEGV)
    why = (r'SIGSEGV \(no memory at 0x100\) in touch(\+0x\w+)? \(/\S*/stack_member(\+0x\w+)?\), '
           r'in the task crash_task \(/\S*/stack_member\), worker \d+ of locality 1')
    check(re.search('^cohort: ' + why + r'\ncohort: +called from crash_task\+0x\w+ \(/', err, re.M),
          err)
    check(re.search(r'^cohortrun: locality 1 \(pid \d+\)( on host b)? was killed by signal 11 '
                    r'\(Segmentation fault\): ' + why + '$', err, re.M), err)


jobs.run_cases(globals(), 'test_', CHOSEN)
