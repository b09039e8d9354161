#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cohortrun on several hosts. The agents that reach them start the daemon on this host. What
applies to all localities is tested by launcher_test.py --far. Usage: hosts_test.py COHORTRUN MEMBER
[case...]"""
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import jobs
from jobs import TIMEOUT, Job, check, check_equal, children_of, pause, read_proc, run

MEMBER = sys.argv[2]
NONSENSE = os.path.join(os.path.dirname(os.path.abspath(MEMBER)), 'nonsense_member')
HERE = ['--listen', '127.0.0.1']
AGENT = ['--agent', 'env COHORT_TEST_HOST={host}']
TWO = ['--hosts', 'a:2,b:2'] + HERE + AGENT
QUICK = ['--heartbeat', '0.1', '--heartbeat-timeout', '0.6']


def check_lines(got, want):
    check_equal(sorted(got.splitlines()), sorted(want))


class Gate:
    """An agent that records what it was given, and then waits for permission to continue."""

    def __init__(self, folder, hosts):
        self.folder = folder
        self.script = os.path.join(folder, 'agent')
        with open(self.script, 'w') as f:
            f.write('read -r line; echo "$line" >"$0.said.$1"; read -r go <"$0.go.$1"; shift; '
                    'echo "$line" | "$@"\n')
        for host in hosts:
            os.mkfifo('%s.said.%s' % (self.script, host))
            os.mkfifo('%s.go.%s' % (self.script, host))
        self.options = ['--agent', 'sh %s {host}' % self.script]

    def read(self, host):
        """The key and the port."""
        with open('%s.said.%s' % (self.script, host)) as f:
            words = f.read().split()
        check_equal((words[0], words[6]), ('cohort-node', '127.0.0.1'))
        return words[1], int(words[5])

    def let_go(self, host):
        with open('%s.go.%s' % (self.script, host), 'w') as f:
            f.write('go\n')


def test_rumour():
    """Of two hosts the first one is to stay, so who accuses a locality of it is ended; but not for
    one that has died itself."""
    status, out, err = run('-n', 3, '--hosts', 'a:1,b:2', *HERE, *AGENT, '--grace', 0.5,
                           '--keep-going', MEMBER, 'rumour', 2, 0)
    check(re.fullmatch(r'cohortrun: locality 0 \(pid \d+\) on host a was killed by signal 9 '
                       r'\(Killed\); 2 go on\n', err), err)
    check_equal(status, 0)
    check_equal(out.count('told that 0 died'), 2)


def test_quarrel():
    """Who sends nonsense is ended, whichever host it is on; of two who say the same of each other
    the higher one."""
    for what, back, victim in [('fault', 'nothing', 0), ('nothing', 'fault', 2),
                               ('fault', 'lost', 0), ('lost', 'fault', 2),
                               ('fault', 'fault', 2), ('lost', 'lost', 2), ('lost', 'nothing', 2),
                               ('nothing', 'lost', 2)]:
        grace = 0.1 if 'nothing' in (what, back) else 1 # both have to say it in this time
        args = ('-n', 3, '--hosts', 'a:1,b:2', *HERE, *AGENT, '--grace', grace)
        says = r'locality \d says that locality \d (?:has sent nonsense|can\'t be reached)'
        status, out, err = run(*args, '--keep-going', MEMBER, 'quarrel', 2, 0, what, back)
        check(re.fullmatch(r'cohortrun: locality %d \(pid \d+\) on host . was killed by signal 9 '
                           r'\(Killed\), since %s; 2 go on\n' % (victim, says), err),
              what, back, err)
        check_equal((status, out.count('told that %d died' % victim)), (0, 2))


def test_quarrel_ends():
    """Where the job does not go on, it names the one that is at fault."""
    status, out, err = run('-n', 2, '--hosts', 'a:1,b:1', *HERE, *AGENT, '--grace', 0.3, MEMBER,
                           'quarrel', 1, 0, 'fault', 'nothing')
    check(re.match(r'cohortrun: locality 0 \(pid \d+\) on host a is given up, since locality 1 '
                   r'says that locality 0 has sent nonsense\n', err), err)
    check_equal(status, 1)


def test_nonsense():
    """Of two hosts the first one sends the second one nonsense, and the second one goes on."""
    for options, how in [([], r'is given up'),
                         (['--keep-going'], r'was killed by signal 9 \(Killed\)')]:
        status, out, err = run('-n', 3, '--hosts', 'a:1,b:2', *HERE, *AGENT, '--grace', 1,
                               '--workers', 1, *options, NONSENSE)
        check(re.match(r'cohortrun: locality 0 \(pid \d+\) on host a %s, since locality 2 says '
                       r'that locality 0 has sent a registry message that is lost here: ' % how,
                       err), err)
        check_equal(status, 0 if options else 1)
        check_equal(len(re.findall(r'^[12] ends with COHORT_ERR_PEER_DIED: .*locality 0 ', out,
                                   re.M)), 2)


def test_wrong_options():
    for args, why in [
            (['--hosts', ''], '--hosts: a host has no name'),
            (['--hosts', 'a,,b'], '--hosts: a host has no name'),
            (['--hosts', 'a:0'], "'0' is no number of slots"),
            (['--hosts', 'a:'], "'' is no number of slots"),
            (['--hosts', 'a:b'], "'b' is no number of slots"),
            (['--hosts', 'a:5000'], "'5000' is no number of slots from 1 to 4096"),
            (['--hosts', '-oProxyCommand=x'], "'-oProxyCommand=x' is no name of a host"),
            (['--hosts', 'a;b'], "'a;b' is no name"),
            (['--hosts', '$(b)'], "'$(b)' is no name"),
            (['--hosts', 'a', '--hosts', 'b'], 'given twice'),
            (['--hosts', 'a', '--hostfile', 'b'], 'given twice, or both'),
            (['-n', '5', '--hosts', 'a:2,b:2'], '5 localities, where the hosts have 4 slots'),
            (['--hosts', 'a:4096,b:2'], '4098 localities, where'),
            (['--hosts', 'a', '--agent', 'x'], "--agent 'x' has no {host} in it"),
            (['--hosts', 'a', '--listen', ''], "--listen needs an address, not ''"),
            (['--agent', '{host}', '-n', '1'], '--agent and --listen need --hosts'),
            (['--hosts', 'a', '--heartbeat', '0'], "--heartbeat needs seconds above 0, not '0'"),
            (['--hosts', 'a', '--heartbeat-timeout=x'], "--heartbeat-timeout needs seconds"),
            (['--hosts', 'localhost,127.0.0.1'], 'localhost and 127.0.0.1 are both this host'),
            (['--hosts', 'a', '--heartbeat', '9'], '--heartbeat-timeout has to be twice')]:
        status, out, err = run(*args, 'true')
        lines = err.splitlines()
        check((status, out, len(lines)) == (2, '', 3) and why in lines[0], args, err)


def test_hostfile():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'hosts')
        for text, why in [('a slot=2', "1: 'slot=2' where only slots=N and levels=LEVEL=GROUP"),
                          ('# none\n\n', ' names no host'),
                          ('a\nb slots=2 c', "2: 'c' where only "),
                          ('a slots=2 slots=2', "1: 'slots=2' where only "),
                          ('a levels=', '1: levels= without levels'),
                          ('a levels=rack', '1: levels=rack is not NAME=GROUP,'),
                          ('a levels=host=1', "1: levels=host=1 is wrong: a level can't have the "),
                          ('a levels=a=1\na levels=a=2', '2: host a has the levels a=1 and a=2'),
                          ('a levels=a=1\nb slots=2', ' host a has the level a, and host b has no '
                           'levels: all need the same in the same order'),
                          ('a\n\nb slots=', "3: '' is no number of slots"),
                          ('a/b', "1: 'a/b' is no name of a host")]:
            with open(path, 'w') as f:
                f.write(text)
            status, out, err = run('--hostfile', path, 'true')
            sep = '' if why == ' names no host' else ':'
            check(status == 2 and '--hostfile: ' + path + sep + why in err, text, err)
        status, out, err = run('--hostfile', path + '.none', 'true')
        check(status == 2 and 'hosts.none: No such file or directory' in err, err)
        with open(path, 'w') as f:
            f.write('# comment\n\n  a slots=2 # here\nb\r\na')
        status, out, err = run('--hostfile', path, *HERE, *AGENT, MEMBER, 'place')
    check_equal((status, err), (0, ''))
    check_lines('\n'.join(re.findall(r'\d is .*', out)),
                ['%d is %d of 3 on host 0 of 2 at 127.0.0.1' % (r, r) for r in range(3)] +
                ['3 is 0 of 1 on host 1 of 2 at 127.0.0.1'])


def test_levels():
    """Each host's levels from the hostfile, also those of this one, go before a variable."""
    shown = ['-x', 'COHORT_LEVELS=x=1', 'sh', '-c', 'echo "$COHORT_LOCALITY $COHORT_LEVELS"']
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'hosts')
        with open(path, 'w') as f:
            f.write('b slots=2 levels=switch=s0,rack=r\na levels=switch=s1,rack=r slots=2\n'
                    'a slots=1\n')
        status, out, err = run('--hostfile', path, *HERE, *AGENT, *shown)
        check_equal((status, err), (0, ''))
        check_lines(out, ['%d switch=s%d,rack=r' % (rank, rank > 1) for rank in range(5)])
        with open(path, 'w') as f:
            f.write('localhost slots=2 levels=switch=s0\n')
        status, out, err = run('--hostfile', path, *shown)
        check_equal((status, err), (0, ''))
        check_lines(out, ['%d switch=s0' % rank for rank in range(2)])


def test_fewer():
    """-n below the number of slots: the hosts are filled in order, and the last one is not used."""
    status, out, err = run('-n', 3, '--hosts', 'a:2,b:2,c:2', *HERE, *AGENT, MEMBER, 'place')
    check_equal((status, err), (0, ''))
    check_lines('\n'.join(re.findall(r'\d is .*', out)),
                ['0 is 0 of 2 on host 0 of 2 at 127.0.0.1',
                 '1 is 1 of 2 on host 0 of 2 at 127.0.0.1',
                 '2 is 0 of 1 on host 1 of 2 at 127.0.0.1'])


def test_only_shared_memory():
    status, out, err = run(*TWO, '-x', 'COHORT_NET=shm', os.path.join(
        os.path.dirname(MEMBER), 'coll_member'), 'silent')
    check_equal((status, out), (1, ''))
    check('COHORT_NET is shm, but the job has 2 hosts, which share no memory\n' in err, err)


def test_ways_to_name_a_host():
    """Slots behind a name also in a file, and addresses with colons in them."""
    for names, num in (('[::1]:2', 2), ('::1', 1), ('[::1]', 1)):
        status, out, err = run('--hosts', names, 'sh', '-c', 'echo $COHORT_LOCALITIES')
        check_equal((status, out, err), (0, ('%d\n' % num) * num, ''))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'hosts')
        with open(file, 'w') as f:
            f.write('localhost:2 # two\n')
        check_equal(run('--hostfile', file, 'echo', 'x'), (0, 'x\nx\n', ''))
    for names, why in (('[::1]x:3', "'[::1]x:3' is no name of a host"),
                       ('[::1', "':1' is no number of slots"),
                       ('[]:2', 'a host has no name')):
        status, _, err = run('--hosts', names, 'true')
        check(status == 2 and why in err, names, err)


def taken(hosts, variables, *options):
    """What cohortrun says where a batch system has set VARIABLES. HOSTS: that of each locality."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        status, out, err = run(*options, *HERE, MEMBER, 'place')
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    places = sorted(re.findall(r'(\d) is \d of \d on host (\d)', out))
    check_equal((status, [int(host) for _, host in places]), (0, hosts))
    return err


def test_allocation():
    """The hosts of a batch system are those of the job, and a line says so."""
    with tempfile.TemporaryDirectory() as folder:
        file, scontrol = os.path.join(folder, 'nodes'), os.path.join(folder, 'scontrol')
        with open(file, 'w') as f:
            f.write('a\na\nb\n')
        with open(scontrol, 'w') as f:
            f.write('#!/bin/sh\ntest "$*" = "show hostnames b[1-2]x" && printf "b1x\\nb2x\\n"\n')
        with open(os.path.join(folder, 'srun'), 'w') as f:
            f.write('#!/bin/sh\nwhile test "$1" != -w; do shift; done\nshift 2; exec "$@"\n')
        os.chmod(scontrol, 0o755)
        os.chmod(os.path.join(folder, 'srun'), 0o755)
        line = 'cohortrun: %s: 3 localities on %s; --hosts would name others\n'
        check_equal(taken([0, 0, 1], {'PBS_NODEFILE': file}, *AGENT),
                    line % ('PBS_NODEFILE', 'a:2,b:1'))
        check_equal(taken([0, 1, 1], {'LSB_HOSTS': 'a b b'}, *AGENT),
                    line % ('LSB_HOSTS', 'a:1,b:2'))
        slurm = {'SLURM_JOB_NODELIST': 'b[1-2]x', 'SLURM_TASKS_PER_NODE': '2(x2)',
                 'PATH': folder + ':' + os.environ['PATH']}
        check_equal(taken([0, 0, 1], slurm, '-n', 3), line % ('SLURM_JOB_NODELIST', 'b1x:2,b2x:1'))
        check_equal(taken([0, 1], {'LSB_HOSTS': 'a b b'}, '--hosts', 'c,d', *AGENT), '')
        os.environ['LSB_HOSTS'] = 'a b'
        status, _, err = run('-n', 3, 'true')
        del os.environ['LSB_HOSTS']
        check_equal(status, 2)
        check('LSB_HOSTS: 3 localities, where the hosts have 2 slots' in err, err)
        # One that is this host is no restriction.
        os.environ['LSB_HOSTS'] = 'localhost'
        try:
            check_equal(run('-n', 2, 'true'), (0, '', ''))
        finally:
            del os.environ['LSB_HOSTS']


def test_this_host():
    """Needs no agent, unless one is given."""
    status, out, err = run('--hosts', 'localhost:2', MEMBER, 'place')
    check_equal((status, err), (0, ''))
    check('1 is 1 of 2 on host 0 of 1 at 127.0.0.1' in out, out)
    status, out, err = run('--hosts', 'localhost:2', '--agent', 'echo no {host}; false', 'true')
    check(status == 126 and 'host localhost: no localhost\n' in err, status, err)


def test_ssh():
    """The agent that is used by default, and a part of the job on this host. The other host has an
    address for documentation, so that no name server is asked."""
    with tempfile.TemporaryDirectory(suffix=" isn't simple") as folder:
        cohortrun = os.path.join(folder, 'cohortrun')
        shutil.copy(jobs.COHORTRUN, cohortrun)
        with open(os.path.join(folder, 'ssh'), 'w') as f: # the other host's shell reads it again
            f.write('#!/bin/sh\ntest "$*" = "${*#-o BatchMode=yes 192.0.2.1 }" && exit 9\n'
                    'shift 3\nexec sh -c "$*"\n')
        os.chmod(os.path.join(folder, 'ssh'), 0o755)
        env = dict(os.environ, PATH=folder + ':' + os.environ['PATH'])
        done = subprocess.run([cohortrun, '--hosts', 'localhost,192.0.2.1:2'] + HERE +
                              [MEMBER, 'place'], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIMEOUT)
    check_equal((done.returncode, done.stderr), (0, b''))
    check_lines('\n'.join(re.findall(r'\d is .*', done.stdout.decode())),
                ['0 is 0 of 1 on host 0 of 2 at 127.0.0.1',
                 '1 is 0 of 2 on host 1 of 2 at 127.0.0.1',
                 '2 is 1 of 2 on host 1 of 2 at 127.0.0.1'])


def test_many_hosts():
    """More callers than may connect at a time before they are known."""
    names = ','.join('h%d' % i for i in range(80))
    status, out, err = run('--hosts', names, *HERE, *AGENT, 'sh', '-c', 'echo $COHORT_LOCALITY')
    check_equal((status, err), (0, ''))
    check_equal(sorted(int(word) for word in out.split()), list(range(80)))


def test_handed_on():
    """Directory, arguments and environment are those of cohortrun, however long they are."""
    program = 'pwd; printf "%s|" "$@"; echo; echo "$COHORT_TEST_HOST,${#COHORT_LONG},$COHORT_ODD"'
    with tempfile.TemporaryDirectory() as folder:
        status, out, err = run(*TWO, '-x', 'COHORT_LONG=' + 'x' * 100000, '-x',
                               'COHORT_ODD=a b\n"$(c)"', 'sh', '-c', program, 'sh', "it's", '',
                               'a b',
                               cwd=folder)
        check_equal((status, err), (0, ''))
        check_equal(out.count(folder + '\n'), 4)
    check_equal(out.count("it's||a b|\n"), 4)
    check_equal(out.count(',100000,a b\n"$(c)"\n'), 4)


def test_agent_fails():
    status, out, err = run('--hosts', 'a,b', *HERE, '--agent', 'echo not {host} >&2; exit 7;',
                           'true')
    check_equal((status, out), (126, ''))
    check('cohortrun: host a: not a\n' in err or 'cohortrun: host b: not b\n' in err, err)
    check(re.search(r"cohortrun: host [ab]: agent 'echo not [ab] >&2; exit 7;' exited with "
                    r"status 7\n", err), err)


def test_no_answer():
    status, out, err = run('--hosts', 'a,b', *HERE, '--connect-timeout', '0.3', '--agent',
                           'sleep 1000; echo {host}', 'true')
    check_equal((status, out, err), (126, '', 'cohortrun: hosts a, b: no answer within 0.3 s\n'))
    status, out, err = run('--hosts', 'a', *HERE, '--timeout', '0.3', '--agent',
                           'sleep 1000; echo {host}', 'true')
    check_equal((status, out, err), (
        124, '', 'cohortrun: timeout after 0.3 s, no answer from: a\n'))


def test_interrupted_start():
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(folder, 'a')
        job = Job('--hosts', 'a', *HERE, *gate.options, 'true')
        gate.read('a')
        job.process.send_signal(signal.SIGINT)
        check_equal(job.finish(), (130, '', ''))


def test_unknown_name():
    name = 'x' * 64 # too long to ask a name server for
    status, out, err = run('--hosts', name, 'true')
    check(status == 126 and 'cohortrun: host %s: ' % name in err and '--listen' in err, err)
    status, out, err = run('--hosts', 'a', '--listen', name, *AGENT, 'true')
    check(status == 126 and 'cohortrun: host a: --listen: %s: ' % name in err, err)
    for address in '0.0.0.0', '::', '192.0.2.1':
        status, out, err = run('--hosts', 'a', '--listen', address, *AGENT, 'true')
        check_equal((status, err), (126, 'cohortrun: host a: --listen: %s is no address of '
                                    'this host\n' % address))


READY = 'sleep 1000 & setsid sleep 1000 & echo ready; wait'


def start_ready(*options):
    job = Job(*TWO, *options, 'sh', '-c', READY)
    check_equal(job.read_lines(4), ['ready\n'] * 4)
    return job


def check_lost(job, why):
    """The pid may arrive after the first line of output, and so too late."""
    status, out, err = job.finish()
    check(status == 137, status, err)
    check(re.search(r'cohortrun: locality [23]( \(pid \d+\))? on host b is lost: ' + why, err), err)


def test_daemon_killed():
    job = start_ready()
    os.kill(job.daemon_of('b'), signal.SIGKILL)
    # A daemon that dies with unread data resets its connections, and its agent ends with it.
    check_lost(job, '(the connection was closed|.*connection reset by peer|agent .* status 137)\n')


def catches(pid, number):
    caught = re.search(rb'SigCgt:\s*([0-9a-f]+)', read_proc(pid, 'status'))
    return caught and int(caught[1], 16) >> (number - 1) & 1


def await_catching(job, rank, number):
    """Waits until the program of locality RANK, a script, catches the signal."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        check(time.monotonic() < deadline, 'signal', number, 'is not caught')
        pause()
        for pid in job.processes():
            environment = read_proc(pid, 'environ').split(b'\0')
            if read_proc(pid, 'cmdline').startswith(b'sh\0') and catches(pid, number) and \
                    b'COHORT_LOCALITY=%d' % rank in environment:
                return


def test_starts_in_part():
    """A host has too few open files for the last of its localities. Those that were started get
    TERM, as on this host. To be sure that they catch it by then, cohortrun is stopped meanwhile,
    and the host's daemon before cohortrun tells it to start anything."""
    program = ('exec 2>/dev/null; trap "echo TERM; exit" TERM; echo here; '
               'while :; do sleep 0.1; done')
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(folder, 'ab')
        agent = 'ulimit -n 92; env COHORT_TEST_HOST={host} ' + gate.options[1]
        job = Job('-n', 16, '--hosts', 'a:1,b:15', '--heartbeat-timeout', TIMEOUT, *HERE,
                  '--agent', agent, 'sh', '-c', program)
        for host in 'ab':
            gate.read(host)
        gate.let_go('b')
        awaited = ''
        while awaited != 'cohortrun: no answer so far from: a\n':
            job.process.send_signal(signal.SIGQUIT)
            awaited = job.process.stderr.readline().decode()
        os.kill(job.daemon_of('b'), signal.SIGSTOP)
        gate.let_go('a')
        check_equal(job.read_lines(1), ['here\n'])
        job.process.send_signal(signal.SIGSTOP)
        os.kill(job.daemon_of('b'), signal.SIGCONT)
        await_catching(job, 1, signal.SIGTERM)
        job.process.send_signal(signal.SIGCONT)
        status, out, err = job.finish()
    check_equal(status, 126)
    check(out.count('TERM\n') >= 2, out)
    check(re.fullmatch(r'(cohortrun: no answer so far from: a\n)*cohortrun: host b: cannot start '
                       r'the localities there: cannot start locality \d+: its connections: Too '
                       r'many open files\n', err), err)


def test_no_folder():
    """The folder of cohortrun is not there on the other host, which sees an empty one above it."""
    apart = ['unshare', '--map-root-user', '--mount']
    with tempfile.TemporaryDirectory() as folder:
        hide = 'mount -t tmpfs none %s' % folder
        if subprocess.run(apart + hide.split(), stderr=subprocess.DEVNULL).returncode:
            raise jobs.Skipped('no mounts of its own')
        agent = '%s sh -c \'%s && exec "$@"\' {host}' % (' '.join(apart), hide)
        there = os.path.join(folder, 'there')
        os.mkdir(there)
        before = os.getcwd()
        os.chdir(there)
        try:
            status, out, err = run('--hosts', 'b:2', *HERE, '--agent', agent, 'true')
        finally:
            os.chdir(before)
    check_equal((status, out), (126, ''))
    check_equal(err, 'cohortrun: host b: cannot start the localities there: cannot enter %s: No '
                'such file or directory\n' % there)


def test_agent_killed():
    """Kills the guardian of the agent, and the agent itself."""
    job = start_ready()
    guardians = children_of(job.process.pid)
    check_equal(len(guardians), 2)
    os.kill(guardians[1], signal.SIGKILL)
    check_lost(job, '.*\n')
    job = Job('--hosts', 'a:2,b:2', *HERE, '--agent', 'true; env COHORT_TEST_HOST={host}', 'sh',
              '-c', READY)
    check_equal(job.read_lines(4), ['ready\n'] * 4)
    guardian = children_of(job.process.pid)[1]
    os.kill(children_of(guardian)[0], signal.SIGKILL)
    check_lost(job, ".*\n")


def test_launcher_killed():
    job = start_ready()
    job.await_processes(1 + 2 * 2 + 4 * 4) # cohortrun; agents, daemons; guardians, programs
    job.process.kill()
    job.process.wait()
    job.check_nothing_left(wait=True)


def test_launcher_killed_early():
    """While agents start, daemons connect and localities start: after each number of processes."""
    for num in range(1, 16):
        job = Job(*TWO, 'sh', '-c', READY)
        job.await_processes(num)
        job.process.kill()
        job.process.wait()
        job.check_nothing_left(wait=True)


def test_daemon_silent():
    job = start_ready(*QUICK)
    os.kill(job.daemon_of('b'), signal.SIGSTOP)
    check_lost(job, 'it has been silent for 0.6 s\n')


def test_launcher_silent():
    """The daemons end what they have started, although cohortrun's end of the connection stays
    open."""
    job = start_ready(*QUICK)
    daemons = [job.daemon_of(host) for host in 'ab']
    localities = [c for d in daemons for g in children_of(d) for c in children_of(g)]
    check_equal(len(localities), 4)
    os.kill(job.process.pid, signal.SIGSTOP)
    for pid in localities + daemons:
        jobs.wait_for_end(pid)
    os.kill(job.process.pid, signal.SIGCONT)
    check(job.finish()[0] == 137)


def test_busy_is_not_silent():
    """A program that accepts no other connection for a long time is alive."""
    status, out, err = run(*TWO, *QUICK, sys.executable, '-c',
                           'import time\nend = time.monotonic() + 1.5\n'
                           'while time.monotonic() < end: pass')
    check_equal((status, out, err), (0, '', ''))


def test_key_is_secret():
    """The key is in no command line and in no environment."""
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(folder, 'ab')
        job = Job('--hosts', 'a:2,b:2', *HERE, *gate.options, 'sh', '-c',
                  'echo ready; exec sleep 1000')
        keys = []
        for host in 'ab':
            keys.append(gate.read(host)[0])
            gate.let_go(host)
        check(re.fullmatch('[0-9a-f]{64}', keys[0]) and keys[0] == keys[1], keys)
        check_equal(job.read_lines(4), ['ready\n'] * 4) # from now on no process starts or ends
        num_read = 0
        for pid in job.processes() + [job.process.pid]:
            for name in 'cmdline', 'environ':
                content = read_proc(pid, name)
                check(keys[0].encode() not in content.lower(), pid, name)
                num_read += content != b''
        check(num_read >= 2 * 9, 'only', num_read) # launcher, agents, daemons, localities...
        job.process.send_signal(signal.SIGINT)
        check_equal(job.finish()[0], 128 + signal.SIGINT)


def listening_at(port):
    """The addresses, as the kernel writes them."""
    found = []
    for name in '/proc/net/tcp', '/proc/net/tcp6':
        with open(name) as f:
            for line in f.readlines()[1:]:
                words = line.split()
                if words[3] == '0A' and int(words[1].split(':')[1], 16) == port:
                    found.append(words[1].split(':')[0])
    return found


def message(data):
    return struct.pack('<I', len(data)) + data


def test_strangers():
    """A caller without the key is disconnected, and does not disturb the job."""
    offer = b'COHORTR\6' + struct.pack('<I', 0) + b'r' * 32
    talks = [(b'GET / HTTP/1.0\r\n\r\n', 'allowed'),
             (message(b'x' * 40), 'it is no node daemon, or one of another version'),
             (message(offer[:-1]), 'it is no node daemon'),
             (message(b'COHORTR\1' + offer[8:]), 'it is no node daemon, or one of another version'),
             (message(offer[:8] + struct.pack('<I', 7) + offer[12:]), 'no host that is awaited'),
             (message(offer) + message(b'p' * 32), "it has not got the job's key"),
             (message(offer) + message(b''), "it has not got the job's key"),
             (message(offer)[:20], 'ended within a message'),
             (b'', 'the connection was closed')]
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(folder, 'ab')
        job = Job('--hosts', 'a:2,b:2', *HERE, *gate.options, MEMBER)
        port = gate.read('a')[1]
        check_equal(gate.read('b')[1], port)
        check_equal(listening_at(port), ['0100007F'])
        gate.let_go('b') # so one daemon has connected, and is not disturbed
        for talk, _ in talks:
            with socket.create_connection(('127.0.0.1', port), TIMEOUT) as stranger:
                stranger.sendall(talk)
                if len(talk) < 30:
                    stranger.shutdown(socket.SHUT_WR)
                try:
                    while stranger.recv(1000): # the challenge, and then the end
                        pass
                except ConnectionResetError: # disconnected with unread data
                    pass
        idle = socket.create_connection(('127.0.0.1', port), TIMEOUT)
        gate.let_go('a')
        status, out, err = job.finish()
        idle.close()
    check_equal((status, len(out.splitlines())), (0, 4))
    lines = err.splitlines()
    check_equal(len(lines), len(talks))
    for line, (_, why) in zip(lines, talks):
        check(line.startswith('cohortrun: connection from 127.0.0.1:') and why in line, line)
    check_equal(listening_at(port), [])


def test_many_strangers():
    """Callers that send nothing, or only what any caller could send, don't take the daemons'
    places."""
    offer = b'COHORTR\6' + struct.pack('<I', 0) + b'r' * 32
    for talk in (b'', message(offer)):
        with tempfile.TemporaryDirectory() as folder:
            gate = Gate(folder, 'ab')
            job = Job('--hosts', 'a:2,b:2', *HERE, *gate.options, MEMBER)
            port = gate.read('a')[1]
            gate.read('b')
            strangers = []
            for _ in range(150):
                stranger = socket.create_connection(('127.0.0.1', port), TIMEOUT)
                stranger.sendall(talk)
                if talk:
                    check_equal(len(stranger.recv(4 + 64, socket.MSG_WAITALL)), 4 + 64)
                strangers.append(stranger)
            gate.let_go('a')
            gate.let_go('b')
            status, out, err = job.finish()
            for stranger in strangers:
                stranger.close()
        check_equal((status, len(out.splitlines())), (0, 4))
        lines = err.splitlines()
        check_equal(len(lines), 10)
        for line in lines:
            check(line.startswith('cohortrun: connection from 127.0.0.1:') and
                  'too many others have called since' in line, line)


def test_false_launcher():
    """A daemon tells nothing to a caller without the key."""
    server = socket.create_server(('127.0.0.1', 0))
    line = 'cohort-node %s 0 1000000000 2000000000 %d 127.0.0.1\n' % ('ab' * 32,
                                                                      server.getsockname()[1])
    daemon = subprocess.Popen([jobs.COHORTRUN, '--node'], stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    daemon.stdin.write(line.encode())
    daemon.stdin.flush()
    connection, _ = server.accept()
    offer = connection.recv(1000)
    check_equal((len(offer), offer[4:12]), (4 + 44, b'COHORTR\6'))
    connection.sendall(message(b'c' * 64))
    check_equal(connection.recv(1000), b'')
    out, err = daemon.communicate(timeout=TIMEOUT)
    check_equal((daemon.returncode, err), (1, b"node daemon: it has not got the job's key\n"))
    for data, why in ((b'', b'says nothing'), (b'hello\n', b'does not begin as cohortrun would')):
        done = subprocess.run([jobs.COHORTRUN, '--node'], input=data, stderr=subprocess.PIPE,
                              timeout=TIMEOUT)
        check(done.returncode == 1 and why in done.stderr, done)


jobs.run_cases(globals())
