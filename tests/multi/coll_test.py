#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives between real processes. Usage: coll_test.py COHORTRUN MEMBERS [--slow] [--long]
[--far] [case...], with the folder of the member programs. --far: on two hosts, where localities
share memory only with those of the same host. Each job checks its own results."""
import os
import re
import resource
import sys

import jobs
from jobs import check, check_equal, run

COLL = os.path.join(sys.argv[2], 'coll_member')
MISTAKE = os.path.join(sys.argv[2], 'mistake_member')
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
SLOW = '--slow' in sys.argv # under a sanitizer
LONG = '--long' in sys.argv


def fewer(generations):
    return max(generations // 10, 2) if SLOW else generations


def options(kinds):
    """Pairs --name value. The value True stands for an option without value."""
    args = []
    for name, value in kinds.items():
        args.append('--' + name.replace('_', '-'))
        args += [] if value is True else [value]
    return args


def coll(num_localities, mode, workers=1, launcher=(), **kinds):
    """A job that has to succeed, and in which all sites have to take part."""
    args = options(kinds)
    status, out, err = run('-n', num_localities, '--workers', workers, *launcher, COLL, mode, *args)
    check_equal((status, err), (0, ''))
    done = re.findall(r'(\d+) of (\d+) has done it, (\d+) sites, (\d+) workers\n', out)
    check_equal(sorted(int(rank) for rank, _, _, _ in done), list(range(num_localities)))
    check_equal({(int(n), int(w)) for _, n, _, w in done}, {(num_localities, workers)})
    check_equal(sum(int(sites) for _, _, sites, _ in done), kinds.get('sites', 4))
    return [int(sites) for _, _, sites, _ in sorted(done)]


def transpose(num_localities, num_sites, arity, **kinds):
    """All_to_alls over a tree, each checked."""
    kinds = dict({'levels': 2}, **kinds)
    coll(num_localities, 'run', sites=num_sites, arity=arity, threshold='tree', kind='all_to_all',
         generations=fewer(50), **kinds)


def test_transpose_2_localities():
    transpose(2, 5, 2, count=3)
    transpose(2, 9, 4, count=3, placement='blocks', workers=2)


def test_transpose_4_localities():
    transpose(4, 16, 4, count=3)
    transpose(4, 13, 2, count=100, placement='blocks', levels=3)
    transpose(4, 11, 4, count=1, placement='random', seed=1, algorithms='all_to_all=padded')


def test_transpose_5_localities():
    transpose(5, 15, 4, count=3)
    transpose(5, 11, 3, count=3, placement='random', seed=2, workers=2)
    transpose(5, 16, 2, count=1000, root=7)


def test_flat():
    coll(4, 'run', sites=11, threshold='flat', generations=fewer(50), count=20)


def test_objects():
    coll(1, 'objects', sites=5, count=10000, generations=fewer(50))
    coll(3, 'objects', sites=7, count=300, generations=fewer(100))
    coll(4, 'objects', sites=11, count=200000, generations=fewer(20), workers=2)


def test_placement():
    check_equal(coll(3, 'run', sites=7, placement='round-robin', generations=5), [3, 2, 2])
    check_equal(coll(3, 'run', sites=7, placement='blocks', generations=5), [3, 2, 2])
    check_equal(coll(3, 'run', sites=7, placement='one', generations=5), [0, 0, 7])


def mixed(num_localities, num_sites, seed, generations=200, **kinds):
    kinds = dict({'count': 50, 'arity': 2, 'threshold': 'tree', 'in_flight': 8}, **kinds)
    coll(num_localities, 'run', sites=num_sites, seed=seed, root=seed % num_sites,
         generations=fewer(generations), any_count=True, skips=True, **kinds)


def test_mixed():
    mixed(4, 11, 1)
    mixed(4, 11, 2, workers=2, placement='random')
    mixed(3, 8, 3, threshold='flat', placement='blocks')
    mixed(2, 7, 4, arity=3, count=3000)


def test_levels():
    """The rows that follow the machine, forced, on hosts that are played within the real ones: of
    three real ones each has as many."""
    rows = ['gather', 'scatter', 'broadcast', 'reduce', 'all_gather', 'all_reduce', 'all_to_all',
            'barrier', 'reduce_scatter', 'scan', 'exclusive_scan']
    shared = ['broadcast', 'all_reduce'] # what they can do whatever the blocks and the operation
    levels = ','.join(row + '=levels' for row in rows)
    shares = ','.join(row + '=shares' for row in shared)
    has_three = os.environ.get('COHORT_TEST_NETNS', '').count(',') == 2
    for hosts, num_sites, kinds in (
            (2, 16, {'algorithms': levels, 'generations': 100}),
            (2, 16, {'algorithms': shares, 'generations': 50, 'count': 300}),
            (4, 24, {'algorithms': levels, 'generations': 50, 'workers': 2}),
            (2, 8, {'algorithms': levels, 'generations': 20, 'count': 40000})):
        if has_three:
            hosts, num_sites = hosts * 3 // 2, num_sites * 3 // 2
        mixed(2 * hosts, num_sites, num_sites, placement='blocks', plain=True,
              launcher=('-x', 'COHORT_TOPOLOGY=%dx1x2' % hosts), **kinds)


def test_oversubscribed():
    mixed(8, 24, 5, workers=2, generations=100)


def test_several_communicators():
    mixed(4, 9, 6, comms=4, generations=60, placement='random')
    mixed(3, 9, 7, comms=3, generations=60, threshold='flat', workers=2)


def test_small_budget():
    """64 generations at once, whose messages don't fit into the budget, or just fit."""
    for count in (1, 60, 600):
        mixed(3, 8, 8, generations=128, in_flight=64, count=count, comms=2,
              launcher=('-x', 'COHORT_EAGER_BUDGET=4096'))
    coll(4, 'run', sites=8, threshold='flat', generations=fewer(200), in_flight=100, count=200,
         kind='broadcast', launcher=('-x', 'COHORT_EAGER_BUDGET=4096'))


def large(mebibytes, num_localities, num_sites, **kinds):
    """All blocks of all sites together have so many MEBIBYTES."""
    coll(num_localities, 'run', sites=num_sites, kind='all_to_all',
         count=(mebibytes << 20) // 8 // num_sites ** 2, **kinds)


def test_large():
    size = 8 if SLOW else 64
    large(size, 4, 8, arity=2, threshold='tree')
    large(size, 2, 4, threshold='flat', workers=2)
    coll(3, 'run', sites=3, kind='broadcast', count=(size << 20) // 8)


def test_recreate():
    coll(4, 'recreate', sites=6, generations=fewer(200), arity=2, threshold='tree')
    coll(3, 'recreate', sites=6, generations=fewer(200), placement='blocks', workers=2)


def test_silent():
    coll(5, 'silent')
    coll(1, 'silent')


def test_64_localities():
    mixed(64, 64, 10, arity=4, generations=20, count=20)


def test_one_locality():
    mixed(1, 9, 9)


def test_program_fails():
    for num in (1, 4):
        status, out, err = run('-n', num, COLL, 'fail', '--victim', num - 1)
        check_equal(status, 1)
        check(re.fullmatch(r'cohortrun: locality %d \(pid \d+\)( on host \w+)? exited with '
                           r'status 1: no luck today\n' % (num - 1), err), err)


def test_program_fails_alone():
    """The others wait for its sites to join. They must not wait for ever."""
    status, out, err = run('-n', 3, '--grace', '0.2', COLL, 'absent', '--victim', 1, '--sites', 6)
    check_equal((status, out), (1, ''))
    check(re.fullmatch(r'cohortrun: locality 1 \(pid \d+\)( on host \w+)? has failed: '
                       r'no luck today\n', err), err)


def test_no_standard_descriptors():
    """The program is started without the descriptors 0, 1 and 2. Files that it opens must not get
    these numbers."""
    script = 'exec "$0" "$@" <&- >&- 2>&-'
    for launcher in (['-n', 2], ['-n', 1, 'env', '-u', 'COHORT_CONTROL_FD']):
        check_equal(run(*launcher, 'sh', '-c', script, COLL, 'run', '--sites', 4), (0, '', ''))


def test_few_descriptors():
    """However few files the program may open, it either runs or prints an error. With the smallest
    limits it is the dynamic loader that prints it."""
    if SLOW:
        return # a sanitizer opens files of its own
    for num in range(4, 64):
        status, out, err = run('-n', 1, 'sh', '-c', 'ulimit -n %d; exec "$0" "$@"' % num, COLL,
                               'silent')
        if status == 0:
            break
        check(status == 1 and 'too many open files' in err.lower() or
              status == 127 and 'shared libraries' in err, num, status, err)
    check(status == 0 and num > 4, num, err)


def test_small_stack():
    """The program's own thread has a stack of 64 KiB, less what its variables take of that. Tasks
    have stacks of their own."""
    if SLOW:
        return # a sanitizer needs more
    for net in 'shm', 'ofi':
        for mode in 'run', 'objects':
            status, _, err = run('-n', 2, '--workers', 2, 'env', 'COHORT_NET=' + net, 'sh', '-c',
                                 'ulimit -s 64; exec "$0" "$@"', COLL, mode, '--sites', 4)
            check_equal((status, err), (0, ''))


def test_called_twice():
    status, out, err = run('-n', 1, COLL, 'again')
    check_equal((status, err), (0, COLL + ': cohort_main: this process has left the job for '
                                          "which its launcher had started it, and can't join "
                                          'another one\n'))


def test_cannot_start():
    """The reason is printed once."""
    for num in (1, 3):
        for variable, why in (('COHORT_NET=x', 'COHORT_NET is "x"; it can be "shm" or "ofi"'),
                              ('COHORT_STACK=1', 'COHORT_STACK is "1", not a number'),
                              ('COHORT_STACK_GUARD=x', 'it can be "kernel", "page" or "canary"'),
                              ('COHORT_TASKS=x', 'it can be "pinned" or "movable"'),
                              ('COHORT_PROGRESS=x', 'it can be "workers" or "thread"'),
                              ('COHORT_LOG=x', 'COHORT_LOG is "x"; it can be "error"')):
            check_cannot_start(num, variable, why)
    check_cannot_start(3, 'COHORT_OFI_PROVIDER=nosuch', 'libfabric provider nosuch', 'ofi')


def check_cannot_start(num, variable, why, net=''):
    status, out, err = run('-n', num, '-x', 'COHORT_NET=' + net, '-x', variable, COLL, 'silent')
    check_equal((status, out), (1, ''))
    check(re.fullmatch(r'cohortrun: locality \d \(pid \d+\)( on host \w+)? '
                       r'(exited with status 1|has failed): .*\n', err) and why in err, err)


# Mistakes ----------------------------------------------------------------------------------------

def mistake(name, num_localities, num_sites, num_usable=2, launcher=(), **kinds):
    """Checks what each site got. Afterwards all sites can use the communicator."""
    args = options(dict(kinds, sites=num_sites, stall_ms=200))
    status, out, err = run('-n', num_localities, *launcher, MISTAKE, name, *args)
    check_equal((status, err), (0, ''))
    check_equal(sorted(re.findall(r'site (\d+): usable\n', out)),
                sorted([str(site) for site in range(num_sites)] * num_usable))
    return {int(site): text for site, text in re.findall(r'site (\d+): (?!usable)(.*)\n', out)}


def check_got(got, sites, status, *parts):
    for site in sites:
        text = got.get(site, 'nothing')
        check(text.startswith(status + ' '), 'site', site, 'got', text, 'and not', status)
        for part in parts:
            check(part in text, 'site', site, 'got', text, 'without', part)


def at_all_sites(name, status, *parts, launcher=()):
    """Flat, and with a tree, where the sites that make the mistake are in other localities."""
    for threshold in ('flat', 'tree'):
        got = mistake(name, 3, 6, arity=2, threshold=threshold, launcher=launcher)
        check_equal(len(got), 6)
        check_got(got, range(6), status, *parts)


def test_wrong_length():
    at_all_sites('wrong-length', 'COHORT_ERR_MISMATCH', 'site 4 called all_to_all', 'of 5 int64',
                 'of 3 int64')


def test_wrong_datatype():
    at_all_sites('wrong-datatype', 'COHORT_ERR_MISMATCH', 'site 4 called all_reduce', 'double',
                 'int64')


def test_wrong_operation():
    at_all_sites('wrong-operation', 'COHORT_ERR_MISMATCH', 'site 4 called all_reduce', 'max', 'sum')


def test_no_buffer():
    at_all_sites('no-buffer', 'COHORT_ERR_BAD_PARAMETER', 'site 4', 'no input buffer')


def agreement(name, status, *parts):
    at_all_sites(name, status, *parts, launcher=('-x', 'COHORT_CHECK_ASYMMETRIC=1'))


def test_agreement():
    """All sites are told, also those that a gather does not depend on."""
    agreement('other-type', 'COHORT_ERR_BAD_PARAMETER', 'from int64 to double')
    agreement('other-type-at-root', 'COHORT_ERR_BAD_PARAMETER', 'from int64 to double')
    agreement('user-type', 'COHORT_ERR_NOT_SUPPORTED', 'from int64 to a user type')
    agreement('check-alone', 'COHORT_ERR_BAD_PARAMETER', 'from byte to float')
    agreement('wrong-role', 'COHORT_ERR_BAD_PARAMETER')
    agreement('gather-without-buffer', 'COHORT_ERR_BAD_PARAMETER')


def test_agreement_in_own_words():
    for threshold in ('flat', 'tree'):
        got = mistake('gather-without-buffer', 3, 6, arity=2, threshold=threshold,
                      launcher=('-x', 'COHORT_CHECK_ASYMMETRIC=1'))
        for site in range(6):
            check('site %d,' % site in got[site], got[site])
            check(('no input buffer' if site == 5 else 'the call of a site is wrong') in got[site],
                  got[site])


def test_wrong_variable():
    check_cannot_create('COHORT_CHECK_ASYMMETRIC=x', 'COHORT_CHECK_ASYMMETRIC is "x", not 0 or 1')


def check_cannot_create(variable, why):
    status, out, err = run('-n', 2, '-x', variable, COLL, 'run', '--sites', 2)
    check_equal((status, out), (1, ''))
    check(why in err, err)


def test_wrong_generation():
    at_all_sites('generation-0', 'COHORT_ERR_BAD_PARAMETER', 'generation 0')
    at_all_sites('default-generation', 'COHORT_ERR_BAD_PARAMETER', 'auto_generation')


def test_wrong_role():
    """The site that made the mistake is told, and so is the root, which depends on it."""
    for threshold in ('flat', 'tree'):
        got = mistake('wrong-role', 2, 6, arity=2, threshold=threshold)
        check_got(got, [0, 3], 'COHORT_ERR_WRONG_ROLE', 'site 3, cohort_gather_here')


def test_gather_against_broadcast():
    got = mistake('gather-against-broadcast', 2, 2)
    check_got(got, [0, 1], 'COHORT_ERR_MISMATCH', 'site 0 called gather', 'site 1 called broadcast')


def test_root_skips():
    for threshold in ('flat', 'tree'):
        got = mistake('root-skips', 3, 6, arity=2, threshold=threshold)
        check_equal(sorted(got), [1, 2, 3, 4, 5])
        check_got(got, got, 'COHORT_ERR_MOVED_PAST', 'site 0 (locality 0)')


def test_duplicate_site():
    got = mistake('duplicate-site', 2, 4)
    check_got(got, [0], 'COHORT_ERR_DUPLICATE_SITE', 'site 0')
    check_equal(len(got), 1)


def test_different_options():
    got = mistake('different-options', 3, 7, num_usable=1)
    check_got(got, range(7), 'COHORT_ERR_MISMATCH', 'arity 3', 'arity 2', 'site 6 of locality 0')


def many_localities(num):
    """Random places of the sites, and settings that need more than one message."""
    coll(num, 'run', sites=2 * num, kind='all_reduce', generations=2, placement='random', seed=3)


def test_many_localities():
    if not SLOW:  # each of them would take too much memory and time
        many_localities(360)


def test_no_memory_ofi():
    """If the address space is too small for libfabric's connections, a job either fails and says
    why, or succeeds. It does not hang."""
    for kib in () if SLOW else (45000, 55000):
        limited = ['sh', '-c', 'ulimit -v %d; exec "$@"' % kib, 'sh', COLL, 'run']
        status, _, err = run('-n', 3, '--workers', 1, '--grace', 0.2, '--timeout', 40, 'env',
                             'COHORT_NET=ofi', *limited, '--sites', 3, '--kind', 'barrier',
                             '--generations', 1)
        check(status != 124 and (status == 0 or 'cohortrun: locality ' in err), kib, status, err)


# Only in suite 'long' ----------------------------------------------------------------------------

def long_large():
    large(1024, 4, 8, arity=2, threshold='tree')
    large(1024, 2, 4, threshold='flat')


def long_64_localities():
    for num_sites in (64, 130):
        for threshold in ('tree', 'flat'):
            for placement in ('round-robin', 'blocks', 'random'):
                mixed(64, num_sites, num_sites, arity=4, threshold=threshold, placement=placement,
                      generations=40)
        mixed(64, num_sites, 1, arity=2, count=3000, generations=20, workers=2)
        coll(64, 'objects', sites=num_sites, count=2000, generations=fewer(10))
        coll(64, 'recreate', sites=num_sites, generations=fewer(20), threshold='tree')
    large(256, 64, 64, arity=8, threshold='tree')
    large(256, 64, 64, threshold='flat')


def available_mib():
    with open('/proc/meminfo', encoding='ascii') as file:
        return int(re.search(r'MemAvailable: +(\d+) kB', file.read()).group(1)) // 1024


def long_many_localities():
    """Up to what a host can have at most, if cohortrun may open 4 files for each, and there is
    memory: with libfabric's buffers a locality has 32 MiB."""
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    has_ofi = os.environ.get('COHORT_NET') == 'ofi' or '--far' in sys.argv
    for num in () if SLOW else (256, 1024, 2048, 4096):
        if 4 * num + 64 <= limit and num * (40 if has_ofi else 3) < available_mib():
            many_localities(num)


def long_mixed():
    for seed in range(40):
        mixed(2 + seed % 5, 3 + seed * 7 % 22, seed, generations=500, workers=1 + seed % 2,
              arity=2 + seed % 4, threshold=('tree', 'flat')[seed // 2 % 2],
              count=(1, 50, 2000)[seed % 3], comms=1 + seed % 3,
              placement=('random', 'blocks', 'round-robin')[seed // 3 % 3])


jobs.run_cases(globals(), 'long_' if LONG else 'test_', CHOSEN)
