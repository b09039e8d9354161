#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks are called by the user's functions, not by those that the library has around them, also if
the library is stripped. Usage: names_test.py COHORTRUN MEMBER COHORT-TRACE LIBRARY [case...]"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import jobs
from jobs import COHORTRUN, Job, Skipped, check, check_equal, run

MEMBER, TRACE, LIBRARY = map(os.path.abspath, sys.argv[2:5])
# Where a task of each waits.
TASKS = {
    'my_program': {0}, 'my_then': {0}, 'my_flow': {0}, 'my_index': {0}, 'my_value': {0},
    'my_own': {0}, 'my_scoped': {0}, 'my_task': {0}, 'my_site': {0}, 'my_remote': {0, 1},
    'my_scoped_remote': {1}}
# Where one may wait besides.
OTHERS = {'my_program': {1}}


def check_trace(*options):
    with tempfile.TemporaryDirectory(prefix='cohort-names-') as folder:
        file = os.path.join(folder, 'trace.pb')
        status, out, err = run('-n', 2, '-x', 'COHORT_TRACE=' + file, *options, MEMBER)
        check_equal((status, out, err), (0, '', ''))
        said = subprocess.run([TRACE, 'report', file], capture_output=True, text=True,
                              timeout=jobs.TIMEOUT, check=False).stdout
    names = {}
    for name, locality in re.findall(r'^ +(\S+) \(locality (\d)\) made tasks wait', said, re.M):
        names.setdefault(name, set()).add(int(locality))
    # That of cohort_blocking does not wait itself, on a thread of its own.
    for name, localities in {**TASKS, 'my_blocking': {0}}.items():
        found = names.pop(name, set())
        check(localities <= found <= localities | OTHERS.get(name, set()), name, found, said)
    check(set(names) <= {'cohort_async_everywhere'}, names) # what it waits for may be there first


def test_trace():
    check_trace()


def test_stripped():
    if LIBRARY.endswith('.a'):
        raise Skipped('the member has the library in itself')
    if not shutil.which('strip'):
        raise Skipped('there is no strip (Debian package binutils)')
    with tempfile.TemporaryDirectory(prefix='cohort-names-') as folder:
        stripped = os.path.join(folder, 'libcohort.so.0')
        done = subprocess.run(['strip', '-o', stripped, LIBRARY], capture_output=True, text=True,
                              check=False)
        check_equal((done.returncode, done.stderr), (0, ''))
        preload = ' '.join(filter(None, [os.environ.get('LD_PRELOAD'), stripped]))
        check_trace('-x', 'LD_PRELOAD=' + preload)


def test_status():
    """All wait, but for one that runs another one in place of an await."""
    names = set(TASKS) - {'my_program'}
    job = Job('-n', 2, MEMBER, 'hangs')
    missing, said = names, ''
    deadline = time.monotonic() + jobs.TIMEOUT
    while missing:
        check(job.process.poll() is None and time.monotonic() < deadline, missing, said)
        said = subprocess.run([COHORTRUN, '--status', str(job.process.pid)], capture_output=True,
                              text=True, timeout=jobs.TIMEOUT, check=False).stdout
        missing = {name for name in names if not re.search(
            r'\(task %s\)|in %s( \(at its end\)|\+| \()' % (name, name), said)}
    check('cohort__' not in said and ' run' not in said, said)
    job.process.kill()
    job.process.communicate()
    job.check_nothing_left(wait=True)


jobs.run_cases(globals(), chosen=sys.argv[5:])
