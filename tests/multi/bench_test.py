#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of cohort-bench. None of them checks how fast anything is.

usage: bench_test.py COHORTRUN COHORT-BENCH [--long] [case...]"""
import json
import os
import re
import subprocess
import sys
import tempfile

from jobs import TIMEOUT, check, check_equal, run, run_cases
from namespaces import check_needs_root, left_of_hosts, may_make_hosts

BENCH = sys.argv[2]
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools/bench')
TASKS = ['spawn_await', 'spawn_when_all', 'suspend_resume', 'yield', 'spawn_in_scope', 'mutex',
         'pthread_mutex'] # and mutex_hand_over with one worker
SUSPENDED = [('touch_page', 'ns'), ('start_suspend', 'ns'), ('start_suspend', 'x'),
             ('suspended_memory', 'KiB'), ('resume_end', 'ns'), ('give_back', 's')]
SPREAD = {name + within: '%' if within else 'x'
          for name, limits in (('burst', (1.15, 1.3)), ('sleep', (1.15, 1.5)),
                               ('reduce', (1.15, 1.5)), ('threads', (1.15, 1.3)))
          for within in ['', *(f'_within_{limit}' for limit in limits)]}
UNITS = {**dict.fromkeys([*TASKS, 'mutex_hand_over', 'then', 'fib'], 'ns'), 'memory_rss': 'MiB',
         **dict(reversed(SUSPENDED)), **SPREAD}
KERNELS = [name + place for name in ('double_sum', 'float_sum', 'int32_max', 'complex_product')
           for place in ('', '_in_place')]
DATA = [(name, size) for name in ('all_reduce', 'all_to_all') for size in (8, 4096, 1 << 20)]
COLL = [('barrier', 0)] + DATA


def bench(*args, env=None, **options):
    done = subprocess.run([BENCH, *(str(a) for a in args)], stdout=options.pop('stdout', -1),
                          stderr=subprocess.PIPE, text=True, timeout=5 * TIMEOUT,
                          env=dict(os.environ, **env or {}), **options)
    return done.returncode, done.stdout, done.stderr


def read(status, out, err):
    """The results in the JSON OUT. Checks its form and its numbers."""
    check_equal((status, err), (0, ''))
    report = json.loads(out)
    check(set(report) == {'machine', 'version', 'quick', 'results', 'targets'}, out)
    check(report['machine']['cores'] > 0 and report['machine']['cpu'], out)
    for result in report['results']:
        check(set(result) == {'name', 'params', 'median', 'min', 'max', 'unit', 'rounds'}, result)
        check(0 < result['min'] <= result['median'] <= result['max'] or result['unit'] == '%',
              result)
        check(result['unit'] == UNITS.get(result['name'], 'us') or
              (result['unit'] == 'x' and result['name'] in [*KERNELS, 'start_suspend']), result)
    return report


def of_coll(results, localities, sites, shape, arity):
    """Checks that RESULTS begin with coll's, of this shape, and removes them."""
    for name, size in COLL:
        result = results.pop(0)
        block = size if size < 1 << 20 else size // sites // 8 * 8
        check_equal((result['name'], result['params']),
                    (name, {'localities': localities, 'workers': 1, 'sites': sites,
                            'bytes': size, 'block': block if name == 'all_to_all' else 0,
                            'shape': shape, 'arity': arity}))


def test_tasks():
    report = read(*bench('--json', '--quick', 'tasks', env={'COHORT_WORKERS': '1'}))
    check_equal([result['name'] for result in report['results']], TASKS + ['mutex_hand_over'])
    check_equal([result['rounds'] for result in report['results']], [3] * (len(TASKS) + 1))
    check_equal((report['quick'], report['targets']), (True, []))


def test_two_workers():
    report = read(*bench('--json', '--quick', '--rounds', 2, 'tasks', 'barrier',
                         env={'COHORT_WORKERS': '2'}))
    check_equal({result['params']['workers'] for result in report['results']}, {2})
    check_equal({result['rounds'] for result in report['results']}, {2})
    check_equal([result['params']['sites'] for result in report['results']],
                [0] * len(TASKS) + [2, 8, 64])


def test_coll():
    results = read(*bench('coll', '--sites', 9, '--arity', 3, '--quick', '--json'))['results']
    of_coll(results, 1, 9, 'flat', 0)
    of_coll(results, 1, 9, 'tree', 3)
    of_coll(results, 1, 9, 'chosen', 0)
    check_equal(results, [])


def test_check():
    """Right results, with and without agreement, in one locality and in several."""
    names = ['gather', 'checked_gather', 'check']
    one = read(*bench('check', '--sites', 9, '--arity', 3, '--quick', '--json'))['results']
    status, out, err = run('-n', 3, BENCH, 'check', '--sites-per-locality', 2, '--quick', '--json')
    three = read(status, out, err)['results']
    for results, localities, sites in (one, 1, 9), (three, 3, 6):
        check_equal([result['name'] for result in results], 2 * names)
        check_equal([result['params']['shape'] for result in results], 3 * ['flat'] + 3 * ['tree'])
        check_equal({(result['params']['localities'], result['params']['sites'])
                     for result in results}, {(localities, sites)})


def test_kernels():
    """Right results, the time of each, and the comparison with memcpy."""
    results = read(*bench('kernels', '--quick', '--rounds', 2, '--json'))['results']
    rows = [('memcpy', 'us')] + [(name, unit) for name in KERNELS for unit in ('us', 'x')]
    check_equal([(result['name'], result['unit'], result['params']['bytes'])
                 for result in results],
                [row + (size,) for size in (4096, 256 << 10, 64 << 20) for row in rows])


def test_suspended():
    """Far fewer than a million, and what it can't measure."""
    results = read(*bench('suspended', '--tasks', 10000, '--rounds', 2, '--json'))['results']
    check_equal([(result['name'], result['unit'], result['params']['sites'], result['rounds'])
                 for result in results], [row + (10000, 2) for row in SUSPENDED])
    status, _, err = bench('suspended', '--tasks', 10, env={'COHORT_WORKERS': '2'})
    check(status == 1 and 'suspended measures one worker, and COHORT_WORKERS is 2' in err, err)


def test_spread():
    """Each case computes, in processes of its own, of which it is told how many are near the
    ideal."""
    results = read(*bench('spread', '--runs', 2, '--quick', '--json',
                          env={'COHORT_WORKERS': '2', 'COHORT_TASKS': 'movable'}))['results']
    check_equal([result['name'] for result in results], list(SPREAD))
    for result in results:
        params = result['params']
        check_equal((params['workers'], params['sites'], params['shape'], result['rounds']),
                    (2, 64, 'movable', 2))
        if result['unit'] == 'x':
            check(result['min'] > 0.25, 'it has not computed', result)
            two = result['min'], result['max']
        else:
            limit = float(result['name'].rpartition('_')[2])
            check_equal(result['median'], 50 * sum(ratio <= limit for ratio in two))
    one = read(*bench('spread', '--runs', 1, '--quick', '--json', '--only', 'b*t'))['results']
    check_equal([(result['name'], result['params']['shape']) for result in one],
                [(name, '') for name in SPREAD if name.startswith('burst')])


def test_spread_fails():
    for args, env, why in ((['--only', 'frob'], {}, "--only 'frob' fits no row"),
                           ([], {'COHORT_WORKERS': 'two'}, 'ended with status 1')):
        status, _, err = bench('spread', '--quick', *args, env=env)
        check(status == 1 and why in err, status, err)
    status, _, err = run('-n', 2, BENCH, 'spread')
    check(status == 1 and 'spread starts its own jobs: run it without cohortrun' in err, err)


def test_coll_of_few():
    """With one site, and with a larger arity than there are sites: no tree."""
    for sites, arity in (1, 2), (3, 3):
        results = read(*bench('coll', '--sites', sites, '--arity', arity, '--quick',
                              '--json'))['results']
        of_coll(results, 1, sites, 'flat', 0)
        of_coll(results, 1, sites, 'chosen', 0)
        check_equal(results, [])


def test_coll_of_job():
    results = read(*run('-n', 2, '--workers', 1, BENCH, '--json', '--quick',
                        '--sites-per-locality', 2, 'coll'))['results']
    of_coll(results, 2, 4, 'flat', 0)
    of_coll(results, 2, 4, 'tree', 2)
    of_coll(results, 2, 4, 'chosen', 0)
    check_equal(results, [])


def test_table():
    status, out, err = bench('--quick', 'barrier')
    check_equal((status, err), (0, ''))
    rows = [line.split() for line in out.splitlines() if line.startswith('barrier')]
    check_equal([row[:7] for row in rows],
                [['barrier', '1', '1', sites, '-', '-', shape]
                 for sites, shape in (('2', 'flat'), ('8', 'flat'), ('64', 'tree'))])


def test_figures():
    report = read(*bench('--json', '--quick', '--rounds', 1, 'figures'))
    results = report['results']
    num = len(TASKS) + (results[0]['params']['workers'] == 1) + 3
    check_equal([result['name'] for result in results[:num] if result['name'] != 'mutex_hand_over'],
                TASKS + ['barrier'] * 3)
    del results[:num]
    for localities, sites, arity in ((1, 64, 4), (2, 2, 0), (4, 4, 2), (8, 8, 4), (4, 64, 4)):
        of_coll(results, localities, sites, 'flat', 0)
        if arity:
            of_coll(results, localities, sites, 'tree', arity)
        of_coll(results, localities, sites, 'chosen', 4 if sites == 64 else 0)
    check_equal(results, [])
    check_equal([target['limit'] for target in report['targets']], [8, 60, 100])
    for target in report['targets']:
        check_equal(target['reached'], target['median'] <= target['limit'])


def test_figures_fails():
    """A launcher that does not work."""
    for cohortrun, why in (('/nowhere', "no launcher at '/nowhere'"),
                           ('/bin/false', '/bin/false ended with status 1')):
        status, _, err = bench('--json', '--quick', '--cohortrun', cohortrun, 'figures')
        check(status == 1 and why in err, status, err)
    status, out, err = run('-n', 2, BENCH, 'figures')
    check(status == 1 and 'run it without cohortrun' in err, status, err)


def test_one_locality_only():
    status, out, err = run('-n', 2, BENCH, '--json', '--quick', 'tasks', 'coll')
    check(status == 1 and 'kernels and suspended measure one locality' in err, status, err)
    check_equal(out, '')


def test_full_disk():
    for args in ['--json'], []:
        with open('/dev/full', 'w', encoding='utf-8') as full:
            status, _, err = bench('--quick', *args, 'tasks', stdout=full)
        check(status == 1 and "can't be written" in err, status, err)


def test_describe():
    """As a text and as JSON, of one locality and of four, with a level that the user names."""
    status, out, err = bench('describe', '--sites-per-locality', 3)
    check_equal((status, err), (0, ''))
    check_equal(out.splitlines()[:2], ['communicator "all": 3 sites',
                                       'locality: 1, at most 3 in one, in order'])
    say = 'COHORT_LEVELS=switch=s$((COHORT_LOCALITY / 2)) exec "$0" "$@"'
    status, out, err = run('-n', 4, '-x', 'COHORT_TOPOLOGY=4x1x1', 'sh', '-c', say, BENCH,
                           'describe', '--json', '--sites-per-locality', 2)
    check_equal((status, err), (0, ''))
    told = json.loads(out)
    check_equal((told['sites'], told['localities']), (8, 4))
    check_equal({level['name']: [subgroup['sites'] for subgroup in level['subgroups']]
                 for level in told['levels']},
                dict.fromkeys(['locality', 'domain', 'host'], [[0, 1], [2, 3], [4, 5], [6, 7]]) |
                {'switch': [[0, 1, 2, 3], [4, 5, 6, 7]]})
    for level in told['levels']:
        for subgroup in level['subgroups']:
            check(subgroup['leader'] in subgroup['sites'], level)


def test_wrong_options():
    for args, why in [
            ([], 'what is to be measured?'),
            (['frob'], "'frob' is no subcommand"),
            (['tasks', 'tasks'], 'tasks is given twice'),
            (['figures', 'tasks'], 'give it alone'),
            (['describe', 'tasks'], 'describe measures nothing: give it alone'),
            (['describe', '--sites', '4'], 'describe has only --sites-per-locality'),
            (['--frob', 'tasks'], '--frob is no option'),
            (['-x', 'tasks'], '-x is no option'),
            (['tasks', '--rounds'], '--rounds needs a value'),
            (['tasks', '--rounds', '0'], "--rounds needs a number from 1 to 999, not '0'"),
            (['tasks', '--rounds', '1000'], "not '1000'"),
            (['tasks', '--rounds', ''], "not ''"),
            (['tasks', '--rounds', '7x'], "not '7x'"),
            (['tasks', '--rounds', '-7'], "not '-7'"),
            (['tasks', '--rounds', '99999999999999999999'], 'not'),
            (['coll', '--arity', '1'], '--arity needs a number from 2'),
            (['coll', '--sites', '0'], '--sites needs a number from 1'),
            (['barrier', '--sites', '4'], 'are for coll'),
            (['tasks', '--cohortrun', 'x'], '--cohortrun is for figures'),
            (['tasks', '--tasks', '5'], '--tasks is for suspended'),
            (['suspended', '--tasks', '0'], '--tasks needs a number from 1'),
            (['figures', '--cohortrun', ''], '--cohortrun needs a path'),
            (['tasks', '--runs', '5'], '--runs is for spread'),
            (['spread', '--runs', '0'], '--runs needs a number from 1'),
            (['spread', 'tasks'], 'give it alone'),
            (['spread', '--cohortrun', 'x'], '--cohortrun is for figures'),
            (['tasks', '--json=1'], '--json=1 is no option'),
            (['coll', 'check', '--works', 'barrier:0'], '--works is for coll alone'),
            (['tasks', '--works', 'barrier:0'], "--works needs a list like fib:30,empty:1000"),
            (['tasks', '--works', 'fib:30', '--compute', '2'], '--compute is for coll --works'),
            (['coll', '--algorithms', 'x=y'], '--algorithms is for coll --works'),
            (['coll', '--fresh'], '--fresh is for coll --works'),
            (['tasks', '--works', 'fib:30', '--fresh'], '--fresh is for coll --works'),
            (['coll', '--works', 'barrier:0', '--arity', '2'], '--works has only'),
            (['coll', '--hosts', '2x2'], '--hosts is for select'),
            *((['select', '--placement', 'hosts', '--hosts', hosts],
               '--hosts needs HxL or HxLxT, 2 to 16 hosts and at most 128 sites, not '
               f"'{hosts}'") for hosts in ('', '2', '2x', 'x2', '1x2', '17x1', '2x0', '2x2x0',
                                           '2x2x2x2', '2x65', '2x-1', '2X2', '0002x1')),
            (['coll', '--only', 'barrier/*'], '--only is for spread'),
            (['coll', '--works', 'barrier'], "--works needs a list like all_reduce:8,barrier:0"),
            (['coll', '--seconds', '0'], "--seconds needs a number from 0.001 to 100, not '0'"),
            (['coll', '--seconds', 'nan'], "not 'nan'"),
            (['coll', '--seconds', '1s'], "not '1s'"),
            (['select', '--placement', 'host'],
             "--placement needs tasks, localities, mixed or hosts, not 'host'"),
            (['select', '--placement', 'mixed', '--hosts', '2x2'],
             '--hosts is for select --placement hosts'),
            (['select', '--collective', 'gahter'], "select measures no 'gahter'"),
            (['select', '--collective', 'exchange'], "select measures no 'exchange'"),
            (['coll', '--by-call'], '--by-call and --limit are for select'),
            (['--', '--json'], "'--json' is no subcommand")]:
        status, out, err = bench(*args)
        check_equal((status, out), (2, ''))
        lines = err.splitlines()
        check(len(lines) == 2 and why in lines[0] and lines[0].startswith('cohort-bench: ') and
              lines[1].startswith('usage: cohort-bench '), args, err)


def test_select():
    """Both placements, and the chosen row compared with the best one."""
    for args in ([], ['--placement', 'localities'], ['--placement', 'tasks']):
        status, out, err = bench('--json', '--quick', '--sites', 3, '--collective', 'all_to_all',
                                 '--bytes', 64, *args, 'select')
        check_equal((status, err), (0, ''))
        report = json.loads(out)
        placements = [args[1]] if args else ['tasks', 'localities']
        check_equal([p['placement'] for p in report['points']], placements)
        for point in report['points']:
            check_equal((point['collective'], point['sites'], point['bytes']),
                        ('all_to_all', 3, 64))
            check(point['rows'] > 1 and point['regret'] > 0, point)
            check(point['regret'] == 1 or point['selected'] != point['best'], point)
        check_equal((report['num_points'], report['too_large'], report['late']),
                    (len(placements), 0, 0))
    status, out, err = bench('--quick', '--sites', 2, '--collective', 'barrier', 'select')
    check(status == 0 and 'target: worst regret' in out, status, out, err)
    for args in [], ['--json']: # with one site there is no choice
        status, out, err = bench('--quick', '--sites', 1, '--collective', 'barrier', *args,
                                 'select')
        check(status == 1 and 'nothing was measured' in err and 'target' not in out, out, err)


def select_points(*args):
    status, out, err = bench('--json', '--quick', '--collective', 'all_reduce', '--bytes', 64,
                             *args, 'select')
    check_equal((status, err), (0, ''))
    report = json.loads(out)
    check_equal((report['num_points'], report['late']), (len(report['points']), 0))
    return [(p['placement'], p['shape'], p['sites']) for p in report['points']], report['points']


def test_select_mixed():
    """Several sites in each of several localities: their meetings are one of the rows, and so are
    those that follow the machine."""
    places, points = select_points('--placement', 'mixed', '--sites', 8)
    check_equal(places, [('mixed', '1x2x4', 8)])
    check_equal(select_points('--sites', 8)[0],
                [('tasks', '1x1x8', 8), ('localities', '1x8x1', 8), ('mixed', '1x2x4', 8)])
    places, spread = select_points('--placement', 'localities', '--sites', 8)
    check_equal(places, [('localities', '1x8x1', 8)])
    check_equal(points[0]['rows'], spread[0]['rows'] + 1)  # levels


def test_select_by_call():
    """Calls in turns, of rows that keep all sites in step and of others, with a number of sites
    that is not in the grid."""
    for collective, bytes_ in ('all_reduce', 4096), ('broadcast', 64), ('barrier', 8):
        args = ('--json', '--quick', '--placement', 'mixed', '--sites', 12, '--by-call',
                '--collective', collective, '--bytes', bytes_, 'select')
        status, out, err = run('-n', 2, '--workers', 1, BENCH, *(str(arg) for arg in args))
        check_equal((status, err), (0, ''))
        report = json.loads(out)
        check_equal([(p['placement'], p['shape'], p['sites']) for p in report['points']],
                    [('mixed', '1x2x6', 12)])
        point = report['points'][0]
        check(point['rows'] > 1 and 0 < point['regret'] < 1000, point)
        check(point['regret'] == 1 or point['selected'] != point['best'], point)
        check(min(point['selected_us'], point['best_us']) > 0, point)
    status, out, err = bench('--quick', '--by-call', '--collective', 'barrier', '--sites', 2,
                             '--placement', 'localities', 'select')
    check(status == 0 and "the median of calls in turns" in out, status, out, err)
    status, _, err = run('-n', 2, BENCH, '--quick', '--placement', 'mixed', '--sites', '13',
                         '--json', 'select')
    check_equal((status, err), (0, ''))  # nothing: 13 sites have no place


def test_select_hosts():
    if not may_make_hosts():
        return
    before = left_of_hosts()
    places, points = select_points('--placement', 'hosts', '--hosts', '2x1x2')
    check_equal(places, [('hosts', '2x1x2', 4)])
    check(points[0]['rows'] > 1, points)
    check_equal(left_of_hosts(), before)
    status, _, err = bench('--quick', '--placement', 'hosts', '--hosts', '2x2', '--sites', 3,
                           'select')
    check(status == 1 and 'nothing was measured' in err, status, err)


def test_select_hosts_fails():
    """A job that is another one than is asked for; and who may not make hosts."""
    for args, why in [(['--hosts', '2x2'], '--hosts 2x2: this job has 2 localities'),
                      ([], '--placement hosts in a job needs --hosts HxL')]:
        status, _, err = run('-n', 2, BENCH, '--quick', '--placement', 'hosts', *args, 'select')
        check(status == 1 and why in err, status, err)
    check_needs_root(BENCH, '--placement', 'hosts', 'select')


def hierarchy_counts(report):
    names = [result['name'] for result in report['results']]
    return names.count('all_to_all'), names.count('phase 2')


def script(name, *args):
    """What the script prints, which has to succeed."""
    done = subprocess.run([sys.executable, '-B', os.path.join(SCRIPTS, name), *args], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check_equal(done.returncode, 0)
    return done.stdout


def test_readme_figures():
    """The tables of what cohort-bench has said, in whose place a program says always the same."""
    figures = {'cohort_shm': 0.1234, 'openmpi': 123.4, 'openmpi_wait': 45678, 'cohort': 9.87,
               'tbb': 100}
    report = {'machine': {'cores': 2, 'cpu': 'a CPU', 'system': 'a system', 'load': 1},
              'quick': False, 'results': [{'unit': 'us', 'figures': figures}]}
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
    check('2 cores of a CPU, a system, load 1.0)' in said, said)


def test_hierarchy_of_job():
    """What each job of `hierarchy` does, with fewer sites."""
    report = read(*run('-n', 2, BENCH, '--json', '--quick', '--rounds', 1,
                       '--sites-per-locality', 8, 'hierarchy'))
    check_equal(hierarchy_counts(report), (7 * 5, 3 * 5))


def long_hierarchy():
    with tempfile.TemporaryDirectory() as folder:
        plot = os.path.join(folder, 'h.svg')
        check_equal(script('hierarchy_picture.py', BENCH, plot, '--quick', '--rounds', '1'), '')
        with open(plot) as file:
            text = file.read()
    # Four frames of three trees, flat and chosen.
    check_equal((text.count('<polyline'), text.count('>chosen</text>')), (20, 4))
    check(', commit ' in text and ' cores of ' in text, text[-300:])


def test_works():
    """The list of works, in one locality and in a job, and what only a pair can do."""
    results = read(*run('-n', 2, BENCH, '--json', '--quick', '--rounds', 1, 'coll', '--works',
                        'stream:8192,memory_rss:0,nothing:0,overlap:8,exchange:8,rate:8,'
                        'communicators:8,halo:1728'))['results']
    check_equal([(result['name'], result['params']['bytes']) for result in results],
                [('stream', 8192), ('memory_rss', 0), ('overlap', 8), ('exchange', 8), ('rate', 8),
                 ('communicators', 8), ('halo', 1728)])
    results = read(*run('-n', 2, BENCH, '--json', '--quick', '--rounds', 1, 'coll', '--works',
                        'overlap:8', '--compute', 100))['results']
    check(results[0]['min'] >= 100 * 200, results)
    results = read(*bench('--json', '--quick', 'coll', '--works', 'broadcast:64'))['results']
    check_equal([result['name'] for result in results], ['broadcast'])
    results = read(*run('-n', 3, BENCH, '--json', '--quick', '--rounds', 1, 'coll', '--works',
                        'all_gather:80,reduce_scatter:80', '--sites-per-locality', 2))['results']
    check_equal([(result['name'], result['params']['sites']) for result in results],
                [('all_gather', 6), ('reduce_scatter', 6)])
    results = read(*run('-n', 2, BENCH, '--json', '--quick', '--rounds', 1, 'coll', '--fresh',
                        '--works', 'all_to_all:64', '--algorithms', 'all_to_all=ring'))['results']
    check_equal([result['params']['shape'] for result in results], ['forced'])
    status, _, err = bench('--json', '--quick', 'coll', '--works', 'barrier:0', '--algorithms',
                           'barrier=none')
    check(status == 1 and 'no algorithm of barrier is called "none"' in err, status, err)
    status, _, err = bench('--json', '--quick', 'coll', '--works', 'ping_pong:8')
    check(status == 1 and 'ping_pong needs a job of 2 localities with a site each, not 1' in err,
          status, err)


def test_task_works():
    """Single works, and those that can't be done."""
    results = read(*bench('--json', '--quick', 'tasks', '--works', 'then:10,fib:9',
                          env={'COHORT_WORKERS': '2'}))['results']
    check_equal([(result['name'], result['params']['workers']) for result in results],
                [('then', 2), ('fib', 2)])
    for work, why in (('ping_pong:8', 'this needs 2 workers'), ('fib:0', 'its size is at least 1')):
        status, _, err = bench('--json', '--quick', 'tasks', '--works', work)
        check(status == 1 and why in err, status, err)


def test_help():
    status, out, err = bench('--help')
    check(status == 0 and out.startswith('usage: cohort-bench') and err == '', status, out, err)
    status, out, err = bench('--version')
    check(status == 0 and out.startswith('cohort-bench ') and err == '', status, out, err)


LONG = '--long' in sys.argv
run_cases(globals(), 'long_' if LONG else 'test_', [] if LONG else sys.argv[3:])
