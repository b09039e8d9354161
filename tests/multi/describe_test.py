#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What communicators of real jobs know of the machine. Usage: describe_test.py COHORTRUN MEMBERS
[--slow] [case...], with the folder of the member programs. Under netns_test.py other cases run."""
import os
import re
import sys
import tempfile

import jobs
from jobs import check, check_equal, run

MEMBER = os.path.abspath(os.path.join(sys.argv[2], 'describe_member'))
HOSTS = os.environ.get('COHORT_TEST_NETNS')
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]


# Where the localities share memory.
BOARD = re.compile(r'board \d+ of the host: this locality has 0 of 2049 KiB in memory, and 0 on '
                   'all its boards')


def describe(num, *command, launcher=(), named=[]):
    """The levels of a communicator with two sites in each locality, which all sites agree on. Of
    each level its head, and the sites of its subgroups. The last ones have the NAMED names."""
    status, out, err = run('-n', num, *launcher, *(command or [MEMBER]))
    check_equal((status, err), (0, ''))
    lines = dict(line.split(' ', 1) for line in out.splitlines())
    check_equal(sorted(map(int, lines)), list(range(2 * num)))
    check_equal(len(set(lines.values())), 1)
    first, *rest = lines['0'].strip('|').split('|')
    check_equal(first, 'communicator "c": %d sites' % (2 * num))
    levels, is_shared = {}, False
    for line in rest:
        if BOARD.fullmatch(line):
            is_shared = True
            continue
        head = re.fullmatch(r'(\w+): (.*)', line)
        if head:
            levels[head[1]] = [head[2]]
        else:
            leader, sites = re.fullmatch(r'  (\d+) leads (.*)', line).groups()
            check(leader in re.split('[,-]', sites) or '-' in sites, line)
            levels[list(levels)[-1]].append(sites)
    check_equal(list(levels), ['locality', 'domain', 'host'] + named)
    check_equal(is_shared, num > 1 and not jobs.launcher_options(num))
    return levels


def test_alone():
    levels = describe(1)
    check_equal(levels, {'locality': ['1, at most 2 in one, in order', '0-1'],
                         'domain': ['1, as locality'], 'host': ['1, as domain']})


def test_one_host():
    levels = describe(2)
    check_equal(levels, {'locality': ['2, at most 2 in one, scattered', '0,2', '1,3'],
                         'domain': ['1, at most 4 in one, in order', '0,2,1,3'],
                         'host': ['1, as domain']})


def test_two_hosts():
    jobs.launcher_options = jobs.far_hosts
    levels = describe(3)
    jobs.launcher_options = lambda size: []
    check_equal(levels['domain'], ['2, at most 4 in one, scattered', '0,3,1,4', '2,5'])
    check_equal(levels['host'], ['2, as domain'])


def netns_hosts():
    """About as many localities on each host as there are hosts."""
    each = len(HOSTS.split(','))
    size = each ** 2 - 1
    levels = describe(size)
    check_equal(levels['host'], ['%d, as domain' % each])
    check_equal(levels['domain'][1:], [
        ','.join('%d,%d' % (rank, rank + size) for rank in range(first, min(first + each, size)))
        for first in range(0, size, each)])


def test_bound():
    """On a machine with two caches that hwloc plays, if this one has two processors."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2 or cores[:2] != [0, 1]:
        return
    bind = 'HWLOC_SYNTHETIC="l3:2 pu:%d" exec taskset -c $((COHORT_LOCALITY %% 2)) "$0"'
    levels = describe(4, 'sh', '-c', bind % 1, MEMBER)
    check_equal(levels['domain'], ['2, at most 4 in one, scattered', '0,4,2,6', '1,5,3,7'])
    check_equal(levels['host'], ['1, at most 8 in one, in order', '0,4,2,6,1,5,3,7'])
    levels = describe(2, 'sh', '-c', bind % 2, MEMBER)
    check_equal(levels['domain'], ['1, at most 4 in one, in order', '0,2,1,3'])


def test_played():
    levels = describe(5, launcher=('-x', 'COHORT_TOPOLOGY=2x2x2'))
    check_equal(levels['domain'],
                ['3, at most 4 in one, scattered', '0,5,1,6', '2,7,3,8', '4,9'])
    check_equal(levels['host'], ['2, at most 8 in one, scattered', '0,5,1,6,2,7,3,8', '4,9'])


def say(*texts):
    """A command in which each locality says one of TEXTS, in turn, as COHORT_LEVELS."""
    return ['sh', '-c', 'shift "$COHORT_LOCALITY"; COHORT_LEVELS="$1" exec "$0"', MEMBER,
            *texts * 8]


def test_named():
    hosts = [text for text in ('switch=s0,rack=r0', 'switch=s1,rack=r0', 'switch=s2,rack=r1')
             for _ in range(2)]
    levels = describe(6, *say(*hosts), launcher=('-x', 'COHORT_TOPOLOGY=6x1x1'),
                      named=['switch', 'rack'])
    check_equal(levels['host'], ['6, as domain'])
    check_equal(levels['switch'],
                ['3, at most 4 in one, scattered', '0,6,1,7', '2,8,3,9', '4,10,5,11'])
    check_equal(levels['rack'], ['2, at most 8 in one, scattered', '0,6,1,7,2,8,3,9', '4,10,5,11'])
    check_equal(describe(1, *say('pod=1'), named=['pod'])['pod'], ['1, as host'])


def test_wrong_names():
    """All localities say the same, and none waits for another."""
    for texts, why in [
            (('switch', 'switch=s1'), 'environment variable COHORT_LEVELS is "switch", not NAME='),
            (('switch=1,host=2',),
             '"switch=1,host=2", wrong: a level can\'t have the name \'host\''),
            (('switch=1', ''), 'COHORT_LEVELS has the level switch at locality 0, and no levels at '
                               'locality 1: '),
            (('switch=1', 'switch=2'), 'COHORT_LEVELS has switch=1 at locality 0, and switch=2 at '
                                       'locality 1, but both are on one host: '),
            (('a=1,b=1', 'a=1,b=1', 'a=1,b=2', 'a=1,b=2'),
             'COHORT_LEVELS has b=1 at locality 0, and b=2 at locality 2, but both are in a=1: ')]:
        status, out, err = run('-n', 4, '-x', 'COHORT_TOPOLOGY=2x1x2', *say(*texts))
        check_equal((status, out), (1, ''))
        check(why in err, err)
        check_equal(len(err.splitlines()), 1)


def test_hostfile():
    with tempfile.NamedTemporaryFile('w') as file:
        file.write('a levels=switch=s0 slots=2\nb levels=switch=s1\nc levels=switch=s0\n')
        file.flush()
        jobs.launcher_options = lambda size: jobs.far_hosts(size)[2:] + ['--hostfile', file.name]
        levels = describe(4, named=['switch'])
        jobs.launcher_options = lambda size: []
    check_equal(levels['host'], ['3, as domain'])
    check_equal(levels['switch'], ['2, at most 6 in one, scattered', '0,4,1,5,3,7', '2,6'])


def test_wrong():
    for size, text, why in [
            (2, '2x2', r'"2x2", not HOSTSxDOMAINSxLOCALITIES, each from 1 to 4096'),
            (3, '1x2x1', '1x2x1, but the job has 3 localities')]:
        status, out, err = run('-n', size, '-x', 'COHORT_TOPOLOGY=' + text, MEMBER)
        check_equal((status, out), (1, ''))
        check('environment variable COHORT_TOPOLOGY is ' + why in err, err)


jobs.run_cases(globals(), 'netns_' if HOSTS else 'test_', CHOSEN)
