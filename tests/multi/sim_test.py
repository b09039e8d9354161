#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of cohort-sim's command line and of what it prints and draws.

usage: sim_test.py COHORTRUN COHORT-SIM [case...]"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from jobs import TIMEOUT, check, check_equal, run_cases

SIM = os.path.abspath(sys.argv[2])
SVG = '{http://www.w3.org/2000/svg}'


def sim(*args, **options):
    done = subprocess.run([SIM, *(str(a) for a in args)], stdout=options.pop('stdout', -1),
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, **options)
    return done.returncode, done.stdout, done.stderr


def read(*args):
    status, out, err = sim('--json', *args)
    check_equal((status, err), (0, ''))
    return json.loads(out)


def test_one():
    """A broadcast to three others, whose times can be computed by hand."""
    report = read('broadcast', '--sites', 4, '--bytes', '1KiB', '--algorithm', 'linear',
                  '--network', 'ring', '--root', 1, '--startup', 3, '--per-byte', '0.5', '--links')
    check_equal((report['collective'], report['sites'], report['bytes'], report['root']),
                ('broadcast', 4, 1024, 1))
    [result] = report['results']
    check_equal(result['algorithm'], 'linear')
    check_equal((result['time'], result['messages'], result['bytes']), (3 * (3 + 512), 3, 3072))
    check_equal([(link['name'], link['bytes'], link['messages']) for link in result['links']],
                [('1->2', 2048, 2), ('1->0', 1024, 1), ('2->3', 1024, 1)])
    check_equal(result['busiest']['name'], '1->2')
    check_equal((result['memory'], result['tmp']), (1024, 0))
    check_equal([(phase['end'], phase['messages']) for phase in result['phases']],
                [(0, 0), (3 * (3 + 512), 3), (0, 0), (0, 0)])


def test_table():
    """All algorithms of the collective, one in each line, with the formula's time beside the
    simulated one."""
    status, out, err = sim('reduce', '--sites', 8, '--reduce', '1e-3')
    check_equal((status, err), (0, ''))
    rows = {line.split()[0]: line.split() for line in out.splitlines()[3:] if line}
    check({'linear', 'hierarchical', 'binomial'} <= set(rows), out)
    names = [result['algorithm'] for result in read('reduce', '--sites', 8)['results']]
    check_equal(list(rows), names)
    check_equal(rows['binomial'][3], '7')


def test_details():
    status, out, err = sim('all_to_all', '--sites', 16, '--network', 'mesh', '--algorithm',
                           'hierarchical')
    check_equal((status, err), (0, ''))
    for text in 'phase', 'links: ', 'messages that waited for a link: ', 'memory: ':
        check(text in out, out)
    phases = [line.split()[0] for line in out.split('phase ')[1].splitlines()[1:4]]
    check_equal(phases, ['1', '2', '3'])


def test_refusals():
    """With 'all' a line gives the reason. For a single algorithm it is an error."""
    status, out, err = sim('all_reduce', '--sites', 5, '--bytes', 0)
    check_equal((status, err), (0, ''))
    results = read('all_reduce', '--sites', 5)['results']
    for result in results:
        check(('refuses' in result) != ('time' in result), result)
        if 'refuses' in result:
            check('%s refuses: %s' % (result['algorithm'].ljust(22), result['refuses']) in out, out)
            status, alone, err = sim('all_reduce', '--sites', 5, '--algorithm',
                                     result['algorithm'])
            check_equal((status, alone), (2, ''))
            check(result['refuses'] in err, err)


def test_units():
    for text, value in ('7', 7), ('7B', 7), ('3KiB', 3072), ('2MiB', 2 << 20), ('1GiB', 1 << 30):
        check_equal(read('broadcast', '--sites', 2, '--bytes', text)['bytes'], value)


def test_hosts():
    """A message inside a host has the costs given for it."""
    [result] = read('broadcast', '--sites', 2, '--network', 'hosts:1', '--inside-startup', 2,
                    '--inside-per-byte', 0, '--algorithm', 'linear')['results']
    check_equal(result['time'], 2)


# Prices by which times can be computed by hand.
PRICES = """version = 1
cores = 2
hosts.call = 1000
hosts.startup = 5000
hosts.byte = 2
hosts.site = 500
hosts.message = 3000
hosts.moved = 0
"""


def test_machine():
    """A message from host to host, with prices from a file. One row at least is the library's
    choice, and the parts of the critical path are its whole time."""
    with tempfile.NamedTemporaryFile('w', suffix='.tune') as file:
        file.write(PRICES)
        file.flush()
        report = read('broadcast', '--machine', '2x1x1', '--bytes', '1KiB', '--tune', file.name)
    check_equal((report['hosts'], report['localities'], report['tasks'], report['sites']),
                (2, 1, 1, 2))
    check_equal((report['cores'], report['turn'], report['tune']), (1, 2.5, file.name))
    results = {r['algorithm']: r for r in report['results']}
    check_equal(results['linear']['time'], (1000 + 500 + 1500 + 2048 + 5000 + 1500) / 1000)
    check_equal(results['linear']['hosts']['messages'], 1)
    check_equal(sum(r.get('chosen', False) for r in report['results']), 1)
    for r in results.values():
        if 'time' in r:
            parts = r['calls'] + r['turns'] + sum(r[reach]['work'] + r[reach]['wire'] for reach in
                                                  ('tasks', 'localities', 'hosts'))
            check(abs(parts - r['time']) <= 1e-9 * r['time'], r)


def test_machine_levels():
    """A row that follows the machine: its sites meet, and one message goes from host to host and
    one back. It says which row its leaders have."""
    for tasks, localities in (1, 12), (4, 12):
        [result] = read('all_reduce', '--machine', '2x4x%d' % tasks, '--bytes', 8,
                        '--algorithm', 'levels')['results']
        check_equal([result[reach]['messages'] for reach in ('tasks', 'localities', 'hosts')],
                    [0, localities, 2])
        check(result['leaders'] in ('linear', 'recursive_doubling'), result)
        check((result['tasks']['work'] > 0.1) == (tasks > 1), result)  # else only the reductions
    status, out, err = sim('all_reduce', '--machine', '2x4x4', '--bytes', 8)
    check_equal((status, err), (0, ''))
    check('levels *' in out and 'shared                 refuses: ' in out, out)
    check('32 sites, blocks of 8 bytes, on 2 hosts x 4 localities x 4 tasks, 4 cores each' in out,
          out)


def test_machine_domains():
    """A level between localities and hosts, of the same price as a host: its leaders are one more
    step on the way."""
    args = ('all_reduce', '--machine', '2x8x2', '--bytes', 8, '--algorithm', 'levels')
    [without], [domains] = (read(*args, *more)['results'] for more in ([], ['--domains', 2]))
    check_equal([domains[reach]['messages'] for reach in ('localities', 'hosts')], [28, 2])
    check_equal([without[reach]['messages'] for reach in ('localities', 'hosts')], [28, 2])
    check(domains['time'] != without['time'], domains, without)
    [alone] = read('broadcast', '--machine', '1x8x1', '--domains', 4, '--bytes', 8,
                   '--algorithm', 'levels')['results']
    check_equal(alone['localities']['messages'], 7)


def test_machine_cores():
    """Fewer cores: it takes longer, and localities take turns."""
    def one(*args):
        [result] = read('all_reduce', '--machine', '2x4x1', '--bytes', 8, '--algorithm',
                        'recursive_doubling', *args)['results']
        return result
    own, few, shared = one(), one('--cores', 2), one('--shared-cores', 2)
    check(own['time'] < few['time'] < shared['time'], own, few, shared)
    check(own['turns'] == 0 < few['turns'] < shared['turns'], own, few, shared)
    check(own['busy'] < shared['busy'] <= 1, own, shared)
    check_equal(one('--shared-cores', 2, '--turn', 0)['turns'], 0)


def test_machine_large():
    """A hundred thousand sites take a second."""
    [result] = read('all_reduce', '--machine', '100x64x16', '--bytes', 8, '--algorithm',
                    'levels')['results']
    check_equal(result['localities']['messages'], 2 * 100 * 63)
    status, out, err = sim('all_gather', '--machine', '1000x64x16', '--bytes', 8, '--algorithm',
                           'ring')
    check_equal((status, out), (2, ''))
    check('--algorithm ring refuses: too many messages to simulate' in err, err)


def test_machine_plot():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'a.svg')
        for over, label in ('hosts', 'hosts'), ('bytes', 'bytes of a block'):
            status, _, err = sim('reduce', '--machine', '8x2x2', '--plot', path, '--over', over)
            check_equal((status, err), (0, ''))
            lines, texts = curves(path)
            check(label in texts, texts)
            check('levels' in [line.find(SVG + 'title').text for line in lines], texts)


def test_machine_fails():
    """What can't be simulated, and files without prices."""
    with tempfile.NamedTemporaryFile('w', suffix='.tune') as file:
        file.write('version = 1\nhosts.startap = 3\n')
        file.flush()
        for args, wanted, why in [
                (['--algorithm', 'levels', '--machine', '4x1x1'], 2,
                 '--algorithm levels refuses: subgroups of several sites'),
                (['--algorithm', 'shared', '--machine', '1x2x2'], 2, 'shared refuses: '),
                (['--machine', '2x1x1', '--tune', file.name], 2,
                 file.name + ', line 2: "startap" is no term of hosts'),
                (['--machine', '2x1x1', '--tune', '/nowhere/t'], 1,
                 '--tune /nowhere/t: No such file')]:
            status, out, err = sim('barrier', *args)
            check_equal((status, out), (wanted, ''))
            check(why in err, args, err)


def curves(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    check_equal(root.tag, SVG + 'svg')
    lines = root.findall(SVG + 'polyline')
    for line in lines:
        points = [tuple(map(float, point.split(','))) for point in line.get('points').split()]
        check(points == sorted(points), path)
        check(all(0 < x < 1080 and 0 < y < 620 for x, y in points), points)
    texts = [text.text for text in root.iter(SVG + 'text')]
    return lines, texts


def test_plot():
    """One curve and one line of the legend for each algorithm. No other file is left over."""
    for over, label, tick in ('bytes', 'bytes of a block', '64 B'), ('sites', 'sites', '4'):
        names = [result['algorithm'] for result in read('broadcast', '--sites', 20)['results']]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'a.svg')
            status, out, err = sim('broadcast', '--sites', 20, '--plot', path, '--over', over)
            check_equal((status, err), (0, ''))
            check(out.startswith('broadcast of 20 sites'), out)
            lines, texts = curves(path)
            check_equal([line.find(SVG + 'title').text for line in lines], names)
            for text in [label, tick, 'time in microseconds']:
                check(text in texts, text, texts)
            for name in names:
                check(any(text.split(' = ')[0] == name for text in texts), name, texts)
            check_equal(os.listdir(folder), ['a.svg'])


def test_plot_range():
    """Points that the network does not support are left out."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'a.svg')
        status, _, err = sim('broadcast', '--sites', 16, '--plot', path, '--over', 'sites',
                             '--from', 4, '--network', 'hypercube', '--algorithm', 'binomial')
        check_equal((status, err), (0, ''))
        [line], _ = curves(path)
        check_equal(len(line.get('points').split()), 3)
        status, _, err = sim('broadcast', '--plot', path, '--from', '1KiB', '--to', '1KiB')
        check_equal((status, err), (0, ''))


def test_plot_fails():
    """An error says what is wrong, and the file stays unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        status, out, err = sim('broadcast', '--plot', os.path.join(folder, 'no/a.svg'))
        check(status == 1 and out == '' and "no/a.svg can't be written" in err, status, out, err)
        path = os.path.join(folder, 'a.svg')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('before')
        for args in (['broadcast', '--plot', path, '--startup', 0, '--per-byte', 0],
                     ['broadcast', '--plot', path, '--over', 'site']):
            status, out, err = sim(*args)
            check(status in (1, 2) and out == '' and err, status, out, err)
            with open(path, encoding='utf-8') as file:
                check_equal(file.read(), 'before')
        check_equal(os.listdir(folder), ['a.svg'])


def test_full_disk():
    with open('/dev/full', 'w', encoding='utf-8') as full:
        status, _, err = sim('broadcast', stdout=full)
    check(status == 1 and "can't be written" in err, status, err)
    status, _, err = sim('broadcast', '--plot', '/dev/full')
    check(status == 1 and "/dev/full can't be written" in err, status, err)


def test_too_large():
    """A simulation that needs more memory than any machine has is refused at once."""
    args = 'all_to_all', '--sites', 1 << 20, '--bytes', 1, '--algorithm', 'linear'
    status, out, err = sim(*args)
    check_equal((status, out), (2, ''))
    check('linear refuses: too many messages to simulate' in err, err)


def test_wrong_options():
    for args, why in [
            ([], 'which collective? There are gather, scatter, broadcast'),
            (['broadcats'], "'broadcats' is no collective; there are gather, scatter, broadcast"),
            (['exchange'], "exchange can't be simulated here"),
            (['broadcast', 'reduce'], "one collective at a time: broadcast or 'reduce'?"),
            (['broadcast', '--algoritm', 'linear'], '--algoritm is no option'),
            (['broadcast', '--algorithm', 'binomal'],
             "--algorithm 'binomal': for broadcast there are all, linear, hierarchical, binomial"),
            (['broadcast', '--algorithm'], '--algorithm needs a value'),
            (['broadcast', '--network', 'rign'], "network 'rign' of 16 sites: there is none but"),
            (['broadcast', '--network', 'hypercube', '--sites', 6], 'a power of two'),
            (['broadcast', '--network', 'hosts:17'], 'hosts:H, with 1 to'),
            (['broadcast', '--network', 'mesh:3x5'], 'product'),
            (['broadcast', '--sites', 0], "--sites needs a number from 1 to 1048576, not '0'"),
            (['broadcast', '--sites', '4k'], "not '4k'"),
            (['broadcast', '--sites', '99999999999999999999'], '--sites needs'),
            (['broadcast', '--sites', ''], "not ''"),
            (['broadcast', '--bytes', '4kib'], "--bytes needs bytes, as in 512, 64KiB or 4MiB"),
            (['broadcast', '--bytes', '-1'], '--bytes needs'),
            (['broadcast', '--bytes', 'KiB'], '--bytes needs'),
            (['broadcast', '--bytes', '99999999GiB'], '--bytes needs'),
            (['broadcast', '--bytes', 6, '--element', 4], 'no whole number of elements'),
            (['broadcast', '--element', 0], '--element needs'),
            (['broadcast', '--arity', 1], '--arity needs a number from 2'),
            (['broadcast', '--root', 16], '--root 16: there are only sites 0 to 15'),
            (['shift', '--shift', 16], '--shift 16 has to be below'),
            (['broadcast', '--startup', 'fast'], "--startup needs microseconds"),
            (['broadcast', '--startup', '-1'], '--startup needs'),
            (['broadcast', '--per-byte', 'nan'], '--per-byte needs'),
            (['broadcast', '--per-byte', '1e99'], '--per-byte needs'),
            (['broadcast', '--reduce', ''], '--reduce needs'),
            (['broadcast', '--inside-startup', 1], 'are for --network hosts:H'),
            (['broadcast', '--plot', ''], '--plot needs a path'),
            (['broadcast', '--over', 'bytes'], 'are for --plot'),
            (['broadcast', '--plot', '/nowhere/x', '--over', 'site'],
             "--over needs bytes, sites or hosts, not 'site'"),
            (['broadcast', '--plot', '/nowhere/x', '--from', 'x'], '--from needs bytes'),
            (['broadcast', '--plot', '/nowhere/x', '--over', 'sites', '--to', '4KiB'],
             '--to needs a number of sites'),
            (['broadcast', '--plot', '/nowhere/x', '--from', 9, '--to', 8], 'is empty'),
            *((['broadcast', '--machine', machine],
               '--machine needs HxLxT, hosts, localities and tasks, up to 1048576 sites in all, '
               f"not '{machine}'") for machine in ('', '2', '2x4', '2x4x', '0x4x4', '2x4x4x4',
                                                   '2x4x4a', '1024x1024x2', '9999999999x1x1',
                                                   '65536x65536x1')),
            (['broadcast', '--machine', '2x4x1', '--sites', 8], '--sites is for networks'),
            (['broadcast', '--machine', '2x4x1', '--network', 'ring'],
             '--network is for networks'),
            (['broadcast', '--machine', '2x4x1', '--startup', 1], '--startup is for networks'),
            (['broadcast', '--machine', '2x4x1', '--links'], '--links is for networks'),
            (['broadcast', '--machine', '2x4x1', '--root', 8], 'there are only sites 0 to 7'),
            (['broadcast', '--cores', 2], '--cores is for --machine'),
            (['broadcast', '--shared-cores', 2], '--shared-cores is for --machine'),
            (['broadcast', '--turn', 2], '--turn is for --machine'),
            (['broadcast', '--domains', 2], '--domains is for --machine'),
            (['broadcast', '--machine', '2x4x1', '--domains', 3],
             '--domains 3: a host has 4 localities'),
            (['broadcast', '--tune', 'x'], '--tune is for --machine'),
            (['broadcast', '--machine', '2x4x1', '--cores', 0], '--cores needs a number from 1'),
            (['broadcast', '--machine', '2x4x1', '--turn', 'x'], '--turn needs microseconds'),
            (['broadcast', '--machine', '2x4x1', '--cores', 2, '--shared-cores', 2],
             '--shared-cores is given twice, or with --cores'),
            (['broadcast', '--machine', '2x4x1', '--plot', '/nowhere/x', '--over', 'sites'],
             '--over sites is for networks'),
            (['broadcast', '--plot', '/nowhere/x', '--over', 'hosts'],
             '--over hosts is for --machine'),
            (['broadcast', '--machine', '2x4x1', '--plot', '/nowhere/x', '--over', 'hosts',
              '--to', 3], '--to 3: the machine has 2 hosts'),
            (['broadcast', '--json=1'], '--json=1 is no option'),
            (['-x', 'broadcast'], '-x is no option')]:
        status, out, err = sim(*args)
        check((status, out) == (2, ''), args, status, out, err)
        lines = err.splitlines()
        check(len(lines) == 2 and why in lines[0] and lines[0].startswith('cohort-sim: ') and
              lines[1].startswith('usage: cohort-sim '), args, err)


def test_help():
    status, out, err = sim('--help')
    check(status == 0 and out.startswith('usage: cohort-sim') and err == '', status, out, err)
    status, out, err = sim('--version')
    check(status == 0 and out.startswith('cohort-sim ') and err == '', status, out, err)


run_cases(globals())
