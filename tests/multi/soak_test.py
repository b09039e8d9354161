#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job that does everything again and again, and must not grow. Usage: soak_test.py COHORTRUN
MEMBERS [--seconds S] [--far]

Memory, descriptors and mappings of each locality, and the files in /dev/shm, are looked at while it
runs. What there is at most in the last quarter of the time must be little more than in the second
one. With fewer than 60 seconds the limits are wide, since caches still fill, and since on a busy
machine a quarter may have few looks, none of them between two rounds; but 1,000 rounds are played,
however long they take.

The C library is told to keep nothing for itself. Else its arenas and the caches of its threads are
most of a locality's memory: they have up to 4 MiB free, and grow with the most that ever was in use
at once. So the least that there is in a quarter is what the library keeps. It may hardly grow."""
import os
import re
import sys
import threading
import time

import jobs
from jobs import Job, check, check_equal, is_running, read_proc

MEMBER = os.path.abspath(os.path.join(sys.argv[2], 'soak_member'))
SECONDS = float(sys.argv[sys.argv.index('--seconds') + 1]) if '--seconds' in sys.argv else 6
NUM = 3
IS_LONG = SECONDS >= 60
TUNABLES = ('GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1:'
            'glibc.malloc.trim_threshold=65536')


def size_of(pid):
    """Memory of its own in KiB, descriptors, mappings. None: it has ended."""
    status = read_proc(pid, 'status')
    memory = re.search(rb'RssAnon:\s*(\d+) kB', status)
    maps = read_proc(pid, 'maps').count(b'\n')
    try:
        descriptors = len(os.listdir('/proc/%d/fd' % pid))
    except OSError:
        return None
    return (int(memory[1]), descriptors, maps) if memory and maps else None


def watch(job, samples):
    """From now on until the job ends."""
    start = time.monotonic()
    pids = []
    while job.process.poll() is None:
        if len(pids) < NUM:
            pids = sorted(pid for pid in job.processes() if is_running(pid, MEMBER))
        for index, pid in enumerate(pids):
            size = size_of(pid)
            if size:
                samples.append((time.monotonic() - start, index,
                                size + (len(os.listdir('/dev/shm')),)))
        time.sleep(min(SECONDS / 200, 0.25))


def looks(samples, index, what, begin, end):
    whole = samples[-1][0]  # at least SECONDS
    found = [size[what] for at, who, size in samples
             if who == index and begin * whole <= at < end * whole]
    check(len(found) >= 3, 'too few looks at process', index, 'between', begin, 'and', end)
    return found


def test_soak():
    job = Job('-n', NUM, '--workers', 2, '-x', TUNABLES, MEMBER, 'soak', '--sites', 2 * NUM,
              '--count', int(SECONDS), '--seed', 7)
    samples, lines = [], job.read_lines(1)
    check_equal(lines, ['begun\n'])
    reader = threading.Thread(target=lambda: lines.extend(job.process.stdout))
    errors = []
    error_reader = threading.Thread(target=lambda: errors.append(job.process.stderr.read()))
    reader.start()
    error_reader.start()
    watch(job, samples)
    reader.join()
    error_reader.join()
    check_equal((job.process.wait(), jobs.LEAK_CHECK.sub('', errors[0].decode())), (0, ''))
    job.check_nothing_left()
    grown = []
    for index in range(NUM):
        for what, of, name, room in ((0, max, 'KiB at most', 2048),
                                     (0, min, 'KiB at least', 128 if SECONDS >= 600 else 1024),
                                     (1, max, 'descriptors', 2),
                                     (2, max, 'mappings', 20 if IS_LONG else 100),
                                     (3, max, 'files in /dev/shm', 0)):
            early = of(looks(samples, index, what, 0.25, 0.5))
            late = of(looks(samples, index, what, 0.75, 1.0))
            print('   locality %d: %d and %d %s' % (index, early, late, name))
            if late > early * 1.03 + room:
                grown.append((index, name, early, late))
    check(not grown, 'grown:', grown)
    print('  ', lines[-1].decode().strip() if len(lines) > 1 else 'less than 100 rounds')


if __name__ == '__main__':
    jobs.run_cases(globals(), 'test_', [])
