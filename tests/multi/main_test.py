#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cohort_main does around a program. Usage: main_test.py COHORTRUN MEMBER [--far] [case...]"""
import os
import re
import subprocess
import sys
import time

import jobs
from jobs import Job, check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
# How messages describe where a locality is, as a pattern.
ON_HOST = r' on host [ab]' if '--far' in sys.argv else ''
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


def test_lingers():
    """A locality whose program has returned while a task waits does not look again and again
    whether that has ended: each of both waits once."""
    job = Job('-n', 1, '-x', 'COHORT_STATS=1', MEMBER, 'linger', stdin=subprocess.PIPE)
    check_equal(job.read_lines(1), ['beforelingers\n'])
    time.sleep(0.3) # this is what the test is about
    status, _, err = job.finish(b'')
    check_equal(status, 0)
    suspensions = int(re.search(r'\bsuspensions +(\d+)', err)[1])
    check(suspensions < 10, suspensions)


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


def check_abort(mode, num, options, code, reason):
    status, out, err = run('-n', num, *options, '--workers', 1, MEMBER, mode)
    check_equal((status, out.count('half a line')), (code, 1))
    check(re.fullmatch(rf'cohortrun: locality {1 if num > 1 else 0} \(pid \d+\){ON_HOST} has '
                       rf'aborted the job with status {code}: {reason}\n', err), err)


def test_abort():
    """It ends the job from any thread, at once, with its code, and the reason is printed once."""
    for mode in ('task', 'thread', 'loop'):
        check_abort(f'abort-{mode}', 3, (), 7, 'the disk is full')
    check_abort('abort-zero', 3, (), 1, 'no reason given')
    check_abort('abort-task', 1, (), 7, 'the disk is full')


def test_abort_keeps_not_going():
    check_abort('abort-thread', 3, ('--keep-going',), 7, 'the disk is full')


def test_abort_outside():
    """Before cohort_main the process ends, and with it the job; alone, too."""
    status, out, err = run('-n', 2, MEMBER, 'abort-before')
    check_equal((status, 'before' in out), (7, True))
    check('main_member: aborted with status 7: the disk' in err, err)
    for mode in ('abort-thread', 'abort-before'):
        done = subprocess.run([MEMBER, mode], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60)
        check_equal((done.returncode, done.stderr),
                    (7, 'main_member: aborted with status 7: the disk\nis full\n'))


if __name__ == '__main__':
    jobs.run_cases(globals(), 'test_', CHOSEN)
