#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cohort programs under PRRTE, the launcher of Open MPI since 5, on two hosts with network stacks
of their own (namespaces.py). Usage: prrte_test.py COHORTRUN BUILD [case...], with the root of the
build.

Status 77: there is no PRRTE, or such hosts are not permitted. All that runs belongs to a process
namespace that ends with the test."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import jobs
import namespaces
from jobs import check, check_equal

HOSTS = ('a', 'b')
BUILD = os.path.abspath(sys.argv[2])
STORM = os.path.join(BUILD, 'tests/multi/storm_member')
MAIN = os.path.join(BUILD, 'tests/multi/main_member')
COLL = os.path.join(BUILD, 'tests/multi/coll_member')
PROGRAMS = (STORM, MAIN, COLL)
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
SOON = 60
# One locality on each host, and two.
LAYOUTS = ((2, 'a:1,b:1'), (4, 'a:2,b:2'))
SETTINGS = {'plm_ssh_agent': jobs.HOSTS_AGENT, 'prte_if_include': '10.77.0.0/24'}
# If the daemon of another host has started before it could be put into a group.
CHATTER = re.compile(r'[^\n]* Warning: setpgid\([^\n]*\n')


class Launch:
    """prterun, or prun in a machine of prte's."""

    def __init__(self, size, hosts, *command, launcher=('prterun', '--allow-run-as-root'), **env):
        args = [arg for name, value in env.items() for arg in ('-x', name + '=' + value)]
        self.process = subprocess.Popen(
            [*launcher, '-n', str(size), '--host', hosts, *args, *(str(c) for c in command)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def await_generation(self):
        while b'generation 5' not in self.process.stdout.readline():
            check(self.process.poll() is None, 'the job has ended')

    def finish(self):
        """Status, stdout and stderr."""
        try:
            out, err = self.process.communicate(timeout=SOON)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise jobs.Failed('it does not end within %d s' % SOON)
        check_nothing_left()
        return self.process.returncode, out.decode(), CHATTER.sub('', err.decode())


def pids():
    return [int(pid) for pid in os.listdir('/proc') if pid.isdigit()
            and any(jobs.is_running(int(pid), program) for program in PROGRAMS)]


def check_nothing_left():
    """The daemons of other hosts may end a failed job's processes after prterun has returned."""
    deadline = time.monotonic() + SOON
    while pids():
        check(time.monotonic() < deadline, 'left over:', pids())


def run(*args, **options):
    return Launch(*args, **options).finish()


def test_collectives():
    for size, hosts in LAYOUTS:
        status, out, err = run(size, hosts, COLL, 'run', '--sites', 2 * size + 1, '--kind', 'any',
                               '--generations', 10, '--in-flight', 2, '--count', 20000)
        check_equal((status, err), (0, ''))
        check_equal(len(re.findall(r'\d of %d has done it' % size, out)), size)


def test_deaths():
    """The survivors may be told before they are ended. The job's status is never 0."""
    for size, hosts in LAYOUTS:
        for mode in ('abort', 'exit'):
            status, out, err = run(size, hosts, STORM, mode, '--victim', 1, '--generations', 20)
            check(status != 0, err)
            for site in re.findall(r'site \d failed at \d+: .*', out):
                check('COHORT_ERR_PEER_DIED' in site and 'locality 1' in site, site)


def test_killed():
    for size, hosts in LAYOUTS:
        launch = Launch(size, hosts, STORM, 'kill')
        launch.await_generation()
        os.kill(pids()[-1], signal.SIGKILL)
        status, _, err = launch.finish()
        check(status != 0, err)


def test_abort():
    for size, hosts in LAYOUTS:
        for mode, code, why in (*((mode, 7, 'the disk is full') for mode in ('task', 'loop',
                                                                             'thread')),
                                ('zero', 1, 'no reason given')):
            status, _, err = run(size, hosts, MAIN, 'abort-' + mode)
            check_equal(status, code)
            check('locality 1: aborted with status %d: %s\n' % (code, why) in err, err)


def test_end_out_of_reach():
    """A locality that has returned waits for one that ends without a word, and with status 0."""
    for size, hosts in LAYOUTS:
        status, _, err = run(size, hosts, MAIN, 'vanish')
        check(status != 0, err)


def test_failed_start():
    """One locality can't begin. The others would wait for it."""
    for size, hosts in LAYOUTS:
        only_one = 'test $PMIX_RANK = 1 && export COHORT_WORKERS=x; exec ' + MAIN + ' half'
        status, _, err = run(size, hosts, 'sh', '-c', only_one)
        check(status != 0, err)
        check('COHORT_WORKERS is "x"' in err, err)


def test_never_joins():
    """A process that ends before it joins."""
    for size, hosts in LAYOUTS:
        script = 'test $PMIX_RANK = 1 || exec %s half' % MAIN
        status, _, err = run(size, hosts, 'sh', '-c', script, COHORT_JOIN_TIMEOUT='2')
        check(status != 0, err)
        check('process 1 of %d has not joined the job within 2 s' % size in err, err)


def test_machine():
    """A machine that stays: a job that fails leaves it fit for the next one."""
    prte = subprocess.Popen(['prte', '--allow-run-as-root', '--host', 'a:4,b:4'],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    prun = {'launcher': ('prun', '--allow-run-as-root', '--pid', str(prte.pid))}
    try:
        check_equal(prte.stdout.readline(), b'DVM ready\n')
        for size, hosts in LAYOUTS:
            status, _, err = run(size, hosts, MAIN, 'abort-task', **prun)
            check_equal(status, 7)
            status, out, err = run(size, hosts, COLL, 'run', '--sites', size, **prun)
            check_equal((status, err), (0, ''))
            check_equal(len(re.findall(r'\d of %d has done it' % size, out)), size)
    finally:
        prte.terminate()
        prte.communicate(timeout=SOON)


if not shutil.which('prterun'):
    print('skipped: prterun is not there; Debian 13 has it in openmpi-bin')
    sys.exit(77)
namespaces.enter(HOSTS)
os.environ.update({'PRTE_MCA_' + name: value for name, value in SETTINGS.items()},
                  TMPDIR=jobs.HOSTS_TMP)
jobs.run_cases(globals(), chosen=CHOSEN)
