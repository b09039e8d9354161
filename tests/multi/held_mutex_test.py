#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared library of -Dmutex_watch=enabled tells of mutexes that a task of a program holds
across an await, though that was linked with another libcohort.so.

usage: held_mutex_test.py COHORTRUN MEMBER FOLDER watching|not [case...], with the folder of that
library, and whether the MEMBER's own one watches, too"""
import os
import re
import sys

import jobs
from jobs import check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
FOLDER = os.path.abspath(sys.argv[3])
IS_WATCHING = sys.argv[4] == 'watching'
LINE = re.compile(r'cohort: the task hold \(\S*held_mutex_member\) waits at '
                  r'hold\S* \(\S*held_mutex_member\+0x[0-9a-f]+\), and holds 1 pthread mutex, '
                  r'the first one (\S+), locked at \S+ \(\S*?(\w+)(?:\.so)?\+0x[0-9a-f]+\): '
                  r'.* take a cohort_mutex')


def told(folder):
    """The mutexes that the library in FOLDER tells of, and in which files they were locked; and
    what these mutexes are. Without a FOLDER it is the member's own library, whatever meson has put
    into the environment. With one worker each of the member's awaits suspends."""
    status, out, err = run('-n', 1, '--workers', 1, '-x', 'LD_LIBRARY_PATH=' + folder, MEMBER)
    # ld.so misses the versions of the other library, which it can do without.
    lines = [line for line in err.splitlines() if 'no version information available' not in line]
    check(status == 0 and all(LINE.match(line) for line in lines), status, out, err)
    return [LINE.match(line).groups() for line in lines], out.split()


def check_told(folder):
    found, (own, other) = told(folder)
    check_equal(found, [(own, 'held_mutex_member'), (other, 'liblocker')])


def test_watching():
    check(os.path.exists(os.path.join(FOLDER, 'libcohort.so.0')), 'no library')
    check_told(FOLDER)


def test_own():
    """Only a library that was built for it says anything."""
    if IS_WATCHING:
        check_told('')
    else:
        check_equal(told('')[0], [])


jobs.run_cases(globals(), 'test_', sys.argv[5:])
