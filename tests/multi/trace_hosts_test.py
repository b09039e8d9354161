#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What COHORT_TRACE makes of jobs on hosts whose clocks, or folders, have nothing in common. Usage:
trace_hosts_test.py COHORTRUN MEMBER COHORT-TRACE [case...]

The hosts are this one, with time namespaces or mount namespaces. Without the right to make these,
all is skipped; where only one kind is allowed, a case of the other says so."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jobs
from jobs import Skipped, check, check_equal, run

MEMBER, TOOL = map(os.path.abspath, sys.argv[2:4])
CHOSEN = sys.argv[4:]
FOLDER = tempfile.mkdtemp(prefix='cohort-trace-hosts-')
PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'trace.proto')
AHEAD = {'a': 0, 'b': 1000, 'c': 5000} # seconds
CLOCKS = ['%s) exec unshare --time --monotonic %d --fork "$@";;' % host for host in AHEAD.items()]
MOST_US = 20
# Becomes host $1, and runs the rest.
AGENT = '''#!/bin/sh
folder=%s
export COHORT_TEST_HOST=$1
host=$1
shift
case $host in
%s
esac
'''


def is_permitted(*command):
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def make_agent(cases):
    path = os.path.join(FOLDER, 'agent.sh')
    with open(path, 'w', encoding='ascii') as agent:
        agent.write(AGENT % (FOLDER, '\n'.join(cases)))
    os.chmod(path, 0o755)
    return ['--listen', '127.0.0.1', '--agent', path + ' {host}']


def report(file):
    done = subprocess.run([TOOL, 'report', file], capture_output=True, text=True, check=False,
                          timeout=jobs.TIMEOUT)
    check_equal((done.returncode, done.stderr), (0, ''))
    return done.stdout


def are_clocks_permitted():
    return is_permitted('unshare', '--time', '--monotonic', '1', '--fork', 'true')


def look_at_clocks(text):
    """In the order of the localities. Returns how exactly both are known, together, in ns."""
    found = re.findall(r'^the clock of \S+ is ([\d.]+) s (ahead of|behind) that of \S+, to within '
                       r'([\d.]+) us$', text, re.M)
    check_equal([round(float(seconds)) for seconds, _, _ in found], [1000, 5000])
    for seconds, how, _ in found:
        check_equal(how, 'ahead of')
        off_us = abs(float(seconds) - round(float(seconds))) * 1e6
        check(off_us <= MOST_US, 'off by', off_us, 'us', text)
    return sum(float(within_us) for _, _, within_us in found) * 1000


def look_at_messages(file, within):
    """No message is received before it was sent. Two hosts whose clocks are compared with a third
    one's, and not with each other, are known to WITHIN ns."""
    if not shutil.which('protoc'):
        print('clocks: messages are not looked at, without protoc')
        return
    with open(file, 'rb') as data:
        done = subprocess.run(['protoc', '--decode=Trace', '-I' + os.path.dirname(PROTO), PROTO],
                              stdin=data, capture_output=True, text=True, check=True)
    sent, num = {}, 0
    packets = [p for p in done.stdout.split('\npacket {\n') if 'track_event {' in p]
    at = lambda packet: int(re.search(r'timestamp: (\d+)', packet).group(1))
    for packet in packets:
        for flow in re.findall(r'^ *flow_ids: (\d+)', packet, re.M):
            sent[flow] = at(packet)
    for packet in packets:
        for flow in re.findall(r'terminating_flow_ids: (\d+)', packet):
            early = sent.get(flow, 0) - at(packet)
            check(early <= within, 'received', early, 'ns before it was sent; known to', within)
            num += flow in sent
    check(num > 20, num)


def test_clocks():
    """Three hosts, of which two are 1,000 s and 5,000 s ahead. The straggler, locality 2, is on the
    second one."""
    if not are_clocks_permitted():
        raise Skipped('without the right to make a time namespace')
    agent = make_agent(CLOCKS)
    file = os.path.join(FOLDER, 'clocks.pb')
    status, out, err = run('-n', 4, '--hosts', 'a:2,b:1,c:1', *agent, '-x', 'COHORT_TRACE=' + file,
                           MEMBER, 'barrier')
    check_equal((status, err), (0, ''))
    text = report(file)
    check('4 localities on 3 hosts' in text, text)
    look_at_messages(file, look_at_clocks(text))
    begin, end = map(int, re.search(r'delay (\d+) (\d+)', out).groups())
    pairs = dict(re.findall(r'^ +2 made (\d) wait ([\d.]+) s$', text, re.M))
    for site in '013':
        check(float(pairs.get(site, 0)) >= 0.5 * (end - begin) / 1e9, text)
    check_equal([f for f in os.listdir(FOLDER) if 'pb.' in f], [])


def test_pings():
    """Localities that send each other nothing: only cohortrun's pings tell."""
    if not are_clocks_permitted():
        raise Skipped('without the right to make a time namespace')
    agent = make_agent(CLOCKS)
    file = os.path.join(FOLDER, 'pings.pb')
    status, _, err = run('-n', 4, '--hosts', 'a:2,b:1,c:1', *agent, '-x', 'COHORT_TRACE=' + file,
                         MEMBER, 'task')
    check_equal((status, err), (0, ''))
    look_at_clocks(report(file))


def folders():
    """Each host has a folder of its own where the trace is written. That of cohortrun is another
    one."""
    cases = []
    for host in AHEAD:
        os.makedirs(os.path.join(FOLDER, host), exist_ok=True)
        cases.append(host + ') exec unshare --mount sh -c \'mount --bind "$0/\'$host\'" "$0/here" '
                     '&& exec "$@"\' $folder "$@";;')
    os.makedirs(os.path.join(FOLDER, 'here'), exist_ok=True)
    return make_agent(cases)


def are_folders_permitted():
    return is_permitted('unshare', '--mount', 'sh', '-c', 'mount --bind /tmp /tmp')


def left():
    return [f for folder in [*AHEAD, 'here'] for f in os.listdir(os.path.join(FOLDER, folder))
            if f.endswith('.part') or f.endswith('.tmp')]


def test_fetched():
    """The parts are fetched, in more than one piece, and go where they were."""
    if not are_folders_permitted():
        raise Skipped('without the right to make a mount namespace')
    agent = folders()
    file = os.path.join(FOLDER, 'here', 'fetched.pb')
    status, _, err = run('-n', 3, '--hosts', 'a:2,b:1', *agent, '-x', 'COHORT_TRACE=' + file,
                         MEMBER, 'many')
    check_equal((status, err), (0, ''))
    text = report(file)
    check(re.match(r'job trace_member: 3 localities .* events\n', text), text)
    check_equal(left(), [])
    tasks = re.findall(r'^ +nothing \(locality (\d)\)', text, re.M)
    check_equal(sorted(tasks), ['0', '1', '2'])
    check(os.path.getsize(file) > 3 << 20, os.path.getsize(file))


def test_killed():
    """What one had not written is in the ledger that its daemon holds."""
    if not are_folders_permitted():
        raise Skipped('without the right to make a mount namespace')
    agent = folders()
    file = os.path.join(FOLDER, 'here', 'killed.pb')
    status, _, err = run('-n', 4, '--hosts', 'a:2,b:2', *agent, '-x', 'COHORT_TRACE=' + file,
                         MEMBER, 'killed')
    check(status != 0 and 'COHORT_TRACE' not in err, err)
    text = report(file)
    check('locality 1 has not come to its end' in text, text)
    check('4 localities' in text, text)
    check(re.search(r'^ +killed \(locality 1\)', text, re.M), text)
    check_equal(left(), [])


def test_lost():
    """A daemon that is killed sends nothing. Its parts stay where they are."""
    if not are_folders_permitted():
        raise Skipped('without the right to make a mount namespace')
    agent = folders()
    file = os.path.join(FOLDER, 'here', 'lost.pb')
    status, _, err = run('-n', 3, '--hosts', 'a:2,b:1', *agent, '-x', 'COHORT_TRACE=' + file,
                         MEMBER, 'lost')
    check(status != 0, status)
    check('COHORT_TRACE: %s has only 2 of 3 localities' % file in err, err)
    check('of the job\'s 3 localities 1 are not in the trace' in report(file))
    check_equal(left(), ['lost.pb.2.part'])
    os.unlink(os.path.join(FOLDER, 'b', 'lost.pb.2.part'))


if not are_clocks_permitted() and not are_folders_permitted():
    sys.exit(77)
try:
    jobs.run_cases(globals(), 'test_', CHOSEN)
finally:
    shutil.rmtree(FOLDER)
