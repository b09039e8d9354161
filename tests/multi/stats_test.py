#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What COHORT_STATS says of jobs whose counts are known. Usage: stats_test.py COHORTRUN MEMBER
[case...]"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import jobs
from jobs import check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
FOLDER = tempfile.mkdtemp(prefix='cohort-stats-')
BARRIERS, REDUCES, TASKS, CALLS, BYTES = 10, 3, 100, 5, 1 << 20  # see stats_member.c


def path(name):
    return os.path.join(FOLDER, name)


def check_times(lines):
    """No line is there twice."""
    times = [line['time'] for line in lines]
    check(times == sorted(set(times)) and abs(time.time() - times[-1]) < 600, times)


def check_counts(counters, of_all=1, calls=CALLS):
    """Those that do not depend on how fast anything was. COUNTERS are sums over OF_ALL
    localities."""
    want = {'called_barrier': BARRIERS, 'ended_barrier': BARRIERS, 'called_all_reduce': REDUCES,
            'ended_all_reduce': REDUCES, 'remote_calls': calls, 'remote_served': calls,
            'fetches': calls > 0, 'bytes_fetched': BYTES * (calls > 0)}
    for name, num in want.items():
        check_equal((name, counters.get(name, 0)), (name, num * of_all))
    check_equal(counters['tasks_started'], counters['tasks_ended'])
    check(TASKS * of_all <= counters['tasks_started'] <= (TASKS + 60) * of_all, counters)
    check(counters.get('collectives_failed', 0) == 0, counters)
    check(counters.get('user_us', 0) + counters.get('system_us', 0) > 0, counters)
    check(counters['max_memory_bytes'] > 1 << 20, counters)


def table(text, headline):
    """The rows below HEADLINE: for each counter its sum, and where there are more columns, least
    and most with their localities."""
    lines = text.splitlines()
    check_equal(lines[0], headline)
    check(re.fullmatch(r' +counter +sum( +least \(at\) +most \(at\))?', lines[1]), lines[1])
    rows = {}
    for line in lines[2:]:
        found = re.fullmatch(r' +(\w+) +(\d+)(?: +(\d+) \((\d+)\) +(\d+) \((\d+)\))?', line)
        check(found, 'no row:', line)
        rows[found[1]] = [int(number) for number in found.groups()[1:] if number]
    return rows


def lines_of(file):
    """By locality, the lines in the order of the file."""
    found = {}
    with open(file, encoding='ascii') as text:
        for line in text:
            if not line.endswith('\n'): # it is just being written
                break
            counters = json.loads(line)
            check(all(isinstance(value, (int, float)) for value in counters.values()), counters)
            found.setdefault(counters['locality'], []).append(counters)
    return found


def test_table():
    status, out, err = run('-n', 3, '-x', 'COHORT_STATS=1', MEMBER)
    check_equal((status, out), (0, ''))
    rows = table(err, 'cohortrun: COHORT_STATS: counters of 3 of 3 localities')
    sums = {name: row[0] for name, row in rows.items()}
    check_counts(sums, of_all=3)
    check_equal(rows['called_barrier'], [3 * BARRIERS, BARRIERS, 0, BARRIERS, 0])
    for name, (total, least, at_least, most, at_most) in rows.items():
        check(3 * least <= total <= 3 * most and at_least < 3 and at_most < 3, name, rows[name])
    # The job has drained, so what was sent has come.
    for what in ('messages', 'bytes'):
        check_equal(sums[what + '_sent'], sums[what + '_received'])
    check(sums['messages_sent'] >= 2 * 3 * CALLS, sums)


def test_file():
    """With the lines of earlier jobs before them. No line twice."""
    file = path('job.json')
    with open(file, 'w', encoding='ascii') as text:
        text.write('{"locality": 99}\n')
    status, out, err = run('-n', 2, '-x', 'COHORT_STATS=' + file, MEMBER)
    check_equal((status, out, err), (0, '', ''))
    lines = lines_of(file)
    check_equal(sorted(lines), [0, 1, 99])
    for rank in range(2):
        check_counts(lines[rank][-1])
        check_times(lines[rank])


def await_counter(file, name, num, ranks):
    """Until each of RANKS has counted so many, and a line says so."""
    deadline = time.monotonic() + jobs.TIMEOUT
    while True:
        lines = lines_of(file) if os.path.exists(file) else {}
        if all(rank in lines and lines[rank][-1].get(name) == num for rank in ranks):
            return lines
        check(time.monotonic() < deadline, 'no such lines:', lines)
        jobs.pause()


def lose_one(name, *options):
    """Lines come while it runs. The last numbers of one that is killed are there."""
    file = path(name)
    job = jobs.Job('-n', 2, *options, '-x', 'COHORT_STATS=' + file, MEMBER, 'stay',
                   stdin=subprocess.PIPE)
    pids = dict(map(int, line.split()) for line in job.read_lines(2))
    await_counter(file, 'remote_served', CALLS, range(2))
    os.kill(pids[1], signal.SIGKILL)
    status, _, err = job.finish()
    check(status != 0 and 'COHORT_STATS' not in err, status, err)
    lines = lines_of(file)
    check_equal(sorted(lines), [0, 1])
    check_equal(lines[1][-1]['ended_barrier'], BARRIERS)
    for rank in range(2):
        check_times(lines[rank])


def test_killed():
    lose_one('killed.json')


def alone(value, *args, **options):
    env = dict(os.environ, COHORT_STATS=value)
    done = subprocess.run([MEMBER, *args], env=env, capture_output=True, text=True, check=False,
                          timeout=jobs.TIMEOUT, **options)
    return done.returncode, done.stdout, done.stderr


def test_alone():
    status, out, err = alone('1')
    check_equal((status, out), (0, ''))
    rows = table(err, 'cohort: COHORT_STATS: counters of this program')
    check_counts({name: row[0] for name, row in rows.items()}, calls=0)
    file = path('alone.json')
    check_equal(alone(file), (0, '', ''))
    lines = lines_of(file)
    check_equal(sorted(lines), [0])
    check_counts(lines[0][-1], calls=0)


def test_alone_runs():
    """It writes lines itself, about each second."""
    file = path('runs.json')
    env = dict(os.environ, COHORT_STATS=file)
    with subprocess.Popen([MEMBER, 'stay'], env=env, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as program:
        await_counter(file, 'ended_barrier', BARRIERS, [0])
        program.communicate(b'', timeout=jobs.TIMEOUT)
        check_equal(program.returncode, 0)
    check_equal(lines_of(file)[0][-1]['ended_barrier'], BARRIERS + 1)


def test_off():
    for value in ('', '0'):
        check_equal(alone(value), (0, '', ''))
        check_equal(run('-n', 2, '-x', 'COHORT_STATS=' + value, MEMBER), (0, '', ''))


def test_refused():
    file = path('nowhere/stats.json')
    why = ("environment variable COHORT_STATS: %s can't be written: No such file or directory"
           % file)
    status, out, err = run('-n', 2, '-x', 'COHORT_STATS=' + file, MEMBER)
    check_equal((status, out, err), (1, '', 'cohortrun: %s\n' % why))
    status, out, err = alone(file)
    check_equal((status, out), (1, ''))
    check(err.endswith(': %s\n' % why), err)


def test_words():
    """A word that somebody writes who wants a table is no file."""
    why = ('environment variable COHORT_STATS is "yes"; it can be 0, 1, or a file, which has a / '
           'or a . in its path: "./yes"\n')
    status, out, err = run('-n', 2, '-x', 'COHORT_STATS=yes', MEMBER)
    check_equal((status, out, err), (1, '', 'cohortrun: ' + why))
    check(not os.path.exists('yes'))


def test_full():
    """The job goes on, and it is said once."""
    status, out, err = run('-n', 2, '-x', 'COHORT_STATS=/dev/full', MEMBER)
    check_equal((status, out, err), (0, '', "cohortrun: COHORT_STATS: a line can't be written: "
                                            'No space left on device\n'))


def test_others():
    """Programs that are none of ours count nothing, and are named."""
    status, _, err = run('-n', 3, '-x', 'COHORT_STATS=1', 'true')
    check_equal((status, err), (0, 'cohortrun: COHORT_STATS: not counted: localities 0-2, where no '
                                   'program of Cohort has begun\n'))


def test_far():
    """The daemons of other hosts send what their localities have counted."""
    far = jobs.far_hosts(3)
    status, out, err = run('-n', 3, *far, '-x', 'COHORT_STATS=1', MEMBER)
    check_equal((status, out), (0, ''))
    rows = table(err, 'cohortrun: COHORT_STATS: counters of 3 of 3 localities')
    check_counts({name: row[0] for name, row in rows.items()}, of_all=3)
    check_equal(rows['called_barrier'], [3 * BARRIERS, BARRIERS, 0, BARRIERS, 0])
    status, _, err = run('-n', 3, *far, '-x', 'COHORT_STATS=1', 'true')
    check_equal((status, err), (0, 'cohortrun: COHORT_STATS: not counted: localities 0-2, where no '
                                   'program of Cohort has begun\n'))


def test_far_killed():
    lose_one('far_killed.json', *jobs.far_hosts(2))


try:
    jobs.run_cases(globals())
finally:
    shutil.rmtree(FOLDER)
