#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of cohort-compare. None of them checks how fast anything is.

usage: compare_test.py COHORTRUN COHORT-COMPARE [--long] [case...]"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from jobs import TIMEOUT, await_orphans, check, check_equal, run, run_cases
from namespaces import check_needs_root, left_of_hosts, marked, may_make_hosts

COMPARE = sys.argv[2]
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools/bench')
FOLDER = os.path.dirname(os.path.abspath(COMPARE))


def compare(*args, env=None, **options):
    """By the Python of this test, since PATH may lead nowhere."""
    done = subprocess.run([sys.executable, '-B', COMPARE, *(str(a) for a in args)],
                          stdout=options.pop('stdout', -1), stderr=subprocess.PIPE, text=True,
                          timeout=5 * TIMEOUT, env=dict(os.environ, **env or {}), **options)
    return done.returncode, done.stdout, done.stderr


def test_components():
    """Open MPI's components of collectives are measured by Open MPI. Commands that only note how
    they were called stand in for the MPIs."""
    if not all(os.access(os.path.join(FOLDER, 'peer_' + name), os.X_OK)
               for name in ('openmpi', 'mpich')):
        print('left out: there are no MPIs in this build')
        return
    components = 'acoll', 'ucc', 'xhc'
    with tempfile.TemporaryDirectory() as folder:
        for name, says in (('mpirun.openmpi', 'mpirun (Open MPI) 5.0.7'),
                           ('mpirun.mpich', 'Version: 5.0.2'),
                           ('ompi_info', '\n'.join(f'mca:coll:{component}:version:"mca:2.1.0"'
                                                   for component in components))):
            with open(os.path.join(folder, name), 'w') as script:
                script.write(f'#!/bin/sh\necho {name} "$@" >> {folder}/calls\n'
                             f"cat <<'end'\n{says}\nend\n")
            os.chmod(script.name, 0o755)
        compare('coll', '--quick', '--rounds', 1, '--only', 'barrier/0/4',
              env={'PATH': folder + ':' + os.environ['PATH']})
        with open(os.path.join(folder, 'calls')) as file:
            jobs = [line for line in file if ' -n ' in line]
    check_equal(len(jobs), 2 + len(components))
    for component in components:
        check_equal([line.split()[0] for line in jobs if f'coll_{component}_priority' in line],
                    ['mpirun.openmpi'])


def run_peers(comparison, *args, **options):
    """The results beside the peers that are installed, whose versions are told, and those that are
    not. The lines on stderr only say that."""
    status, out, err = compare(comparison, '--json', '--quick', '--rounds', 1, *args, **options)
    check(status == 0, status, err)
    left_out = [line.split()[3].strip(',:') for line in err.splitlines()
                if line.startswith('cohort-compare: left out: ')]
    check_equal(len(left_out), err.count('cohort-compare: '))
    report = json.loads(out)
    check(all(report['peers'].values()), report['peers'])
    return report['results'], left_out


def peers(*args, **options):
    """Those of coll. Each verdict has to follow from its figures."""
    results, left_out = run_peers('coll', *args, **options)
    for result in results:
        figures = result['figures']
        check(all(value > 0 for value in figures.values()), result)
        check(not set(left_out) & {name.removesuffix('_wait') for name in figures}, result)
        if 'against' in result:
            check(any(figures[cohort] / figures[result['against']] == result['ratio']
                      for cohort in figures if cohort.startswith('cohort_')), result)
            check_equal(result['reached'], result['ratio'] <= result['limit'])
    return results, left_out


def test_peers():
    results, left_out = peers('--only', '*[egd]/8/2', '--fresh')
    names = [(result['name'], result['size']) for result in results]
    check_equal(names, [(name, 8) for name in ('all_reduce', 'ping_pong', 'rate', 'add',
                                               'ofi_ping_pong')])
    for result in results:
        want = ['fi_pingpong'] if result['name'] == 'ofi_ping_pong' else [
            peer + form for peer in ('openmpi', 'mpich') for form in ('', '_wait')]
        want = {name for name in want if name.removesuffix('_wait') not in left_out}
        check(want <= set(result['figures']), result)
        check(not want or result['against'] in want, result)


def test_peers_of_one_net():
    """The requested peer, also if no peer is installed."""
    results, left_out = peers('--only', 'overlap/*', env={'COHORT_NET': 'ofi', 'PATH': '/nowhere'})
    check_equal(sorted(left_out), ['fi_pingpong', 'mpich', 'openmpi'])
    check_equal([sorted(result['figures']) for result in results], [['cohort_ofi', 'longer']])
    check_equal(results[0]['against'], 'longer')
    status, out, _ = compare('coll', '--quick', '--rounds', 1, '--only', 'barrier/*/2',
                             env={'PATH': '/nowhere'})
    check(status == 0 and out.splitlines()[-1].split()[:3] == ['barrier', '0', '2'], out)


def test_peers_fails():
    for args, env, why in ((['--only', 'frob'], {}, "--only 'frob' fits no row"),
                           (['--cohortrun', '/nowhere'], {}, "no launcher at '/nowhere'"),
                           (['--cohortrun', '/bin/false'], {}, 'no job of Cohort succeeds here'),
                           (['--only', 'nothing/*'], {'COHORT_NET': 'x', 'PATH': '/nowhere'},
                            'COHORT_NET is "x"')):
        status, _, err = compare('coll', '--quick', '--rounds', 1, *args, env=env)
        check(status == 1 and why in err, status, err)
    status, _, err = run('-n', 2, COMPARE, 'coll')
    check(status == 1 and 'run it without cohortrun' in err, status, err)


def test_peers_break():
    """A peer that fails is named, and the results of the others are printed. The status shows the
    failure."""
    with tempfile.TemporaryDirectory() as folder:
        for name in 'fi_pingpong', 'mpirun.openmpi', 'mpirun.mpich':
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\nexit 3\n')
            os.chmod(file.name, 0o755)
        env = {'PATH': folder + ':' + os.environ['PATH']}
        for row, why in (('ofi_ping_pong/8/2', "fi_pingpong: the server does not listen"),
                         ('barrier/*/2', 'openmpi: mpirun.openmpi ended with status 3')):
            status, out, err = compare('coll', '--json', '--quick', '--rounds', 1, '--only', row,
                                       env=env)
            if 'left out: openmpi' in err and row.startswith('barrier'):
                continue
            check(status == 1 and why in err, status, err)
            figures = json.loads(out)['results'][0]['figures']
            check(figures and all(name.startswith('cohort_') for name in figures), out)


# The works of coll --hosts, each with how many of the sizes.
HOST_SIZES = [8, 4 << 10, 64 << 10, 1 << 20]
HOST_WORKS = {'all_reduce': 4, 'broadcast': 4, 'all_to_all': 4, 'reduce_scatter': 4,
              'all_gather': 4}
# What each has to send over the link of one of 2 hosts with 2 sites, in its blocks.
HOST_LINKS = {'all_reduce': 1, 'broadcast': 1, 'all_to_all': 4, 'reduce_scatter': 2,
              'all_gather': 2}


def long_hosts():
    """All rows over hosts, with the peers that are there, and nothing is left.

    With so many processes MPICH, which spins, is left out. On a loaded machine it would now and
    then not end within its limit."""
    if not may_make_hosts():
        return
    before = left_of_hosts()
    mark = 'COHORT_TEST_HOSTS=%d' % os.getpid()
    results, left_out = run_peers('coll', '--hosts', '2x2', env=dict([mark.split('=')]))
    stream = results.pop()
    check_equal((stream['name'], stream['size'], stream['hosts'], stream['localities']),
                ('stream', 1 << 20, 2, 1))
    check(set(stream['figures']) == {'cohort'} and 'of_link' not in stream, stream)
    check_equal([(result['name'], result['size']) for result in results],
                [('barrier', 0)] + [(name, size) for name, num in HOST_WORKS.items()
                                    for size in HOST_SIZES[:num]])
    for result in results:
        figures = result['figures']
        check_equal('of_link' in result, result['size'] >= 64 << 10)
        if 'of_link' in result:
            link = HOST_LINKS[result['name']] * result['size'] / (1 << 20)
            want = figures['cohort'] / (link * stream['figures']['cohort'])
            check(abs(result['of_link'] / want - 1) < 1e-9, result, want)
        check_equal((result['hosts'], result['localities'], result['tasks']), (2, 2, 1))
        check_equal('tuned' in figures and 'han' in figures, 'openmpi' not in left_out)
        check('mpich' not in figures and 'mpich' in left_out, result, left_out)
        check('cohort' in figures and all(value > 0 for value in figures.values()), result)
        peers_here = [name for name in ('tuned', 'han') if name in figures]
        if peers_here:
            best = min(peers_here, key=figures.get)
            check_equal((result['against'], result['ratio']),
                        (best, figures['cohort'] / figures[best]))
    check_equal((marked(mark), left_of_hosts()), ([], before))


def long_hosts_of_tasks():
    """Tasks as sites of Cohort's localities, and as many ranks. The table."""
    if not may_make_hosts():
        return
    status, out, err = compare('coll', '--quick', '--rounds', 1, '--hosts', '2x1x2',
                               '--only', 'all_gather/8/4')
    check_equal((status, out.splitlines()[-1].split()[:5]), (0, ['all_gather', '8', '2', '1', '2']))
    check('left out: mpich' in err, err)
    status, out, err = compare('coll', '--quick', '--rounds', 1, '--hosts', '2x1x2',
                               '--only', 'broadcast/65536/4')
    lines = [line.split() for line in out.splitlines()[-2:]]
    check_equal((status, [line[:5] for line in lines]),
                (0, [['broadcast', '65536', '2', '1', '2'], ['stream', '1048576', '2', '1', '1']]))
    check(lines[0][-2] == 'link' and float(lines[0][-1]) > 0 and lines[1][-1] == '-', lines)


def heed_signals():
    """Whoever has started this test may ignore signals that the program has to heed."""
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)


def test_hosts_end():
    """Nothing is left after a signal, nor after a job has failed. If the program is killed, it
    can't wait for that, so this test does."""
    if not may_make_hosts():
        return
    before = left_of_hosts()
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL:
        mark = 'COHORT_TEST_HOSTS=%d.%d' % (os.getpid(), number)
        with subprocess.Popen([COMPARE, 'coll', '--hosts', '2x1', '--rounds', '999'],
                              stdout=-1, stderr=subprocess.DEVNULL, start_new_session=True,
                              env=dict(os.environ, **dict([mark.split('=')])),
                              preexec_fn=heed_signals) as process:
            while not process.stdout.readline().startswith(b'work'):
                check(process.poll() is None, 'it has ended')
            check(len(marked(mark)) > 2, marked(mark))
            process.send_signal(number)
            check_equal(process.wait(TIMEOUT), -number)
        if number == signal.SIGKILL:
            await_orphans()
        check_equal((marked(mark), left_of_hosts()), ([], before))
    status, out, err = compare('coll', '--quick', '--rounds', 1, '--hosts', '2x1',
                               '--only', 'barrier/*', '--json', '--cohortrun', '/bin/false')
    check(status == 1 and '/bin/false ended with status 1' in err, status, err)
    check(all('cohort' not in result['figures'] for result in json.loads(out)['results']), out)
    check_equal(left_of_hosts(), before)


def test_hosts_fails():
    status, _, err = compare('coll', '--hosts', '2x1', '--only', 'barrier/*/4')
    check(status == 1 and "--only 'barrier/*/4' fits no row" in err, status, err)
    status, _, err = compare('coll', '--hosts', '2x2', env={'PATH': '/nowhere'})
    check(status == 1 and 'needs the program ip, of the package iproute2' in err, status, err)
    check_needs_root(COMPARE, 'coll', '--hosts', '2x1')


# What each peer does of tasks, and with how many workers each work is measured.
RANGES = ['range_one', 'range', 'range_one_us', 'range_us']
GRAPHS = ['graph_' + shape
          for shape in ('stencil', 'nearest', 'fft', 'tree', 'random', 'all_to_all')]
TASK_PEERS = {'tbb': ['fib', 'empty', 'halves', *RANGES, 'tree', 'suspend', 'foreign', *GRAPHS],
              'openmp': ['fib', 'empty', 'halves', *RANGES, 'tree', *GRAPHS],
              'system': ['ping_pong', 'sleeps', 'wake', *GRAPHS]}
TASK_WORKERS = {'fib': (1, 2), 'empty': (1, 2), 'halves': (1, 2),
                **dict.fromkeys(RANGES, (1, 2)), 'tree': (1, 2), 'then': (1, 2), 'suspend': (1,),
                'ping_pong': (2,), 'when_all': (1, 2), 'when_any': (1,),
                'sleeps': (1,), 'foreign': (1,), 'wake': (1,), 'spread': (2,),
                **dict.fromkeys(GRAPHS, (1, 2))}


def test_task_peers():
    """All rows, by Cohort and by the peers that are there, which check their results by themselves.
    Each verdict has to follow from its figures, above the floor where there is one."""
    results, left_out = run_peers('tasks')
    check_equal([(result['name'], result['workers']) for result in results],
                [(name, workers) for name, row in TASK_WORKERS.items() for workers in row])
    for result in results:
        figures = dict(result['figures'])
        check_equal(set(figures), {'cohort', *(peer for peer, works in TASK_PEERS.items()
                                               if result['name'] in works
                                               and peer not in left_out)})
        cohort = figures.pop('cohort')
        floor = figures.pop(result['floor']) if result['name'] in GRAPHS else 0
        figures = {name: figure for name, figure in figures.items() if figure > floor}
        check_equal('against' in result, bool(figures))
        if figures:
            against = figures[result['against']]
            check_equal(result['ratio'], (cohort - floor) / (against - floor))
            check('limit' in result or against == min(figures.values()), result)
        if 'limit' in result:
            check_equal(result['reached'], result['ratio'] <= result['limit'])
        elif 'most' in result:
            check_equal(result['reached'], cohort <= result['most'])
        else:
            check('reached' not in result, result)


def test_task_peers_table():
    status, out, _ = compare('tasks', '--quick', '--rounds', 2, '--only', 'when_all/*')
    check_equal((status, [line.split()[:3] for line in out.splitlines()[-2:]]),
                (0, [['when_all', '100', '1'], ['when_all', '100', '2']]))


def test_task_peers_fails():
    status, _, err = compare('tasks', '--only', 'frob')
    check(status == 1 and "--only 'frob' fits no row" in err, status, err)
    status, _, err = run('-n', 2, COMPARE, 'tasks')
    check(status == 1 and 'run it without cohortrun' in err, status, err)


def test_task_peers_break():
    """Peers that are not there are named, and so is one that fails. The results of the others are
    printed. The status shows the failure."""
    with tempfile.TemporaryDirectory() as folder:
        for name in 'cohort-bench', 'cohort-compare':
            shutil.copy(os.path.join(FOLDER, name), folder)
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(FOLDER))
        command = [os.path.join(folder, 'cohort-compare'), 'tasks', '--json', '--quick',
                   '--rounds', '1', '--only', 'halves/1']
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=env)
        check(done.returncode == 0 and done.stderr.count('left out: ') == 3, done)
        with open(os.path.join(folder, 'peer_tbb'), 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\nexit 3\n')
        os.chmod(file.name, 0o755)
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=env)
        check(done.returncode == 1 and 'peer_tbb ended with status 3' in done.stderr, done)
        check_equal(set(json.loads(done.stdout)['results'][0]['figures']), {'cohort'})


def script(name, *args):
    """What the script prints, which has to succeed."""
    done = subprocess.run([sys.executable, '-B', os.path.join(SCRIPTS, name), *args], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check_equal(done.returncode, 0)
    return done.stdout


def test_readme_figures():
    """The tables of what cohort-compare has said, in whose place a program says always the same."""
    figures = {'cohort_shm': 0.1234, 'openmpi': 123.4, 'openmpi_wait': 45678, 'cohort': 9.87,
               'tbb': 100}
    report = {'machine': {'cores': 2, 'cpu': 'a CPU', 'system': 'a system', 'load': 1},
              'quick': False, 'peers': {'openmpi': '4.1.4', 'system': 'libuv'},
              'results': [{'unit': 'us', 'figures': figures}]}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'program')
        with open(program, 'w') as file:
            file.write("#!/bin/sh\ncat <<'end'\n%s\nend\n" % json.dumps(report))
        os.chmod(program, 0o755)
        said = script('readme_figures.py', program)
    for line in ('|  | Cohort | Open MPI | its `MPI_I...` and `MPI_Wait` |',
                 '| message of 8 B, one way | 0.123 us | 123 us | 46 ms |',
                 '|  | Cohort | oneTBB |',
                 '| spawn and await a task, 1 worker | 9.87 us | 100 us |'):
        check(line in said.splitlines(), line, said)
    check('2 cores of a CPU, a system, load 1.0, Open MPI 4.1.4, Open MPI 4.1.4)' in said, said)


def read(status, out, err):
    check_equal((status, err), (0, ''))
    return json.loads(out)


def long_figures():
    """All jobs, and what is wanted of some of their figures."""
    results = read(*compare('--json', '--quick', '--rounds', 1, 'figures'))['results']
    places = [(result['localities'], result['sites']) for result in results]
    for place in (1, 64), (2, 2), (4, 4), (8, 8), (4, 64):
        check({'flat', 'chosen'} <= {result['shape'] for result, at in zip(results, places)
                                     if at == place}, place, results)
    for result in results:
        figures = result['figures']
        check(0 < figures['min'] <= figures['median'] <= figures['max'], result)
        if 'most' in result:
            check_equal(result['reached'], figures['median'] <= result['most'])
    check_equal([result['most'] for result in results if 'most' in result], [8, 60, 100])


def test_figures_fails():
    """A launcher that does not work; what was measured before is there."""
    status, out, err = compare('--quick', '--rounds', 1, '--cohortrun', '/bin/false', 'figures')
    check(status == 1 and '/bin/false ended with status 1' in err, status, err)
    check_equal(out.splitlines()[-1].split()[:3], ['all_to_all', str(1 << 20), '1'])
    status, _, err = run('-n', 2, COMPARE, 'figures')
    check(status == 1 and 'run it without cohortrun' in err, status, err)


def test_spread():
    """Pinned and movable, in processes of their own, of which it is told how many are near the
    ideal."""
    results = read(*compare('spread', '--rounds', 2, '--quick', '--json',
                            env={'COHORT_WORKERS': '2'}))['results']
    check_equal([(result['name'], result['workers']) for result in results],
                [(name, '2') for name in ('burst', 'sleep', 'reduce', 'threads')])
    for result in results:
        check_equal([(column, len(rounds)) for column, rounds in sorted(result['rounds'].items())],
                    [('movable', 2), ('pinned', 2)])
        for column, within in result['within'].items():
            for limit, percent in within.items():
                check_equal(percent, 50 * sum(one <= float(limit)
                                              for one in result['rounds'][column]))
    status, _, err = compare('spread', '--quick', '--rounds', 1, '--only', 'b*t',
                             env={'COHORT_WORKERS': 'two'})
    check(status == 1 and 'COHORT_WORKERS is "two"' in err, err)


def test_hierarchy():
    """One frame: all shapes, in turns."""
    results = read(*compare('hierarchy', '--quick', '--rounds', 1, '--json', '--only',
                            '*/[68]*/4/1'))['results']
    check_equal([(result['size'], result['localities'], result['workers']) for result in results],
                [(8, 4, 1), (64, 4, 1)])
    for result in results:
        check_equal(set(result['figures']),
                    {'flat', *(f'{shape}_{arity}' for shape in ('tree', 'chosen')
                               for arity in (2, 4, 8))})


def long_hierarchy():
    """The picture of all frames."""
    with tempfile.TemporaryDirectory() as folder:
        plot = os.path.join(folder, 'h.svg')
        check_equal(script('hierarchy_picture.py', COMPARE, plot, '--quick', '--rounds', '1'), '')
        with open(plot) as file:
            text = file.read()
    # Four frames of three trees, flat and chosen.
    check_equal((text.count('<polyline'), text.count('>chosen</text>')), (20, 4))
    check(', commit ' in text and ' cores of ' in text, text[-300:])


def select(*args):
    report = read(*compare('select', '--json', '--quick', *args))
    points = [result for result in report['results'] if 'regret' in result]
    check_equal((report['num_points'], report['late']), (len(points), 0))
    for point in points:
        check_equal(set(point['figures']), {'selected', 'best'})
        check(point['rows'] > 1 and point['regret'] > 0, point)
    return [(point['name'], point['size'], point['shape']) for point in points]


def test_select():
    """The choice in each place, and how good all of them are."""
    check_equal(select('--only', 'all_to_all/64/1x[13]x[13]'),
                [('all_to_all', 64, '1x1x3'), ('all_to_all', 64, '1x3x1')])
    check_equal(select('--only', 'barrier/0/1x2x4', '--by-call'), [('barrier', 0, '1x2x4')])
    status, out, _ = compare('select', '--quick', '--only', '*/8/1x1x2')
    lines = out.splitlines()
    check(status == 0 and lines[-1].startswith('worst') and
          any(line.startswith('11 points; ') for line in lines), out)


def test_select_late():
    """When the time is over, what was not measured is told. What is measured has a second."""
    report = read(*compare('select', '--json', '--limit', 1, '--only', '*/1x1x32'))
    check(report['num_points'] > 0 and report['late'] > 0, report)
    check_equal(report['num_points'] + report['late'] + report['too_large'],
                len(report['results']))
    status, _, err = compare('select', '--cohortrun', '/bin/false', '--only', 'barrier/*/1x2x1')
    check(status == 1 and '1x2x1: /bin/false ended with status 1' in err and
          'nothing was measured' in err, err)


def test_select_hosts():
    if not may_make_hosts():
        return
    before = left_of_hosts()
    check_equal(select('--hosts', '2x1x2', '--only', 'all_reduce/64/*'),
                [('all_reduce', 64, '2x1x2')])
    check_equal(left_of_hosts(), before)
    check_needs_root(COMPARE, 'select', '--hosts', '2x2')


def test_none():
    """A program of its own is missing."""
    with tempfile.TemporaryDirectory() as folder:
        alone = shutil.copy(COMPARE, folder)
        done = subprocess.run([alone, 'tasks'], capture_output=True, text=True, timeout=TIMEOUT)
        check_equal((done.returncode, done.stderr),
                    (1, f'cohort-compare: there is no {folder}/cohort-bench\n'))


def test_among():
    """The command's status is that of the program."""
    if not may_make_hosts():
        return
    for command, status, why in ((('sh', '-c', 'exit 3'), 3, ''),
                                 (('sh', '-c', 'kill -9 $$'), 137, ''),
                                 (('/nowhere',), 127, 'No such file or directory')):
        check_equal(compare('among', 'a,b', *command)[::2],
                    (status, f'cohort-compare: /nowhere: {why}\n' if why else ''))
    for names in 'a,,b', 'a-name-that-is-long', ','.join('abcdefghijklmnopq'):
        status, _, err = compare('among', names, 'true')
        check(status == 1 and f"not up to 16 names of up to 12 bytes: '{names}'" in err, err)
    status, _, err = compare('among', 'a,b')
    check(status == 1 and 'among needs names of hosts' in err, err)


def test_full_disk():
    for args in ['--json'], []:
        with open('/dev/full', 'w', encoding='utf-8') as full:
            status, _, err = compare('tasks', '--quick', '--rounds', 1, '--only', 'fib/1', *args,
                                     stdout=full)
        check(status == 1 and "standard output can't be written" in err, status, err)


def test_wrong_options():
    status, out, err = compare('tasks', '--rounds', 0)
    check_equal((status, out, err.splitlines()), (2, '', [
        "cohort-compare: argument --rounds: needs a number from 1 to 999, not '0'",
        'usage: cohort-compare [options] coll|tasks|figures|spread|hierarchy|select']))


def test_help():
    status, out, err = compare('--help')
    check(status == 0 and out.startswith('usage: cohort-compare') and err == '', status, out, err)
    status, out, err = compare('--version')
    check(status == 0 and out.startswith('cohort-compare ') and err == '', status, out, err)


LONG = '--long' in sys.argv
run_cases(globals(), 'long_' if LONG else 'test_', [] if LONG else sys.argv[3:])
