#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A straggler of 200 ms gets at least 95 % of the wait that it has caused, in real jobs. Usage:
straggle_test.py COHORTRUN MEMBER COHORT-TRACE [--every]

What was waited, and by whom, is taken from the trace, within the time in which the straggler was
late by its own clock. So no load of the machine changes a ratio."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jobs
from jobs import check, check_equal, run

MEMBER, TOOL = map(os.path.abspath, sys.argv[2:4])
STRAGGLER, NUM = 2, 4  # see straggle_member.c
FOLDER = tempfile.mkdtemp(prefix='cohort-straggle-')
LEAST = 0.95
BARRIERS = ['linear', 'hierarchical', 'dissemination', 'levels', 'shared']
ALL_REDUCES = ['linear', 'hierarchical', 'ring', 'mesh', 'recursive_doubling', 'rabenseifner',
               'reduce_broadcast', 'ordered', 'levels', 'shares', 'shared']


RELAYS = ['broadcast=chain', 'broadcast=binomial'] # who is before the straggler has no need of it


def report(file, *args):
    done = subprocess.run([TOOL, 'report', *args, file], capture_output=True, text=True,
                          timeout=jobs.TIMEOUT, check=False)
    check_equal((done.returncode, done.stderr), (0, ''))
    return done.stdout


def waited(text):
    """How long the main task of each locality has waited."""
    found = re.findall(r'^ +run \(locality (\d+)\) made tasks wait [\d.]+ s, '
                       r'waited itself ([\d.]+) s$', text, re.M)
    return {int(locality): float(s) for locality, s in found}


def blamed(text):
    """How long the straggler made each other locality wait, and its task that is late its own."""
    found = re.findall(r'^ +%d made (\d+) wait ([\d.]+) s$' % STRAGGLER, text, re.M)
    return {int(waiter): float(s) for waiter, s in found}


def blamed_task(text, name):
    found = re.search(r'^ +%s \(locality %d\) made tasks wait ([\d.]+) s' % (name, STRAGGLER), text,
                      re.M)
    return float(found.group(1)) if found else 0


def look(case, text):
    """All others have waited, and for the straggler. If that is a task of its own, its main task
    has waited, too, and each wait is charged to that task."""
    waits, by_straggler = waited(text), blamed(text)
    for site in range(NUM):
        if site != STRAGGLER and (case[1] not in RELAYS or site == NUM - 1):
            check(waits.get(site, 0) > 0, case, 'site', site, 'has not waited', text)
            check(by_straggler.get(site, 0) >= LEAST * waits[site] - 0.001, case, text)
    if case[1] in ('task', 'mutex'):
        check(waits.get(STRAGGLER, 0) > 0, case, text)
        check(blamed_task(text, 'slow_task') >= LEAST * sum(waits.values()) - 0.001, case, text)


def look_at(cases, *options):
    file = os.path.join(FOLDER, 'trace.pb')
    # Two domains, so that there are levels.
    status, out, err = run('-n', NUM, *options, '--workers', 2, '-x', 'COHORT_TOPOLOGY=1x2x2',
                           '-x', 'COHORT_TRACE=' + file, MEMBER,
                           *[word for case in cases for word in case])
    check(status == 0 and (options or not err), status, err)
    start = re.search(r'from (\d+)\.(\d{6}) s on', report(file))
    start = int(start.group(1)) * 10**9 + int(start.group(2)) * 1000
    delays = re.findall(r'delay (\d+) (\d+) (\d+)', out)
    check_equal([int(number) for number, _, _ in delays], list(range(len(cases))))
    for number, begin, end in delays:
        look(cases[int(number)], report(file, '--from', '%.6f' % ((int(begin) - start) / 1e9),
                                        '--to', '%.6f' % ((int(end) - start) / 1e9)))


def test_straggler():
    look_at([('compute', 'barrier'), ('sleep', 'all_reduce=recursive_doubling'),
             ('compute', 'broadcast=chain'), ('compute', 'channel'), ('compute', 'task'),
             ('sleep', 'mutex'), ('sleep', 'chain')])


def test_deadline():
    """Whoever calls when the others have given up is to blame for that they waited at all."""
    look_at([('compute', 'deadline')])


def test_death():
    """So is one that never calls. It is named."""
    look_at([('compute', 'death')], '--keep-going')
    text = report(os.path.join(FOLDER, 'trace.pb'))
    found = re.search(r'^never called\n  "death" barrier \S+, generation 2: site %d \(locality %d '
                      r'on \S+\) was waited for ([\d.]+) s$' % (STRAGGLER, STRAGGLER), text, re.M)
    check(found, text)
    check(float(found.group(1)) >= 0.2 * (NUM - 1), text)


def rows(how):
    look_at([(how, 'barrier=' + row) for row in BARRIERS] +
            [(how, 'all_reduce=' + row) for row in ALL_REDUCES] +
            [(how, what) for what in RELAYS + ['chain', 'channel', 'task', 'mutex']])


def every_compute():
    rows('compute')


def every_sleep():
    rows('sleep')


try:
    jobs.run_cases(globals(), 'every_' if '--every' in sys.argv else 'test_', [])
finally:
    shutil.rmtree(FOLDER)
