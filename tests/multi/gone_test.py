#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An endpoint, a scope, a mutex, a file or another object that is used after it was given back ends
the program, with a line that says who and where. Usage: gone_test.py COHORTRUN MEMBER [case...]"""
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


# What a function's name begins with, and what the line says of its object.
NOUNS = {
    'cohort_scope_': ('scope', 'it was awaited before, or was ended by the scope around it'),
    'cohort_mutex_': ('mutex', ''),
    'cohort_condition_': ('condition', ''),
    'cohort_semaphore_': ('semaphore', ''),
    'cohort_latch_': ('latch', ''),
    'cohort_local_barrier_': ('local barrier', ''),
    'cohort_queue_': ('queue', ''),
    'cohort_task_local_': ('key of task-local values', ''),
    'cohort_callbacks_': ('queue of callbacks', 'it was destroyed before'),
    'cohort_op_': ('operation', ''),
    'cohort_all_reduce': ('operation', ''),
    'cohort_parallel_reduce': ('operation', ''),
    'cohort_layout_': ('layout', ''),
    'cohort_channel_': ('layout', ''),
    'cohort_exchange_layouts': ('layout', ''),
    'cohort_broadcast_to': ('layout', ''),
    'cohort_file_': ('file', ''),
    'cohort_tcp_listener_': ('TCP listener', ''),
    'cohort_tcp_': ('TCP connection', ''),
}


def check_line(function):
    noun, wrong = next(said for start, said in NOUNS.items() if function.startswith(start))
    if function == 'cohort_tcp_accept':
        noun = 'TCP listener'
    job = subprocess.run([MEMBER, function], stderr=subprocess.PIPE, text=True, timeout=60)
    if 'AddressSanitizer' in job.stderr: # memory that is free is the sanitizer's
        check('heap-use-after-free' in job.stderr and function in job.stderr, job.stderr)
        return
    check_equal(job.returncode, -signal.SIGABRT)
    check(re.fullmatch(r'cohort: %s, called at \S+ \(\S*gone_member\+0x[0-9a-f]+\) for the %s '
                       r'0x[0-9a-f]+: %s\n'
                       % (function, noun, wrong or 'its last reference was given back before'),
                       job.stderr), job.stderr)


def test_others():
    """Each public function that is given such an object, in a program of its own."""
    with open(os.path.join(os.path.dirname(__file__), 'gone_member.c'), encoding='utf-8') as file:
        functions = re.findall(r'^    USE\w*\((cohort_\w+)', file.read(), re.M)
    check(len(functions) > 50, functions)
    for function in functions:
        check_line(function)


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
jobs.run_cases(globals(), 'test_', sys.argv[3:])
