#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that have fewer cores than workers, or share them with processes in other sessions.
Usage: cores_test.py COHORTRUN MEMBERS [--measure] [case...]

With --measure: the medians of a barrier and of an all_reduce of 8 bytes, with spinning and without;
COHORT_BEFORE, the cohortrun of another build, adds the medians of that build, measured in turn."""
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys

import jobs
import namespaces
from jobs import check, check_equal, run

HOSTS = ['h%d' % i for i in range(4)]
MEMBER = os.path.join(os.path.abspath(sys.argv[2]), 'coll_member')
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
PREFIX = 'measure_' if '--measure' in sys.argv else 'test_'

# Other processes ------------------------------------------------------------------------------


@contextlib.contextmanager
def beside(*commands):
    """Starts processes, each in a session of its own."""
    others = [subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True) for command in commands]
    try:
        yield
    finally:
        for other in others:
            other.terminate()
            other.wait()


def busy_loops(num):
    return beside(*[[sys.executable, '-c', 'while True: pass']] * num)


def quota(num_cores):
    """A control group with a quota of CPU time."""
    time = num_cores * 100000
    return jobs.control_group('cpu', {'cpu.cfs_quota_us': time}, {'cpu.max': '%d 100000' % time})


# Tests ----------------------------------------------------------------------------------------

def barriers(num_hosts, size, num, prefix=(), **env):
    """A job with NUM barriers. Returns its log."""
    os.environ.update(env)
    jobs.launcher_options = jobs.netns_hosts(HOSTS[:num_hosts]) if num_hosts else lambda size: []
    try:
        status, out, err = run('-n', size, *prefix, MEMBER, 'run', '--sites', size, '--kind',
                               'barrier', '--generations', num)
    finally:
        for name in env:
            del os.environ[name]
        jobs.launcher_options = lambda size: []
    check_equal(status, 0)
    check_equal(out.count('has done it'), size)
    return err


def one_core():
    """The prefix of a command that runs only on the first core that this process may use."""
    return ['--bind', 'none', 'taskset', '-c', min(os.sched_getaffinity(0))]


def spinning(log):
    """What each locality logs about its cores and about how long it spins."""
    return sorted(re.findall(r'locality (\d+): \d+ workers, cores each: (\d+), '
                             r'spinning: (\d+) us', log))


def test_hosts():
    """Hosts with a session, a name and temporary files of their own."""
    jobs.launcher_options = jobs.netns_hosts(HOSTS)
    tell = 'hostname >$TMPDIR/name; echo $(cat $TMPDIR/*) $(cut -d " " -f 6 /proc/$$/stat)'
    status, out, err = run('-n', 4, 'sh', '-c', tell)
    jobs.launcher_options = lambda size: []
    check_equal((status, err), (0, ''))
    words = sorted(line.split() for line in out.splitlines())
    check_equal([w[:-1] for w in words], [[host] for host in HOSTS])
    check_equal(len({w[-1] for w in words}), 4)


def test_barriers():
    barriers(2, 4, 200)
    barriers(2, 4, 200, COHORT_NET='ofi')


def test_mask():
    """A locality counts the cores that it may use, not those of the machine."""
    log = barriers(0, 2, 10, one_core(), COHORT_LOG='debug')
    check_equal(spinning(log), [('0', '0', '0'), ('1', '0', '0')])
    log = barriers(0, 2, 10, one_core(), COHORT_LOG='debug', COHORT_SPIN='30')
    check_equal(spinning(log), [('0', '0', '30'), ('1', '0', '30')])


def test_bound():
    """A locality that cohortrun has bound has its cores for itself."""
    num = len(os.sched_getaffinity(0))
    if num < 2:
        return
    each = str(num // 2)
    for options in (), ('--bind', 'core'), ('--bind', 'none'), ('--bind', 'numa'):
        log = barriers(0, 2, 10, options, COHORT_LOG='debug')
        check_equal(spinning(log), [(rank, each, '100') for rank in '01'])
    log = barriers(0, 2, 10, ['--bind', 'core', *one_core()[2:]], COHORT_LOG='debug')
    check_equal(spinning(log)[1], ('1', '0', '0'))  # it is bound anew


def test_quota():
    """The same for a quota. Needs permission to make control groups."""
    with quota(1) as folder:
        prefix = ['sh', '-c', 'echo $$ >%s/cgroup.procs && exec "$@"' % folder, 'sh']
        log = barriers(0, 2, 10, prefix, COHORT_LOG='debug')
    check_equal(spinning(log), [('0', '0', '0'), ('1', '0', '0')])


def test_others_on_the_core():
    """Two hosts on one core know nothing of each other. What a locality of one host waits for
    arrives only when it stops spinning. The localities notice that."""
    log = barriers(2, 2, 3000, one_core(), COHORT_LOG='debug')
    check_equal(spinning(log), [('0', '1', '100'), ('1', '1', '100')])
    check('pauses spinning' in log, 'nobody pauses spinning:', log)


# Measuring -----------------------------------------------------------------------------------

WORKS, SECONDS, ROUNDS, TURNS = 'barrier:0,all_reduce:8', 0.02, 5, 7


def bench(cohortrun):
    return os.path.join(os.path.dirname(cohortrun), 'cohort-bench')


def measure_once(cohortrun, size, env, prefix):
    args = prefix + [cohortrun, '-n', size] + jobs.launcher_options(size) + [
        '--workers', 1, bench(cohortrun), 'coll', '--works', WORKS, '--seconds', SECONDS,
        '--rounds', ROUNDS, '--json']
    done = subprocess.run([str(a) for a in args], env=dict(os.environ, **env), timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
                          start_new_session=True)
    return {r['name']: r['median'] for r in json.loads(done.stdout)['results']}


def measure(name, size, net='', prefix=()):
    kinds = {'now': (jobs.COHORTRUN, {}), 'off': (jobs.COHORTRUN, {'COHORT_SPIN': '0'})}
    if 'COHORT_BEFORE' in os.environ:
        kinds = {'before': (os.environ['COHORT_BEFORE'], {}), **kinds}
    found = {}
    for _ in range(TURNS):
        for kind, (cohortrun, env) in kinds.items():
            for work, time in measure_once(cohortrun, size, dict(env, COHORT_NET=net),
                                           list(prefix)).items():
                found.setdefault(work, {}).setdefault(kind, []).append(time)
    for work, times in found.items():
        medians = {kind: statistics.median(some) for kind, some in times.items()}
        print('%-29s %-10s' % (name, work),
              *('%s %.4g us (%.4g to %.4g),' % (kind, medians[kind], min(some), max(some))
                for kind, some in times.items()),
              'now/off %.2f' % (medians['now'] / medians['off']), flush=True)


def measure_on_hosts(num_hosts, num_localities):
    jobs.launcher_options = jobs.netns_hosts(HOSTS[:num_hosts])
    for net in '', 'ofi':
        measure('%d x %d hosts%s' % (num_hosts, num_localities, ', ofi' * (net == 'ofi')),
                num_hosts * num_localities, net)
    jobs.launcher_options = lambda size: []


def measure_hosts_3x1():
    measure_on_hosts(3, 1)


def measure_hosts_2x2():
    measure_on_hosts(2, 2)


def measure_hosts_4x2():
    measure_on_hosts(4, 2)


def measure_alone():
    for net in 'shm', 'ofi':
        measure('2 alone, ' + net, 2, net)


def measure_second_job():
    for net in 'shm', 'ofi':
        other = ['env', 'COHORT_NET=' + net, jobs.COHORTRUN, '-n', 2, bench(jobs.COHORTRUN),
                 'coll', '--works', 'barrier:0', '--seconds', 100, '--rounds', 1]
        with beside(other):
            measure('2 beside a second job, ' + net, 2, net)


def measure_busy_loops():
    for net in 'shm', 'ofi':
        with busy_loops(2):
            measure('2 beside two busy loops, ' + net, 2, net)


def measure_quota():
    for net in 'shm', 'ofi':
        with quota(1) as prefix:
            measure('2 with a quota of 1, ' + net, 2, net, prefix)


namespaces.enter(HOSTS)
jobs.run_cases(globals(), PREFIX, CHOSEN)
