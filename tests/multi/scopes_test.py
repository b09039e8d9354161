#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tasks of a scope start and wait for, whatever it is, ends with the scope (scopes_member.c).
Usage: scopes_test.py COHORTRUN MEMBER [--far] [case...]; --far: on two hosts."""
import os
import sys

import jobs
from jobs import check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]


def ends(num, workers):
    status, _, err = run('-n', num, '--workers', workers, MEMBER)
    check_equal((status, err), (0, ''))


def test_alone():
    ends(1, 1)


def test_two():
    ends(2, 1)


def test_two_of_two():
    ends(2, 2)


jobs.run_cases(globals(), 'test_', CHOSEN)
