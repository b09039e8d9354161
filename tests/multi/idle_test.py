#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a job that waits costs. Usage: idle_test.py COHORTRUN MEMBERS [--slow] [--long] [case...],
with the folder of the member programs.

The job's processes are the localities, their guardians and cohortrun. Their CPU time is that of the
scheduler, in nanoseconds. The time in /proc/PID/stat is in hundredths of a second for each process,
which is more than all of them use together."""
import os
import re
import subprocess
import sys
import time

import jobs
from jobs import Job, check, check_equal, is_running, read_proc

IDLE = os.path.abspath(os.path.join(sys.argv[2], 'idle_member'))
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
SLOW = '--slow' in sys.argv # under a sanitizer
LONG = '--long' in sys.argv
MOST_CPU = 0.05 if SLOW else 0.01 # of a core, the whole job
MOST_MEMORY = 6 * 1024            # KiB, of a locality


class Idle(Job):
    """A job with one site at each locality, all of which wait."""

    def __init__(self, num_localities, *args):
        self.size = num_localities
        super().__init__('-n', num_localities, IDLE, 'idle', '--sites', num_localities, *args,
                         stdin=subprocess.PIPE)
        check_equal(self.read_lines(num_localities), ['idle\n'] * num_localities)

    def localities(self):
        return [pid for pid in self.processes() if is_running(pid, IDLE)]

    def cpu_seconds(self):
        """The CPU time of all threads that exist."""
        nanoseconds = 0
        for pid in self.processes():
            for thread in os.listdir('/proc/%d/task' % pid):
                schedstat = read_proc(pid, 'task/%s/schedstat' % thread)
                nanoseconds += int(schedstat.split()[0]) if schedstat else 0
        return nanoseconds / 1e9

    def end(self):
        """That nothing has moved is said after 10 s."""
        status, out, err = self.finish(b'')
        check_equal((status, out), (0, ''))
        check(re.fullmatch('(cohortrun: nothing has moved for 10 s; .*\n)?', err), err)


def memory(pid):
    """The resident set size and the proportional set size, in KiB."""
    sizes = {}
    with open('/proc/%d/smaps_rollup' % pid) as f:
        for line in f.readlines()[1:]:
            name, size, _ = line.split()
            sizes[name] = int(size)
    return sizes['Rss:'], sizes['Pss:']


def check_cpu(num_localities, seconds, before=0):
    """For SECONDS, after the job has been idle for those BEFORE."""
    job = Idle(num_localities)
    time.sleep(before)
    processes = job.processes()
    check_equal(len(processes), 2 * num_localities + 1)
    used_before, start = job.cpu_seconds(), time.monotonic()
    time.sleep(seconds) # this is what the test is about
    used = (job.cpu_seconds() - used_before) / (time.monotonic() - start)
    check_equal(job.processes(), processes)
    job.end()
    print('%d localities: %.2f %% of a core' % (num_localities, 100 * used))
    check(used < MOST_CPU, 'too much')


def check_memory(num_localities, *args):
    job = Idle(num_localities, *args)
    localities = job.localities()
    check_equal(len(localities), num_localities)
    for pid in localities:
        with open('/proc/%d/maps' % pid) as f:
            check('libfabric' not in f.read(), 'libfabric is loaded, though nobody is far')
    resident, share = max(memory(pid) for pid in localities)
    job.end()
    print('%d localities: the largest has %d KiB resident, of which %d KiB are its share' %
          (num_localities, resident, share))
    check(SLOW or resident <= MOST_MEMORY, 'too much')


def test_cpu():
    check_cpu(4, 3)


def test_memory():
    check_memory(4)


def long_cpu():
    """The questions of a wait come after 1, 3, 7 and 15 s, and then every 16 s. Each round costs as
    much as 2 to 3 s without one, so the first seconds are not what it costs in the long run."""
    check_cpu(64, 10, before=10)


def long_memory():
    """The second job: each locality has sent to each other one, so all rings exist."""
    check_memory(64)
    check_memory(64, '--algorithms', 'all_to_all=linear', '--count', 100)


jobs.run_cases(globals(), 'long_' if LONG else 'test_', CHOSEN)
