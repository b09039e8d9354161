#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs over hosts with network stacks of their own (namespaces.py). Usage: netns_test.py COHORTRUN
MEMBERS [--slow] [--long | --measure] [--no-pmix] [case...]. Status 77: that is not permitted."""
import fcntl
import heapq
import os
import random
import re
import select
import struct
import subprocess
import sys
import threading
import time

import jobs
import kill_test
import namespaces
from jobs import Failed, check, check_equal, run
from namespaces import command, configure

FOLDER = os.path.dirname(os.path.abspath(__file__))
MEMBERS = os.path.abspath(sys.argv[2])
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
SLOW = '--slow' in sys.argv
PREFIX = 'long_' if '--long' in sys.argv else 'measure_' if '--measure' in sys.argv else 'test_'
QUICK = ['--heartbeat', '0.2', '--heartbeat-timeout', '1.5']


class Wire:
    """Replaces the link to HOST by one with delay and loss: a pair of taps, with this process
    between them. (netem could do the same, but not every kernel has it.)"""

    def __init__(self, host, delay, loss, seed):
        self.host, self.delay, self.loss = host, delay, loss
        self.random = random.Random(seed)
        self.fds = [self.open('tap-' + host), self.open('far-' + host)]
        command('ip -n %s addr flush dev eth0' % host)
        command('ip link set tap-%s master br0 up' % host)
        command('ip link set far-%s netns %s' % (host, host))
        configure(host, 'far-' + host, 'abc'.index(host))
        self.num_lost = 0
        self.stop_fd = os.eventfd(0)
        self.thread = threading.Thread(target=self.pass_on)
        self.thread.start()

    @staticmethod
    def open(name):
        TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000
        fd = os.open('/dev/net/tun', os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack('16sH22x', name.encode(), IFF_TAP | IFF_NO_PI))
        return fd

    def take(self, waiting, fd):
        other = self.fds[fd == self.fds[0]]
        try:
            while True:
                frame = os.read(fd, 65536)
                if self.random.random() < self.loss:
                    self.num_lost += 1
                else:
                    heapq.heappush(waiting, (time.monotonic() + self.delay, len(waiting), other,
                                             frame))
        except BlockingIOError:
            pass

    def pass_on(self):
        waiting = []
        while True:
            timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
            ready = select.select(self.fds + [self.stop_fd], [], [], timeout)[0]
            if self.stop_fd in ready:
                return
            for fd in ready:
                self.take(waiting, fd)
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, fd, frame = heapq.heappop(waiting)
                try:
                    os.write(fd, frame)
                except OSError:
                    pass # its queue is full: one more packet is lost

    def remove(self):
        os.eventfd_write(self.stop_fd, 1)
        self.thread.join()
        for fd in self.fds + [self.stop_fd]:
            os.close(fd)
        configure(self.host, 'eth0', 'abc'.index(self.host))


def suite(hosts, *cases, script='coll_test.py'):
    """Runs the suite of collectives, or another one, in a process of its own, over HOSTS."""
    args = [sys.executable, '-B', os.path.join(FOLDER, script)] + sys.argv[1:3] + list(cases)
    done = subprocess.run(args + ['--slow'] * SLOW, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          env=dict(os.environ, COHORT_TEST_NETNS=','.join(hosts)))
    check_equal((done.returncode, re.findall('.*FAILED.*', done.stdout.decode())), (0, []))
    print('    ' + done.stdout.decode().replace('\n', '\n    ').rstrip())
    check(done.stdout, 'no case was run')


def test_places():
    """The localities of each host are told the host's own address."""
    status, out, err = run('-n', 5, os.path.join(MEMBERS, 'launcher_member'), 'place')
    check_equal((status, err), (0, ''))
    check_equal(sorted(re.findall(r'\d is .*', out)),
                ['0 is 0 of 2 on host 0 of 3 at 10.77.0.2',
                 '1 is 1 of 2 on host 0 of 3 at 10.77.0.2',
                 '2 is 0 of 2 on host 1 of 3 at 10.77.0.3',
                 '3 is 1 of 2 on host 1 of 3 at 10.77.0.3',
                 '4 is 0 of 1 on host 2 of 3 at 10.77.0.4'])


def test_two_hosts():
    suite('ab', 'flat')


def test_three_hosts():
    suite('abc', 'placement')


def test_described():
    suite('ab', script='describe_test.py')
    suite('abc', script='describe_test.py')


def test_mpirun():
    """The same hosts under another launcher."""
    if '--no-pmix' in sys.argv:
        return
    script = os.path.join(FOLDER, 'pmix_test.py')
    done = subprocess.run([sys.executable, '-B', script, 'mpirun.openmpi',
                           os.path.join(MEMBERS, '../..')] + ['--slow'] * SLOW,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, COHORT_TEST_NETNS='a,b,c'))
    print('    ' + done.stdout.decode().replace('\n', '\n    ').rstrip())
    check(done.returncode in (0, 77), 'status', done.returncode)


def measure_overlap():
    """Over a link with a delay of 1 ms: an exchange of 64 KiB, and computations at the same time
    for 200 us, and for about as long as the exchange takes."""
    wire = Wire('b', 0.001, 0, 1)
    try:
        jobs.launcher_options = jobs.netns_hosts('ab')
        for times in 1, 10, 20, 40:
            status, out, err = run('-n', 2, BENCH, 'coll', '--works',
                                   'exchange:65536,overlap:65536', '--compute', times,
                                   '--seconds', 0.5)
            check_equal((status, err), (0, ''))
            print(out)
    finally:
        wire.remove()
        jobs.launcher_options = jobs.netns_hosts('abc')


def long_suite():
    suite('ab')
    suite('abc')


def long_kills():
    suite('ab', script='kill_test.py')
    suite('abc', script='kill_test.py')


def test_delay_and_loss():
    """A link that delays all packets and loses some."""
    if not os.path.exists('/dev/net/tun'):
        print('    skipped: needs /dev/net/tun')
        return
    wire = Wire('b', 0.002, 0.02, 1)
    try:
        jobs.launcher_options = jobs.netns_hosts('ab')
        status, out, err = run('-n', 4, os.path.join(MEMBERS, 'coll_member'), 'run', '--sites', 8,
                               '--kind', 'all_to_all', '--generations', 10, '--count', 1000)
    finally:
        wire.remove()
        jobs.launcher_options = jobs.netns_hosts('abc')
    check_equal((status, err), (0, ''))
    check_equal(out.count('has done it'), 4)
    check(wire.num_lost > 0, 'nothing was lost')


def test_cable_pulled():
    """The survivors learn from the launcher which host is dead, and no process is left over. The
    dead host's daemon also loses cohortrun. Its agent is not connected by a cable, and may report
    the death first."""
    why = (r"is lost: (it has been silent for 1.5 s|agent '%s b' exited with status 1)"
           % jobs.HOSTS_AGENT)
    jobs.launcher_options = lambda size: jobs.netns_hosts('ab')(size) + QUICK
    storm = kill_test.Storm(4, 'kill', sites=8, arity=2, threshold='tree', count=100, in_flight=4)
    try:
        storm.await_lines(r'\[\d\] generation 10', 4)
        command('ip link set v-b down')
        pulled = time.monotonic()
        failed = {}
        while len(failed) < 4: # two sites on each of host a's localities
            line = storm.next_line()
            check(line is not None, 'the job has ended; told were only', failed, storm.errors)
            match = re.fullmatch(r'\[[01]\] site (\d) failed at (\d+): (.*)', line)
            if match:
                failed[match[1]] = (int(match[2]) / 1e6 - pulled, match[3])
        os.write(storm.release_fd, b'....')
        for site, (seconds, text) in failed.items():
            check(re.search('locality [23] .*on host b ' + why, text),
                  'site', site, 'was told', text)
            check(seconds < 15, 'site', site, 'took', seconds, 's') # TCP alone would take minutes
        status, err = storm.finish()
    finally:
        command('ip link set v-b up')
        jobs.launcher_options = jobs.netns_hosts('abc')
    check_equal(status, 137)
    lost = r'cohortrun: locality [23]( \(pid \d+\))? on host b ' + why
    daemon = 'cohortrun: host b: node daemon: cohortrun has been silent for too long'
    check(re.fullmatch('((%s|%s)\n)*' % (lost, daemon), err), err)


def test_goes_on_without_host():
    """The same with --keep-going: the first host is told, and goes on."""
    jobs.launcher_options = jobs.netns_hosts('ab')
    member = os.path.join(MEMBERS, 'survive_member')
    try:
        for _ in range(3): # as far as the machine has time for it
            job = jobs.Job('-n', 4, '--workers', 1, '--keep-going', *jobs.SILENT, member, 'wait')
            seconds, lines = jobs.await_told(job, lambda: command('ip link set v-b down'))
            status, out, err = job.finish()
            command('ip link set v-b up')
            check_equal(status, 0)
            check_equal(re.findall('^cohortrun: locality (.).* on host b .*; (. go on)$', err,
                                   re.M),
                        [('2', '3 go on'), ('3', '2 go on')])
            print('told after %.2f s' % seconds)
            if seconds < jobs.LIMIT + 1:
                return
        raise Failed('told after %.1f s' % seconds)
    finally:
        command('ip link set v-b up')
        jobs.launcher_options = jobs.netns_hosts('abc')


namespaces.enter('abc')
jobs.launcher_options = jobs.netns_hosts('abc')
jobs.run_cases(globals(), PREFIX, CHOSEN)
