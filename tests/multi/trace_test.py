#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What COHORT_TRACE makes of real jobs, and what cohort-trace says about it. Usage: trace_test.py
COHORTRUN MEMBER COHORT-TRACE [case...]"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import jobs
from jobs import check, check_equal, run

MEMBER, TOOL = map(os.path.abspath, sys.argv[2:4])
CHOSEN = [a for a in sys.argv[4:] if not a.startswith('--')]
STRAGGLER = 2  # see trace_member.c
FOLDER = tempfile.mkdtemp(prefix='cohort-trace-')
PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'trace.proto')


def path(name):
    return os.path.join(FOLDER, name)


def trace(name, *args, num=4):
    """Runs MEMBER; returns the trace's file, the job's status and outputs."""
    file = path(name + '.pb')
    status, out, err = run('-n', num, '-x', 'COHORT_TRACE=' + file, MEMBER, name, *args)
    return file, status, out, err


def tool(*args, status=0):
    done = subprocess.run([TOOL, *args], capture_output=True, text=True, timeout=jobs.TIMEOUT,
                          check=False)
    check_equal((done.returncode, done.stderr if status == 0 else ''), (status, ''))
    return done.stdout if status == 0 else done.stderr


def blamed(report):
    """How long each locality made each other one wait."""
    found = re.findall(r'^ +(\d+) made (\d+) wait ([\d.]+) s$', report, re.M)
    return {(int(maker), int(waiter)): float(s) for maker, waiter, s in found}


def look_for_straggler(name):
    """All others waited for the straggler, for most of its delay. They waited for each other, too:
    where processes start, one is late. What is exact is in tests/unit/tools/trace."""
    file, status, out, err = trace(name)
    check_equal((status, err), (0, ''))
    begin, end = map(int, re.search(r'delay (\d+) (\d+)', out).groups())
    delay = (end - begin) / 1e9
    report = tool('report', file)
    pairs = blamed(report)
    for site in range(4):
        if site != STRAGGLER:
            check(pairs.get((STRAGGLER, site), 0) >= 0.5 * delay, delay, report)
    check_equal([f for f in os.listdir(FOLDER) if '.part' in f or '.tmp' in f], [])
    return report


def test_barrier():
    report = look_for_straggler('barrier')
    check(re.search(r'"halo" barrier \w+, 3 calls: late [\d.]+ s \(site', report), report)
    check('barrier (locality 2) made tasks wait' in report, report)


def test_plot():
    """The same trace gives the same picture, which is well-formed."""
    file, status, _, err = trace('chain')
    check_equal((status, err), (0, ''))
    texts = []
    for name in (path('a.svg'), path('b.svg')):
        tool('plot', file, name)
        with open(name, encoding='ascii') as picture:
            texts.append(picture.read())
    check_equal(texts[0], texts[1])
    root = xml.etree.ElementTree.fromstring(texts[0])
    words = [element.text for element in root.iter('{http://www.w3.org/2000/svg}text')]
    check('locality 3' in words, words)
    check('waits for other localities' in words, words)
    check('No such file' in tool('plot', file, path('nowhere/a.svg'), status=1))
    tool('plot', file, status=2)


def test_reduce():
    report = look_for_straggler('reduce')
    check('"halo" all_reduce ring, 1 call: late' in report, report)


def test_chain():
    look_for_straggler('chain')


def test_channel():
    look_for_straggler('channel')


def test_task():
    """The main task of each locality waits for its own task, and for nobody else."""
    file, status, _, err = trace('task')
    check_equal((status, err), (0, ''))
    report = tool('report', file)
    check('none made another one wait' in report, report)
    check(re.search(r'slow \(locality 3\) made tasks wait \d\.[1-9]', report), report)


def decode(file):
    """The packets, as protoc writes them."""
    with open(file, 'rb') as data:
        done = subprocess.run(['protoc', '--decode=Trace', '-I' + os.path.dirname(PROTO), PROTO],
                              stdin=data, capture_output=True, text=True, check=False)
    check_equal((done.returncode, done.stderr), (0, ''))
    check(not re.search(r'^ *\d+[: ]', done.stdout, re.M), 'an unknown field')
    return done.stdout.split('\npacket {\n')


def field(packet, name):
    found = re.search(r'\b' + name + r': (\S+)', packet)
    return found and found.group(1)


def test_perfetto():
    """Slices nest on each track, names are there before they are used, each arrow has both ends, a
    message is never received before it was sent."""
    if not shutil.which('protoc'):
        return
    file, status, _, err = trace('reduce')
    check_equal((status, err), (0, ''))
    depth, names, tracks, sent, received = collections.Counter(), set(), set(), {}, {}
    last = 0
    for packet in decode(file):
        if 'event_names {' in packet:
            names.add(field(packet[packet.index('event_names'):], 'iid'))
        if 'track_descriptor {' in packet:
            tracks.add(field(packet, 'uuid'))
        if 'track_event {' not in packet:
            continue
        event = packet[packet.index('track_event'):]
        own = re.sub(r'debug_annotations \{.*?\}', '', event, flags=re.S)
        at, name, track = int(field(packet, 'timestamp')), field(own, 'name_iid'), \
            field(own, 'track_uuid')
        check(track in tracks, 'no track', packet)
        check(name is None or name in names, 'no name', packet)
        kind = field(own, 'type')
        depth[track] += {'TYPE_SLICE_BEGIN': 1, 'TYPE_SLICE_END': -1, 'TYPE_INSTANT': 0}[kind]
        check(depth[track] >= 0, 'an end without a begin', packet)
        if 'category_iids: 1\n' in event:
            check(at >= last or 'TYPE_INSTANT' in event, 'not by time', packet)
            last = max(at, last)
        for flow in re.findall(r'^ *flow_ids: (\d+)', own, re.M):
            check(flow not in sent, 'an arrow from two places', packet)
            sent[flow] = at
        for flow in re.findall(r'terminating_flow_ids: (\d+)', own):
            received[flow] = at
    check_equal(set(depth.values()), {0})
    check(len(sent) > 20, len(sent))
    check(set(received) <= set(sent), 'an arrow from nowhere')
    check(all(received[flow] >= sent[flow] for flow in received), 'received before it was sent')


def slices(file, track_name):
    """The slices on tracks of that name, as (track, begin, end, name), and the parent of each such
    track."""
    packets = decode(file)
    names = {}
    for packet in packets:
        for iid, name in re.findall(r'event_names \{\s*iid: (\d+)\s*name: "([^"]*)"', packet):
            names[iid] = name
    found, parents, opened = [], {}, {}
    for packet in packets:
        if 'track_descriptor {' in packet and 'name: "%s"' % track_name in packet:
            parents[field(packet, 'uuid')] = field(packet, 'parent_uuid')
        if 'track_event {' not in packet:
            continue
        own = re.sub(r'debug_annotations \{.*?\}', '', packet, flags=re.S)
        track, at = field(own, 'track_uuid'), int(field(own, 'timestamp'))
        if track in parents and 'TYPE_SLICE_BEGIN' in own:
            opened[track] = (at, names[field(own, 'name_iid')])
        elif track in parents:
            begin, name = opened.pop(track)
            found.append((track, begin, at, name))
    return found, parents


def test_phases():
    """Of an all_reduce by levels on two hosts, below the track of each site's calls."""
    if not shutil.which('protoc'):
        return
    file = path('levels.pb')
    topology = 'A=' if '--far' in sys.argv else 'COHORT_TOPOLOGY=2x1x2'
    status, _, err = run('-n', 4, '-x', topology, '-x', 'COHORT_TRACE=' + file, MEMBER, 'levels')
    check_equal((status, err), (0, ''))
    phases, parents = slices(file, 'phases')
    check_equal(len(parents), 4)
    names = [name for _, _, _, name in phases]
    calls = {}
    for site in range(4):
        found, _ = slices(file, '\\"halo\\" site %d' % site)
        for track, begin, end, name in found:
            calls.setdefault(track, []).append((begin, end, name))
    for number in (1, 3): # up and down within each host, and between the two leaders
        check_equal((number, names.count('phase %d: host' % number)), (number, 4))
    check_equal(names.count('phase 2: beyond host'), 2)
    check_equal(len(names), 10)
    for track, begin, end, name in phases:
        inside = [call for call in calls[parents[track]]
                  if call[0] <= begin <= end <= call[1] and call[2] == 'all_reduce levels']
        check_equal((name, len(inside)), (name, 1))


def test_alone():
    """A program that is started alone has its trace made, and hears nothing of that."""
    file = path('alone.pb')
    env = dict(os.environ, COHORT_TRACE=file, PATH=os.path.dirname(TOOL))
    done = subprocess.run([MEMBER, 'forks'], env=env, capture_output=True, text=True, check=False,
                          timeout=jobs.TIMEOUT)
    check_equal((done.returncode, done.stdout, done.stderr), (0, '', ''))
    check_equal([f for f in os.listdir(FOLDER) if f.startswith('alone')], ['alone.pb'])
    report = tool('report', file)
    check(re.match(r'job trace_member: 1 localities on 1 host, .* events\n', report), report)
    check('nothing (locality 0)' in report, report)
    # Its calls are there, though nobody else takes part in them.
    subprocess.run([MEMBER, 'barrier'], env=env, check=True, timeout=jobs.TIMEOUT)
    check(re.search(r'"halo" barrier \w+, 3 calls:', tool('report', file)))


def test_no_tool():
    """A program that finds no cohort-trace says how to make the trace."""
    file, library = path('no_tool.pb'), \
        os.path.join(os.path.dirname(os.path.dirname(TOOL)), 'libcohort.so.0')
    os.mkdir(path('lib'))
    if os.path.exists(library):
        shutil.copy(library, path('lib'))
    env = dict(os.environ, COHORT_TRACE=file, PATH='', LD_LIBRARY_PATH=path('lib'))
    done = subprocess.run([MEMBER, 'forks'], env=env, capture_output=True, text=True, check=False,
                          timeout=jobs.TIMEOUT)
    check_equal((done.returncode, done.stdout, done.stderr),
                (0, '', 'cohort: COHORT_TRACE: cohort-trace is neither beside libcohort nor in '
                        "PATH; 'cohort-trace join %s' makes the trace\n" % file))
    tool('join', '--closed', file)
    tool('report', file)
    check_equal([f for f in os.listdir(FOLDER) if f.startswith('no_tool')], ['no_tool.pb'])


def test_killed():
    """The blocks of one that was killed are in its ledger."""
    file, status, _, err = trace('killed')
    check(status != 0, status)
    check('COHORT_TRACE' not in err, err)
    report = tool('report', file)
    check('locality 1 has not come to its end' in report, report)
    check('4 localities' in report, report)
    check(re.search(r'"halo" barrier \w+, [12] call', report), report)


def test_cut():
    """With a limit there is the beginning, without gaps, and the rest is counted."""
    file = path('many.pb')
    status, _, err = run('-n', 1, '-x', 'COHORT_TRACE=' + file, '-x', 'COHORT_TRACE_MIB=1', MEMBER,
                         'many')
    check_equal(status, 0)
    check(re.fullmatch(r'cohortrun: COHORT_TRACE: .*many.pb: there was no room for \d+ records\n',
                       err), err)
    check(re.search(r'events, \d+ lost', tool('report', file)))


def test_refused():
    file = path('nowhere/trace.pb')
    status, _, err = run('-n', 2, '-x', 'COHORT_TRACE=' + file, MEMBER, 'task')
    check(status != 0, status)
    check("environment variable COHORT_TRACE: " + file + '.' in err and
          "can't be written: No such file or directory" in err, err)


def test_folder():
    """A folder is refused before anything starts, and nothing is left in it, or beside it."""
    with tempfile.TemporaryDirectory() as beside:
        folder = os.path.join(beside, 'folder')
        os.mkdir(folder)
        for name in folder, folder + '/', os.path.join(beside, 'other/'):
            status, out, err = run('-n', 2, '-x', 'COHORT_TRACE=' + name, MEMBER, 'task')
            check_equal((status, out, err), (1, '', 'cohortrun: environment variable COHORT_TRACE '
                                             'is "%s", a folder; it has to be a file\n' % name))
        check_equal((os.listdir(beside), os.listdir(folder)), (['folder'], []))


def test_join():
    """By hand, of parts that were left. Nothing else is taken for one."""
    file = path('left.pb')
    check('there are no parts of it' in tool('join', file, status=1))
    with open(file + '.0.part', 'wb') as part:
        part.write(b'x' * 5000)
    check('is no part of a trace' in tool('join', file, status=1))
    check('is no trace' in tool('report', file + '.0.part', status=1))
    os.unlink(file + '.0.part')
    tool('join', status=2)
    tool('rapport', file, status=2)
    tool('report', '--closed', file, status=2)


try:
    jobs.run_cases(globals(), 'test_', CHOSEN)
finally:
    shutil.rmtree(FOLDER)
