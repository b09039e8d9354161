#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cohort programs under Slurm, on two hosts with network stacks of their own (namespaces.py).
Usage: slurm_test.py COHORTRUN BUILD [case...], with the root of the build.

Status 77: something of Slurm is missing, or such hosts are not permitted. All that runs belongs to
a process namespace that ends with the test: munged, slurmctld and two slurmd are started here, with
a configuration, a key and folders that are gone afterwards, too."""
import glob
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
CPUS = 4  # of each host, as Slurm is told
NEEDED = {'munged': 'munge', 'slurmctld': 'slurmctld', 'slurmd': 'slurmd', 'srun': 'slurm-client'}
PLUGINS = {'mpi_pmix.so': 'slurm-wlm-basic-plugins'}
FOLDER = '/run/slurm'
BUILD = os.path.abspath(sys.argv[2])
STORM = os.path.join(BUILD, 'tests/multi/storm_member')
MAIN = os.path.join(BUILD, 'tests/multi/main_member')
COLL = os.path.join(BUILD, 'tests/multi/coll_member')
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
# The limit of Slurm's own for a fence is 300 s. A job that is broken has to end long before.
SOON = 60
# One locality on each host, which is the usual layout, and two.
LAYOUTS = ([2, ['-N', '2', '-n', '2']], [4, ['-N', '2', '-n', '4', '--ntasks-per-node', '2']])

CONFIGURATION = '''ClusterName=cohort
SlurmctldHost=%(controller)s(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
TaskPluginParam=None
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=%(folder)s/state
SlurmdSpoolDir=/run/tmp/spool
TmpFS=/run/tmp
SlurmctldPidFile=%(folder)s/slurmctld.pid
SlurmdPidFile=/run/tmp/slurmd.pid
SlurmctldLogFile=%(folder)s/log.slurmctld
SlurmdLogFile=%(folder)s/log.%%n
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=1,batch_sched_delay=0
PartitionName=all Nodes=%(hosts)s Default=YES MaxTime=INFINITE State=UP
'''
HOST = ('NodeName=%(name)s NodeAddr=10.77.0.%(last)d NodeHostname=%(name)s CPUs=%(cpus)d Boards=1 '
        'SocketsPerBoard=1 CoresPerSocket=%(cpus)d ThreadsPerCore=1\n')


def missing():
    """The Debian packages that would have to be installed."""
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    lacking = [package for program, package in NEEDED.items() if not shutil.which(program)]
    lacking += [package for plugin, package in PLUGINS.items()
                if not glob.glob('/usr/lib*/*/slurm*/' + plugin)
                and not glob.glob('/usr/lib*/slurm*/' + plugin)]
    return lacking


def start(name, *command):
    """A server, which the end of this test's namespace ends."""
    with open(os.path.join(FOLDER, 'out.' + name), 'wb') as out:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                stderr=subprocess.STDOUT)


def await_answer(what, wanted, *command):
    deadline = time.monotonic() + jobs.TIMEOUT
    while time.monotonic() < deadline:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False)
        if done.returncode == 0 and wanted(done.stdout.decode()):
            return
    for path in sorted(glob.glob(FOLDER + '/log.*') + glob.glob(FOLDER + '/out.*')):
        with open(path, errors='replace') as log:
            print('== %s\n%s' % (path, log.read()[-2000:]), file=sys.stderr)
    sys.exit(what + ' does not come')


def name_hosts():
    """In a file that is seen from here only."""
    with open(FOLDER + '/hosts', 'w') as hosts:
        hosts.write('127.0.0.1 localhost\n10.77.0.1 %s\n' % os.uname().nodename)
        for i, name in enumerate(HOSTS):
            hosts.write('10.77.0.%d %s\n' % (2 + i, name))
    namespaces.command('mount --bind %s/hosts /etc/hosts' % FOLDER)


def start_munge():
    folder, socket = '/run/munge', '/run/munge/munge.socket.2'
    os.mkdir(folder, 0o755)
    with open(folder + '/key', 'wb') as key:
        key.write(os.urandom(128))
    os.chmod(folder + '/key', 0o400)
    start('munged', 'munged', '--foreground', '--force', '--key-file', folder + '/key',
          '--socket', socket, '--log-file', folder + '/log', '--pid-file', folder + '/pid',
          '--seed-file', folder + '/seed')
    await_answer('munged', lambda text: True, 'munge', '-n')


def start_slurm():
    """Both hosts are ready when it returns."""
    with open(FOLDER + '/slurm.conf', 'w') as conf:
        conf.write(CONFIGURATION % {'controller': os.uname().nodename, 'folder': FOLDER,
                                    'hosts': ','.join(HOSTS)})
        for i, name in enumerate(HOSTS):
            conf.write(HOST % {'name': name, 'last': 2 + i, 'cpus': CPUS})
    with open(FOLDER + '/cgroup.conf', 'w') as conf:
        conf.write('CgroupPlugin=cgroup/v1\n')  # `ip netns exec` has hidden the mounts of others
    os.environ['SLURM_CONF'] = FOLDER + '/slurm.conf'
    start('slurmctld', 'slurmctld', '-D', '-c')
    for name in HOSTS:
        os.mkdir('/run/tmp-%s/spool' % name)
        start(name, jobs.HOSTS_AGENT, name, 'slurmd -D -N ' + name)
    await_answer('a host', lambda text: text.split() == ['idle'] * len(HOSTS),
                 'sinfo', '-h', '-N', '-o', '%T')


class Step:
    """A program of Slurm that starts processes."""

    def __init__(self, *command, **env):
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=dict(os.environ, **env))

    def finish(self, seconds=SOON):
        """Status, stdout and stderr without what Slurm says of queues."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise jobs.Failed('it does not end within %d s' % seconds)
        err = re.sub(r'(srun|salloc): ([jJ]ob|Granted|Relinquishing|Nodes|Pending) .*\n', '',
                     err.decode())
        check_nothing_left()
        return self.process.returncode, out.decode(), err


def check_nothing_left():
    """Slurm ends its steps after srun, and this waits for that."""
    await_answer('the end of all jobs', lambda text: not text, 'squeue', '-h')
    programs = (STORM, MAIN, COLL)
    left = [pid for pid in os.listdir('/proc') if pid.isdigit()
            and any(jobs.is_running(int(pid), program) for program in programs)]
    check_equal(left, [])


def srun(layout, *command, **env):
    return Step('srun', '--mpi=pmix', *layout, *command, **env).finish()


def test_collectives():
    for size, layout in LAYOUTS:
        status, out, err = srun(layout, COLL, 'run', '--sites', 2 * size + 1, '--kind', 'any',
                                '--generations', 10, '--in-flight', 2, '--count', 20000)
        check_equal((status, err), (0, ''))
        check_equal(len(re.findall(r'\d of %d has done it' % size, out)), size)


def test_deaths():
    """The survivors are told, and the job ends. Its status is not 0, also if the dead one's was."""
    for size, layout in LAYOUTS:
        for mode in ('abort', 'exit'):
            status, out, err = srun(layout, STORM, mode, '--victim', 1, '--generations', 20)
            check(status != 0, err)
            for site in re.findall(r'site \d failed at \d+: .*', out):
                check('COHORT_ERR_PEER_DIED' in site and 'locality 1' in site, site)
            if size == 2:  # else Slurm may end the others before they are told
                check("locality 1 can't be reached" in err, err)


def test_killed():
    for _, layout in LAYOUTS:
        step = Step('srun', '--mpi=pmix', *layout, STORM, 'kill')
        while b'generation 5' not in step.process.stdout.readline():
            check(step.process.poll() is None, 'the job has ended')
        pids = [int(pid) for pid in os.listdir('/proc')
                if pid.isdigit() and jobs.is_running(int(pid), STORM)]
        os.kill(pids[0], signal.SIGKILL)
        status, _, _ = step.finish()
        check(status != 0, status)


def test_abort():
    for _, layout in LAYOUTS:
        for mode, code, why in (*((mode, 7, 'the disk is full') for mode in ('task', 'loop',
                                                                             'thread')),
                                ('zero', 1, 'no reason given')):
            status, _, err = srun(layout, MAIN, 'abort-' + mode)
            check_equal(status, code)
            check('locality 1: aborted with status %d: %s\n' % (code, why) in err, err)


def test_end_out_of_reach():
    """A locality that has returned waits for one that ends without a word, and with status 0."""
    for _, layout in LAYOUTS:
        status, _, err = srun(layout, MAIN, 'vanish')
        check(status != 0, err)


def test_failed_start():
    """One locality can't begin. The others would wait for it."""
    for _, layout in LAYOUTS:
        only_one = 'test $SLURM_PROCID = 1 && export COHORT_WORKERS=x; exec ' + MAIN + ' half'
        status, _, err = srun(layout, 'sh', '-c', only_one)
        check(status != 0, err)
        check('COHORT_WORKERS is "x"' in err, err)


def test_never_joins():
    """A process that ends before it joins. Slurm would let the others wait for 300 s."""
    for size, layout in LAYOUTS:
        for absent in {1, size - 1}:
            script = 'test $SLURM_PROCID = %d || exec %s half' % (absent, MAIN)
            status, _, err = srun(layout, 'sh', '-c', script, COHORT_JOIN_TIMEOUT='2')
            check(status != 0, err)
            check('process %d of %d has not joined the job within 2 s' % (absent, size) in err,
                  err)


def test_without_pmix():
    """Several jobs of one locality would start without a word."""
    for way in ('none', 'pmi2'):
        command = ['srun', '--mpi=' + way, '-N', '2', '-n', '2', MAIN, 'half']
        status, _, err = Step(*command).finish()
        check_equal(status, 1)
        check('this is one of 2 processes' in err and 'srun --mpi=pmix' in err, err)
        status, out, err = Step(*command, COHORT_ALONE='1').finish()
        check_equal((status, err, out.count('half a line')), (0, '', 2))


def test_cohortrun():
    """Within an allocation it uses its hosts, by srun."""
    say = 'echo $COHORT_LOCALITY/$COHORT_LOCALITIES on $(hostname)'
    line = 'cohortrun: SLURM_JOB_NODELIST: %s; --hosts would name others\n'
    for per_node, options, taken, on in (
            (1, [], '2 localities on a:1,b:1', 'ab'), (2, [], '4 localities on a:2,b:2', 'aabb'),
            (2, ['-n', 3], '3 localities on a:2,b:1', 'aab')):
        salloc = ['salloc', '-N', 2, '-n', 2 * per_node, '--ntasks-per-node', per_node,
                  jobs.COHORTRUN, *options]
        status, out, err = Step(*salloc, 'sh', '-c', say).finish()
        check_equal((status, err), (0, line % taken))
        check_equal(sorted(out.splitlines()),
                    ['%d/%d on %s' % (rank, len(on), host) for rank, host in enumerate(on)])
        status, _, err = Step(*salloc, MAIN, 'abort-task').finish()
        check_equal(status, 7)
        check(re.search(r'locality 1 \(pid \d+\) on host . has aborted the job', err), err)
        status, _, err = Step(*salloc, STORM, 'exit', '--victim', 1, '--generations',
                              20).finish()
        check(status != 0, err)


def test_scancel():
    for _, layout in LAYOUTS:
        step = Step('srun', '--mpi=pmix', '--job-name', 'storm', *layout, STORM, 'kill')
        while b'generation 5' not in step.process.stdout.readline():
            check(step.process.poll() is None, 'the job has ended')
        subprocess.run(['scancel', '--name', 'storm'], check=True)
        status, _, _ = step.finish()
        check(status != 0, status)


LACKING = missing()
if LACKING:
    print('skipped: tools/install-deps --launchers installs what is missing:', *LACKING)
    sys.exit(77)
namespaces.enter(HOSTS)
os.makedirs(FOLDER + '/state')
name_hosts()
start_munge()
start_slurm()
# The servers are no children of the process that runs the cases, which looks for leftovers.
CASES = os.fork()
if CASES == 0:
    jobs.run_cases(globals(), chosen=CHOSEN)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(CASES, 0)[1]))
