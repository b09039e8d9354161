#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cohort_main does around a program. Usage: main_test.py COHORTRUN MEMBER [--far] [case...]"""
import os
import re
import sys

import jobs
from jobs import check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]


def test_output_before_death():
    """Lines look as in a terminal: what was printed is there, however the program ends."""
    for mode, number in (('abort', 6), ('kill', 9)):
        status, out, _ = run('-n', 1, MEMBER, mode)
        check_equal((status, out), (128 + number, 'beforeline 0\nline 1\nline 2\n'))


def test_half_a_line():
    for num in (1, 3):
        status, out, err = run('-n', num, MEMBER, 'half')
        check_equal((status, err), (0, ''))
        check_equal(out.count('beforeline\n'), num)
        check_equal(out.count('half a line'), num)


def test_task_left():
    """The job goes on, with all of its localities, until the tasks that were left running have
    ended."""
    for num in (1, 3):
        status, out, err = run('-n', num, MEMBER, 'leave')
        check_equal((status, err), (0, ''))
        check_equal(re.findall('late: .*', out), ['late: done'])


def test_left_open():
    """It does not keep the job from ending, and the log names it."""
    for num in (1, 3):
        status, _, err = run('-n', num, 'env', 'COHORT_LOG=warn', MEMBER, 'open')
        check_equal(status, 0)
        check_equal(err.count('the program has left 1 TCP listener open at its end'), num)


def test_last_words():
    """What runs on the loop after the last task."""
    for num in (1, 3):
        status, out, err = run('-n', num, MEMBER, 'work')
        check_equal((status, err), (0, ''))
        check_equal(sorted(re.findall('last words.*', out)),
                    [f'last words of {i} of {num}: 0 COHORT_ERR_STATE COHORT_ERR_STATE'
                     for i in range(num)])


if __name__ == '__main__':
    jobs.run_cases(globals(), 'test_', CHOSEN)
