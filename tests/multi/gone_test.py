#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An endpoint that is used after it was given back ends the program, with a line that says who and
where. Usage: gone_test.py COHORTRUN MEMBER [case...]"""
import os
import re
import resource
import signal
import subprocess
import sys

import jobs
from jobs import check, check_equal

MEMBER = os.path.abspath(sys.argv[2])

FUNCTION_OF = {
    'all_reduce': 'cohort_all_reduce',
    'set': 'cohort_channel_set',
    'get': 'cohort_channel_get',
    'dup': 'cohort_comm_dup',
    'idle': 'cohort_comm_idle',
    'unref': 'cohort_comm_unref',
}


def said(how, function):
    job = subprocess.run([MEMBER, how], stderr=subprocess.PIPE, text=True, timeout=60)
    check_equal(job.returncode, -signal.SIGABRT)
    check(re.fullmatch(
        r'cohort: %s, called at use\S* \(\S*gone_member\+0x[0-9a-f]+\) for the endpoint '
        r'0x[0-9a-f]+: site 0 of communicator "gone": its last reference was given back before\n'
        % function, job.stderr), job.stderr)


def test_at_once():
    for how, function in FUNCTION_OF.items():
        said(how, function)


def test_late():
    for how, function in FUNCTION_OF.items():
        said('late ' + how, function)
    said('late num_sites', 'cohort_comm_num_sites')


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
jobs.run_cases(globals(), 'test_', sys.argv[3:])
