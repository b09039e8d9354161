#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of cohort-bench. None of them checks how fast anything is.

usage: bench_test.py COHORTRUN COHORT-BENCH [case...]"""
import json
import os
import re
import subprocess
import sys

from jobs import TIMEOUT, check, check_equal, run, run_cases

BENCH = sys.argv[2]
TASKS = ['spawn_await', 'spawn_when_all', 'suspend_resume', 'yield', 'spawn_in_scope', 'mutex',
         'pthread_mutex'] # and mutex_hand_over with one worker
SUSPENDED = [('touch_page', 'ns'), ('start_suspend', 'ns'), ('start_suspend', 'x'),
             ('suspended_memory', 'KiB'), ('resume_end', 'ns'), ('give_back', 's')]
SPREAD = ['burst', 'sleep', 'reduce', 'threads']
UNITS = {**dict.fromkeys([*TASKS, 'mutex_hand_over', 'then', 'fib'], 'ns'), 'memory_rss': 'MiB',
         **dict(reversed(SUSPENDED)),
         **dict.fromkeys(SPREAD, 'x')}
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
    check(set(report) == {'machine', 'version', 'quick', 'results'}, out)
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
    check_equal(report['quick'], True)


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
    """Each case computes. Its result is that of one run, in which no core has waited for long."""
    results = read(*bench('tasks', '--works', ','.join(name + ':7' for name in SPREAD), '--quick',
                          '--json', env={'COHORT_WORKERS': '2'}))['results']
    check_equal([(result['name'], result['params']['workers'], result['params']['sites'],
                  result['rounds']) for result in results], [(name, 2, 64, 1) for name in SPREAD])
    for result in results:
        check(result['median'] > 0.25, 'it has not computed', result)


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
            (['describe', 'tasks'], 'give it alone'),
            (['describe', '--sites', '4'], 'have only --sites-per-locality'),
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
            (['tasks', '--tasks', '5'], '--tasks is for suspended'),
            (['suspended', '--tasks', '0'], '--tasks needs a number from 1'),
            (['tasks', '--json=1'], '--json=1 is no option'),
            (['coll', 'check', '--works', 'barrier:0'],
             '--works is for coll alone, tasks alone, or select'),
            (['tasks', '--works', 'barrier:0'], "--works needs a list like fib:30,empty:1000"),
            (['tasks', '--works', 'fib:30', '--compute', '2'], '--compute is for coll --works'),
            (['coll', '--algorithms', 'x=y'], '--algorithms is for coll --works'),
            (['coll', '--fresh'], '--fresh is for coll --works'),
            (['coll', '--lent'], '--lent is for coll --works'),
            (['tasks', '--works', 'fib:30', '--fresh'], '--fresh is for coll --works'),
            (['coll', '--works', 'barrier:0', '--sites', '2'], '--works has only'),
            (['coll', '--works', 'barrier'], "--works needs a list like all_reduce:8,barrier:0"),
            (['coll', '--seconds', '0'], "--seconds needs a number from 0.001 to 100, not '0'"),
            (['coll', '--seconds', 'nan'], "not 'nan'"),
            (['coll', '--seconds', '1s'], "not '1s'"),
            (['coll', '--by-call'], '--by-call is for select'),
            (['select'], 'select needs --works'),
            (['select', 'tasks', '--works', 'barrier:0'], 'give it alone'),
            (['select', '--works', 'barrier:0', '--arity', '2'], 'have only --sites-per-loc'),
            (['select', '--works', 'gahter:8'], "--works needs a list like all_reduce:8"),
            (['select', '--works', 'exchange:8'], "not 'exchange:8'"),
            (['--', '--json'], "'--json' is no subcommand")]:
        status, out, err = bench(*args)
        check_equal((status, out), (2, ''))
        lines = err.splitlines()
        check(len(lines) == 2 and why in lines[0] and lines[0].startswith('cohort-bench: ') and
              lines[1].startswith('usage: cohort-bench '), args, err)


def select(*args, job=()):
    args = ['--json', '--quick', *args, 'select']
    status, out, err = run(*job, BENCH, *args) if job else bench(*args)
    check_equal((status, err), (0, ''))
    points = json.loads(out)['points']
    for point in points:
        check(point['rows'] > 1 and 0 < point['regret'] < 1000, point)
        check(point['regret'] == 1 or point['selected'] != point['best'], point)
        check(min(point['selected_us'], point['best_us']) > 0, point)
    return points


def test_select():
    """The chosen row compared with the best one, of tasks and in a job."""
    points = select('--sites-per-locality', '3', '--works', 'all_to_all:64,barrier:0')
    check_equal([(point['name'], point['bytes'], point['sites']) for point in points],
                [('all_to_all', 64, 3), ('barrier', 0, 3)])
    spread, = select('--works', 'all_reduce:64', job=('-n', 8, '--workers', 1))
    mixed, = select('--works', 'all_reduce:64', '--sites-per-locality', '4',
                    job=('-n', 2, '--workers', 1))
    check_equal((spread['sites'], mixed['sites']), (8, 8))
    check_equal(mixed['rows'], spread['rows'] + 1)  # levels
    status, out, err = bench('--quick', '--sites-per-locality', 2, '--works', 'barrier:0', 'select')
    check_equal((status, err, [line.split()[:3] for line in out.splitlines()]),
                (0, '', [['collective', 'sites', 'bytes'], ['barrier', '2', '0']]))


def test_select_by_call():
    """Calls in turns, of rows that keep all sites in step and of others."""
    points = select('--by-call', '--sites-per-locality', '6', '--works',
                    'all_reduce:4096,broadcast:64,barrier:0', job=('-n', 2, '--workers', 1))
    check_equal([(point['name'], point['sites']) for point in points],
                [('all_reduce', 12), ('broadcast', 12), ('barrier', 12)])


def test_select_too_large():
    """What needs more memory than there is for it is told, and not measured."""
    status, out, err = bench('--json', '--quick', '--sites-per-locality', 32, '--works',
                             'all_to_all:536870912', 'select')
    check_equal((status, err, json.loads(out)['points']),
                (0, '', [{'name': 'all_to_all', 'bytes': 1 << 29, 'sites': 32, 'rows': 0}]))


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
    results = read(*run('-n', 2, BENCH, '--json', '--quick', '--rounds', 1, 'coll', '--lent',
                        '--works', 'all_to_all:65536'))['results']
    check_equal([result['params']['bytes'] for result in results], [65536])
    results = read(*bench('--json', '--quick', 'coll', '--works', 'broadcast:64'))['results']
    check_equal([result['name'] for result in results], ['broadcast'])
    results = read(*run('-n', 3, BENCH, '--json', '--quick', '--rounds', 1, 'coll', '--works',
                        'all_gather:80,reduce_scatter:80', '--sites-per-locality', 2))['results']
    check_equal([(result['name'], result['params']['sites']) for result in results],
                [('all_gather', 6), ('reduce_scatter', 6)])
    results = read(*run('-n', 2, BENCH, '--json', '--quick', '--rounds', 1, 'coll', '--fresh',
                        '--works', 'all_to_all:64', '--algorithms', 'all_to_all=ring'))['results']
    check_equal([result['params']['shape'] for result in results], ['forced'])
    results = read(*bench('--json', '--quick', 'coll', '--works', 'all_to_all:8', '--arity', 3,
                          '--sites-per-locality', 64, '--algorithms',
                          'all_to_all=hierarchical'))['results']
    check_equal([(result['params']['shape'], result['params']['arity']) for result in results],
                [('forced', 3)])
    status, _, err = bench('--json', '--quick', 'coll', '--works', 'barrier:0', '--algorithms',
                           'barrier=none')
    check(status == 1 and 'no algorithm of barrier is called "none"' in err, status, err)
    status, _, err = bench('--json', '--quick', 'coll', '--works', 'ping_pong:8')
    check(status == 1 and 'ping_pong needs a job of 2 localities with a site each, not 1' in err,
          status, err)


def test_works_without_memory():
    """One site has none: so says the other one, too, and does not wait for it."""
    status, _, err = run('-n', 2, '--keep-going', 'sh', '-c',
                         '[ $COHORT_LOCALITY = 0 ] && export COHORT_MEMORY_MIB=1; exec "$0" "$@"',
                         BENCH, '--quick', '--rounds', 1, 'coll', '--works', 'get:4194304')
    check(status != 0 and 'site 0 has no memory' in err and '(COHORT_MEMORY_MIB)' in err, err)


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


run_cases(globals(), 'test_', sys.argv[3:])
