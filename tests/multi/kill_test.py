#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Deaths in a storm of collectives. Usage: kill_test.py COHORTRUN MEMBERS [--slow] [--long]
[--few] [--far] [case...], with the folder of the member programs; --few: only some deaths; --far:
on two hosts.

Each job has a folder of its own for temporary files. Nothing may be left over in it or in /dev/shm,
and no process may be left. The tests act when the localities print certain lines."""
import os
import queue
import random
import re
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time

import jobs
from jobs import Failed, Job, TIMEOUT, check, check_equal, is_running, read_proc

BLAME = os.path.abspath(os.path.join(sys.argv[2], 'blame_member'))
STORM = os.path.abspath(os.path.join(sys.argv[2], 'storm_member'))
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
SLOW = '--slow' in sys.argv # under a sanitizer
FEW = SLOW or '--few' in sys.argv
LONG = '--long' in sys.argv
# Seconds within which the futures of each survivor have to fail: in the long suite, on a machine
# without other load. Otherwise they only have to fail.
DEADLINE = (8.0 if SLOW else 1.0) if LONG else TIMEOUT


class Storm(Job):
    """A running storm. Its lines are read as they are printed."""

    def __init__(self, num_localities, mode, workers=1, **options):
        self.size = num_localities
        self.num_sites = options.get('sites', 4)
        self.folder = tempfile.mkdtemp(prefix='cohort-kill-test.')
        self.release_path = os.path.join(self.folder, 'release')
        os.mkfifo(self.release_path)
        self.release_fd = os.open(self.release_path, os.O_RDWR | os.O_CLOEXEC)
        self.segments = set(os.listdir('/dev/shm'))
        temporary = os.path.join(self.folder, 'tmp')
        os.mkdir(temporary)
        args = []
        for name, value in options.items():
            args += ['--' + name.replace('_', '-'), value]
        super().__init__('-n', num_localities, '--workers', workers, '--tag',
                         '--grace', 2 * TIMEOUT,
                         '-x', 'COHORT_TEST_RELEASE=' + self.release_path,
                         '-x', 'TMPDIR=' + temporary, STORM, mode, *args, cwd=temporary)
        self.lines = []
        self.queue = queue.Queue()
        self.reader = threading.Thread(target=self.read_all)
        self.reader.start()
        self.errors = []
        self.error_reader = threading.Thread(
            target=lambda: self.errors.append(self.process.stderr.read().decode()))
        self.error_reader.start()

    def read_all(self):
        with os.fdopen(os.dup(self.process.stdout.fileno()), errors='replace') as lines:
            for line in lines:
                self.queue.put(line.rstrip('\n'))
        self.queue.put(None)

    def next_line(self, deadline=None):
        """The next line. None at the end of the output."""
        deadline = deadline or time.monotonic() + TIMEOUT
        try:
            line = self.queue.get(timeout=max(0, deadline - time.monotonic()))
        except queue.Empty:
            raise Failed('no line comes after', self.lines[-self.size:])
        if line is not None:
            self.lines.append(line)
        return line

    def await_lines(self, pattern, num=1):
        """The matches."""
        found = []
        while len(found) < num:
            line = self.next_line()
            check(line is not None, 'the job has ended, after', self.lines[-5:], self.errors)
            match = re.fullmatch(pattern, line)
            if match:
                found.append(match)
        return found

    def pid_of(self, locality):
        """The process that runs the storm, not its guardian."""
        for pid in self.processes():
            environment = read_proc(pid, 'environ').split(b'\0')
            if b'COHORT_LOCALITY=%d' % locality in environment and is_running(pid, STORM):
                return pid
        raise Failed('locality', locality, 'is not there')

    def survivors(self, victim):
        """Sites are distributed round robin."""
        return [site for site in range(self.num_sites) if site % self.size != victim]

    def check_survivors(self, victim, death):
        """Each site of these localities is told which locality died. Then it may leave. Returns how
        long it took until all were told."""
        failed = {}
        while len(failed) < len(self.survivors(victim)):
            line = self.next_line()
            check(line is not None, 'the job has ended; told were only sites', sorted(failed),
                  self.errors)
            match = re.fullmatch(r'\[\d+\] site (\d+) failed at (\d+): (.*)', line)
            if match and int(match[1]) % self.size != victim:
                failed[int(match[1])] = (int(match[2]) / 1e6 - death, match[3])
        os.write(self.release_fd, b'.' * self.size)
        for site, (_, text) in failed.items():
            check(text.startswith('COHORT_ERR_PEER_DIED ') and 'locality %d' % victim in text,
                  'site', site, 'was told', text)
        return max(seconds for seconds, _ in failed.values())

    def finish(self, data=None, wait=False):
        """The status and standard error. Checks that nothing is left over."""
        while self.next_line() is not None:
            pass
        self.reader.join()
        self.error_reader.join()
        self.process.wait(TIMEOUT)
        self.check_nothing_left(wait)
        left = os.listdir(os.path.join(self.folder, 'tmp'))
        check(not left, 'files left:', left)
        left = set(os.listdir('/dev/shm')) - self.segments
        check(not left, 'segments left:', left)
        self.clean_up()
        return self.process.returncode, self.errors[0]

    def clean_up(self):
        """Does it only once."""
        if self.folder:
            os.close(self.release_fd)
            shutil.rmtree(self.folder)
            self.folder = None


def random_storm(seed):
    """The parameters of a storm, drawn from SEED, and the generator for further draws."""
    draw = random.Random(seed)
    num_localities = draw.randint(2, 5)
    options = {
        'sites': num_localities * draw.randint(1, 3) + draw.randint(0, 1),
        'arity': draw.randint(2, 4),
        'threshold': draw.choice(['tree', 'flat']),
        'count': draw.choice([1, 50, 2000, 100000 if draw.random() < 0.5 else 20000]),
        'in_flight': draw.randint(1, 8),
        'workers': draw.randint(1, 2),
        'seed': seed,
    }
    options['root'] = draw.randrange(options['sites'])
    return num_localities, options, draw


def check_ended(storm, status, victim, how, before=''):
    got, err = storm.finish()
    check_equal(got, status)
    check(re.fullmatch(r'%scohortrun: locality %d \(pid \d+\)( on host \w+)? %s\n'
                       % (before, victim, how), err), err)


def kill_at_random(seed):
    """Returns how long it took until all were told."""
    num_localities, options, draw = random_storm(seed)
    victim = draw.randrange(num_localities)
    num_lines = 1 + draw.choice([0, draw.randint(0, 5), draw.randint(5, 60)])
    try:
        storm = Storm(num_localities, 'kill', **options)
        storm.await_lines(r'\[%d\] (ready|generation \d+)' % victim, num_lines)
        pid = storm.pid_of(victim)
        death = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        delay = storm.check_survivors(victim, death)
        check_ended(storm, 128 + 9, victim, r'was killed by signal 9 \(Killed\)')
        return delay
    except Failed as failure:
        raise Failed('seed %d, %s, locality %d of %d killed after %d lines: %s' %
                     (seed, options, victim, num_localities, num_lines, failure))


def kill_many(seeds):
    delays = [kill_at_random(seed) for seed in seeds]
    print('all are told after %.3f to %.3f s, median %.3f s' %
          (min(delays), max(delays), statistics.median(delays)))
    check(max(delays) < DEADLINE, 'too late')


def test_kill():
    kill_many(range(1, 6 if FEW else 21))


def long_kill():
    kill_many(range(1000, 1200))


def die_by_itself(mode, status, how, before=''):
    storm = Storm(4, mode, sites=8, arity=2, threshold='tree', count=100, in_flight=4, victim=2,
                  generations=20)
    storm.await_lines(r'\[2\] generation 20')
    storm.check_survivors(2, time.monotonic())
    check_ended(storm, status, 2, how, before)


def test_exit():
    die_by_itself('exit', 1, 'exited with status 0 without leaving the job')


def test_abort():
    why = r'SIGABRT \(abort\), in the task run_site \(.*\), worker \d of locality 2'
    die_by_itself('abort', 128 + 6, r'was killed by signal 6 \(Aborted\)(: %s)?' % why,
                  before=r'(\[2\] cohort: %s\n(\[2\] cohort: +called from .*\n)*)?' % why)


def endless_storm():
    storm = Storm(4, 'kill', workers=2, sites=9, arity=2, threshold='tree', count=1000, in_flight=4)
    storm.await_lines(r'\[\d\] generation 10', 4)
    return storm


def test_launcher_killed():
    storm = endless_storm()
    storm.process.kill()
    check_equal(storm.finish(wait=True), (-9, ''))


def test_interrupt():
    storm = endless_storm()
    storm.process.send_signal(signal.SIGINT)
    status, err = storm.finish()
    check_equal(status, 128 + signal.SIGINT)
    check(re.fullmatch(r'cohortrun: locality \d \(pid \d+\)( on host \w+)? was killed by signal 2 '
                       r'\(Interrupt\)\n', err), err)


def test_stopped():
    """A locality that is stopped for two seconds is not regarded as dead."""
    storm = Storm(4, 'endure', sites=8, arity=2, threshold='tree', count=500, in_flight=4,
                  generations=600, stall_ms=100)
    storm.await_lines(r'\[3\] generation 20')
    pid = storm.pid_of(3)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(2) # this is what the test is about
    check(storm.process.poll() is None, 'the job has ended')
    os.kill(pid, signal.SIGCONT)
    os.write(storm.release_fd, b'.' * 4)
    check_equal(storm.finish(), (0, ''))
    check('[3] generation 600' in storm.lines, 'locality 3 was not there until the end')


def test_second_death():
    """The first death is blamed, not the one that it has caused."""
    status, out, err = jobs.run('-n', 3, '--grace', 20, BLAME)
    check_equal(status, 128 + 9)
    check(re.match(r'COHORT_ERR_PEER_DIED .*site 2 is lost: locality 2 .*was killed by signal 9',
                   out), out)
    check(err.startswith('cohortrun: locality 2 '), err)


if __name__ == '__main__':
    jobs.leave_shared_memory()
    jobs.run_cases(globals(), 'long_' if LONG else 'test_', CHOSEN)
