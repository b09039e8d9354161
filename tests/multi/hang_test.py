#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cohortrun says of programs that hang. Usage: hang_test.py COHORTRUN MEMBER [lines]
[no_limit] [thread_sanitizer] [--far] [case...]. lines: cohortrun knows those of source files.
no_limit: it may be slow. thread_sanitizer: it can't do everything.

A hang has no end that a test could wait for: it asks again until the answer is the one that it
wants, or TIMEOUT is over."""
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import jobs
from jobs import COHORTRUN, TIMEOUT, Job, check, check_equal, children_of, is_running

MEMBER = os.path.abspath(sys.argv[2])
HAS_LINES = 'lines' in sys.argv
FOR = r', for \d+\.\d s'


def status(*args):
    result = subprocess.run([COHORTRUN, '--status'] + [str(a) for a in args], text=True,
                            stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    return result.returncode, result.stdout, result.stderr


def without_times(text):
    """In the order of letters, since that of the text is by age, and ages are not exact."""
    return sorted(re.sub(r'\d+\.\d s', 'T s', text).split('\n'))


def find_groups(text):
    return re.findall(r'^  (\d+)((?: \(.*?locali.*?\))? (?:in|to begin) .*)', text, re.MULTILINE)


def check_json(pid):
    """It says the same as the text, but times. It is asked for between two texts that are alike, so
    it is of the same state, unless that has changed for a moment only: a task of the library has
    waited. Then there is another number of groups."""
    deadline = time.monotonic() + TIMEOUT
    text, again, said = '', None, {}
    while without_times(text) != again or len(said['waiting']) != len(find_groups(text)):
        check(time.monotonic() < deadline, 'it goes on', text, said)
        text = status(pid)[1]
        code, out, err = status(pid, '--json')
        check_equal((code, err), (0, ''))
        again = without_times(status(pid)[1])
        said = json.loads(out)
    check_equal(said['version'], 1)
    check(text.startswith('job %d, ' % said['job'] if 'job' in said else 'process '), text)
    check(said['program'] in text, text)
    check_equal(sorted(comm['name'] + str(comm['generation']) for comm in said['communicators']),
                sorted(a + b for a, b in re.findall(
                    r'^communicator "(.*?)".*?, generation (\d+):', text, re.MULTILINE)))
    check_equal(sorted(creation['name'] for creation in said['creations']),
                sorted(re.findall('^(?:creation|shrink|agreement) of "(.*?)"', text, re.MULTILINE)))
    for comm in said['communicators']:
        check_equal(comm['num_missing'], len(comm['missing']) +
                    sum(last - first + 1 for first, last in comm['absent']))
        for site in comm['missing']:
            line = re.search(r'^  site %d \(locality %d\): %s; (.*)' % (
                site['site'], site['locality'],
                'last called %d' % site['last_called'] if site['last_called'] else
                'has called nothing'), text, re.MULTILINE)
            check(line and FATES[site['fate']] in line[1], site, text)
            check_wait(site.get('wait'), line[1])
    for creation in said['creations']:
        for join in creation['joined']:
            line = re.search(r'^  site %d (?:joined|has called it) in locality %d(.*)' % (
                join['site'], join['locality']), text, re.MULTILINE)
            check(line, join, text)
            check_wait(join.get('wait'), line[1])
    groups = find_groups(text)
    check_equal(sorted(group['num'] for group in said['waiting']),
                sorted(int(num) for num, _ in groups))
    for group in said['waiting']:
        check(any(is_said(group.get('wait', group.get('one_of_them')), line)
                  for num, line in groups if int(num) == group['num']), group, groups)
    check_equal(sorted(cycle['certain'] for cycle in said['deadlocks']),
                sorted(not perhaps for perhaps in re.findall('^(perhaps a )?deadlock:', text,
                                                             re.MULTILINE)))
    for locality in said['localities']:
        check_equal(bool(locality.get('stopped')), bool(re.search(
            r'^locality %d \(pid %d\).* stopped' % (locality['locality'], locality['pid']), text,
            re.MULTILINE)))
    return said


FATES = {'waits': 'task waits in', 'computes': 'computes', 'returned': 'has returned',
         'runs': 'does not wait', 'stopped': 'is stopped', 'ended': 'has ended'}


def is_said(wait, line):
    """Whether LINE names the place of WAIT."""
    if 'at_end' in wait:
        return '(at its end)' in line
    if 'has_to_begin' in wait:
        return 'to begin the task %s' % wait['task_function'] in line
    return wait['in'] + (' (%s)' % wait['line'] if 'line' in wait else '') in line


def check_wait(wait, line):
    check(wait is None or is_said(wait, line), wait, line)


def await_status(pid, *patterns, job=None):
    """Each pattern has to be in the text, from the beginning of a line on. @f@ is a place in
    function f, of any task. JOB, if it is given, does not end meanwhile."""
    place = r'\1(\\+0x[0-9a-f]+| \\(hang_member\\.c:\\d+\\))( \\(task \\w+\\))?'
    patterns = [re.sub('@(.*?)@', place, pattern) for pattern in patterns]
    deadline = time.monotonic() + TIMEOUT
    while True:
        code, out, err = status(pid)
        missing = [p for p in patterns if not re.search('^' + p, out, re.MULTILINE)]
        if not missing:
            check_equal((code, err), (0, ''))
            return out
        if job and job.process.poll() is not None:
            raise jobs.Failed('the job has ended', *job.finish())
        check(time.monotonic() < deadline, 'no', missing, 'in', out, err)
        jobs.pause(0.1)


class Hang(Job):
    def __init__(self, size, program, *options):
        super().__init__('-n', size, *options, MEMBER, program)
        self.size = size

    def localities(self):
        """Their pids, by rank."""
        pids = {}
        deadline = time.monotonic() + TIMEOUT
        while len(pids) < self.size:
            check(time.monotonic() < deadline, 'only', pids)
            jobs.pause()
            for pid in self.processes():
                rank = re.search(rb'\0COHORT_LOCALITY=(\d+)', jobs.read_proc(pid, 'environ'))
                if rank and is_running(pid, MEMBER):
                    pids[int(rank[1])] = pid
        return [pids[rank] for rank in range(self.size)]

    def kill(self):
        self.process.kill()
        self.process.communicate()
        self.check_nothing_left(wait=True)


def check_hang(size, program, *patterns, options=()):
    job = Hang(size, program, *options)
    out = await_status(job.process.pid, *patterns, job=job)
    check_json(job.process.pid)
    job.kill()
    return out


def test_name():
    out = check_hang(
        3, 'name', r'job \d+, 3 localities: ' + re.escape(MEMBER) + ' name\n',
        'creation of "tranpose", 3 sites: 1 has joined' + FOR + '; missing: 0, 2\n'
        r'  site 1 joined in locality 1, where its task waits in @join@\n'
        r'  looks like "transpose", which waits for sites, too \(3 sites\)\n',
        'creation of "transpose", 3 sites: 0, 2 have joined' + FOR + '; missing: 1\n'
        r'  site 0 joined in locality 0, .*\n  site 2 joined in locality 2, .*\n'
        r'  looks like "tranpose", ',
        r"  3 \(3 localities\) in @join@ for a communicator's other sites to join" + FOR)
    check('deadlock' not in out, out)


def test_count():
    check_hang(3, 'count', 'creation of "grid", 4 sites: 0-2 have joined' + FOR + '; missing: 3\n'
               r'(  site \d joined .* waits in .*\n){3}'
               '  no name looks like it: num_sites may be too large')


def test_turns():
    check_hang(1, 'turns', 'creation of "pair", 2 sites: 0 has joined' + FOR + '; missing: 1\n'
               r'  site 0 joined in locality 0, where its task waits in @turns@\n'
               '  no name looks like it: .* before it joins as the next',
               r"  1 in @turns@ for a communicator's other sites to join: \"pair\"" + FOR)


def test_returns():
    check_hang(3, 'returns', r'locality 0 \(pid \d+\): its program has returned, \d+\.\d s ago\n'
               'communicator "halo", generation 2: 2 of 3 sites have called' + FOR + '; missing:\n'
               r'  site 0 \(locality 0\): last called 1; its program has returned, .* ago\n')


def test_never_joins():
    check_hang(3, 'never_joins',
               'creation of "halo", 3 sites: 1-2 have joined' + FOR + '; missing: 0\n'
               r'(  site \d joined .* waits in .*\n){2}'
               '  a program that has returned without joining: locality 0\n')


def test_straggler():
    check_hang(3, 'straggler',
               'communicator "halo", generation 2: 2 of 3 sites have called' + FOR + '; missing:\n'
               r'  site 0 \(locality 0\): last called 1; its task computes or has ended: the '
               r'task straggler has not paused on worker \d' + FOR + '\n')


def test_channel():
    """Whose block it is that does not come, and what that site does instead."""
    check_hang(3, 'channel',
               'communicator "halo", generation 2: 2 of 3 sites have called' + FOR + '; missing:\n'
               r'  site 0 \(locality 0\): last called 1; its task waits in @take_block@ '
               r'for a block from site 1 of "halo", tag 1 \(cohort_channel_get\)' + FOR + '\n'
               r'    the task of site 1 \(locality 1\) waits in @meet@ for a collective of "halo", '
               'generation 2' + FOR + '\n')


def test_sets_first():
    """The deadlock of every course: both send, and then receive."""
    place = r'@give_block@ for site %d of "pair" to get a block, tag 7 \(cohort_channel_set\)'
    job = Hang(2, 'sets_first')
    out = await_status(
        job.process.pid, 'deadlock: each of these tasks waits for the next, the last for the '
        'first:\n' r'  locality 0: in ' + place % 1 + FOR + '\n' r'  locality 1: in ' + place % 0 +
        FOR + '\n', job=job)
    pids = job.localities()
    check('processes, for gdb -p: %d (locality 0), %d (locality 1)\n' % tuple(pids) in
          re.sub(' on host [ab]', '', out), out, pids)
    said = check_json(job.process.pid)
    check_equal([[(task['wait']['for'], task['wait']['communicator'], task['wait']['site'],
                   task['wait']['tag'], task['wait']['receiver_locality'])
                  for task in cycle['tasks']] for cycle in said['deadlocks']],
                [[('set', 'pair', 1, 7, 1), ('set', 'pair', 0, 7, 0)]])
    job.kill()


def test_forgets():
    """A block that is awaited with others, by cohort_when_all: who has not sent it."""
    block = r'for a block from site 0 of "halo", tag 3 \(cohort_channel_get\)'
    wait = '@exchange_halos@ for one future'
    check_hang(3, 'forgets',
               'communicator "halo", generation 1: 2 of 3 sites have called' + FOR + '; missing:\n'
               r'  site 1 \(locality 1\): has called nothing; its task waits in ' + wait + FOR +
               '\n    it is a block from site 0 of "halo", tag 3 .*\n'
               r'      the task of site 0 \(locality 0\) waits in @meet@ for a collective of '
               '"halo", generation 1' + FOR + '\n',
               'deadlock: each of these tasks waits for the next, the last for the first:\n'
               r'  locality 0: in @meet@ for a collective of "halo", generation 1' + FOR + '\n'
               '  locality 1: in ' + wait + FOR + '\n    that is, ' + block + '\n')


def test_sites():
    """A circle of tasks in scopes, for the end of which the programs wait. Who awaits the sites has
    begun with their task itself, or another worker has, and then waits for that."""
    place = r'  locality %d: in @take_block@ for a block from site %d of "ring", tag 1 .*\n'
    job = Hang(2, 'sites')
    out = await_status(job.process.pid, 'deadlock: each of these tasks waits for the next, .*\n' +
                       place % (0, 1) + place % (0, 2) + place % (1, 3) + place % (1, 0),
                       r'  (2 \(2 localities\)|1 \(locality .\)) in ring_site \(at its end\) '
                       'for the end of a scope( with 2 tasks left)?' + FOR, job=job)
    check('perhaps' not in out, out)
    check_json(job.process.pid)
    job.kill()


def test_ranges():
    """A circle by way of cohort_parallel_for, for the end of which the programs wait."""
    place = (r'  locality %d: in @await_range@ for the end of a range with 1 part left' + FOR +
             r'\n  locality %d: in @take_block@ for a block from site %d of "pair", tag 1 .*\n')
    job = Hang(2, 'ranges')
    await_status(job.process.pid, 'deadlock: each of these tasks waits for the next, .*\n' +
                 place % (0, 0, 1) + place % (1, 1, 0),
                 r'  2 \(2 localities\) in @await_range@ for the end of a range' + FOR, job=job)
    said = check_json(job.process.pid)
    check_equal([group['one_of_them']['parts_left'] for group in said['waiting']
                 if group['one_of_them']['for'] == 'range'], [1])
    job.kill()


def test_nested():
    """What combinators in combinators wait for, each behind what needs it."""
    job = Hang(2, 'nested')
    await_status(job.process.pid,
                 r'  locality 0: to begin the task consume for one future' + FOR +
                 r'\n    that is, for all of 3 futures\n    that is, for a block from site 1 of '
                 r'"pair", tag 10 \(cohort_channel_get\)\n', 'deadlock: ',
                 r'  \d+ (\(2 localities\) )?to begin the task consume for several futures',
                 r'  \d+ (\(2 localities\) )?to begin the task add_up for several futures', job=job)
    said = check_json(job.process.pid)
    combinators = [[(one['pending'], one['wanted']),
                    sorted((i['for'], i.get('tag', 0)) for i in one['inputs'])]
                   for one in said['combinators'] if one['locality'] == 0]
    check_equal(sorted(combinators),
                [[(1, 1), [('get', 11)]], [(1, 1), [('several', 0)]],
                 [(2, 1), [('get', 12), ('get', 13)]],
                 [(3, 3), [('get', 10), ('several', 0), ('task', 0)]]])
    job.kill()


REASON = 'cannot read \u00e9tat.dat'


def test_fails():
    """Why a locality has failed is said at once: by cohortrun, by --status and at a timeout."""
    job = Hang(2, 'fails', '--grace', 600)
    check(re.fullmatch(r'cohortrun: locality 1 \(pid \d+\)( on host \w)? has failed: ' + REASON +
                       '\n', job.process.stderr.readline().decode()))
    await_status(job.process.pid, r'locality 1 \(pid \d+\): its program has returned an error, '
                 r'\d+\.\d s ago: ' + REASON + '\n', job=job)
    said = json.loads(status(job.process.pid, '--json')[1])
    check_equal(said['localities'][1]['error'], REASON)
    job.kill()
    for end in interrupt, None:
        job = Hang(2, 'fails', '--grace', 600, *([] if end else ['--timeout', 1]))
        if end:
            await_status(job.process.pid, r'locality 1 \(pid \d+\): its program has returned')
            end(job)
        err = job.process.communicate(timeout=TIMEOUT)[1].decode()
        check_equal((job.process.returncode, err.count('has failed: ' + REASON)),
                    (130 if end else 124, 1))


def interrupt(job):
    job.process.send_signal(signal.SIGINT)


def test_never_returns():
    """A task that never returns is named by those who wait for its site."""
    name = r'the task spin has not paused on worker \d+'
    check_hang(2, 'never_returns',
               r'locality 0 \(pid \d+\): ' + name + FOR + '\n',
               'communicator "halo", generation 2: 1 of 2 sites has called' + FOR + '; missing:\n'
               r'  site 0 \(locality 0\): last called 1; '
               r'(its task computes or has ended: |its task waits in @never_returns@ for a task' +
               FOR + '\n    that task does not wait: it runs or has ended; )' + name + FOR + '\n',
               options=['-x', 'COHORT_WORKERS=1'])


def test_exchange():
    """A block that nobody sends does not hang: the site that owes it is named."""
    job = Job('-n', 3, '--grace', 0.2, MEMBER, 'exchange')
    code, _, err = job.finish()
    check(code == 1 and re.search(
        r'communicator "ring", generation 1, site 2, exchange .*: site 1 \(locality 1\) is through '
        'with this generation .*: it does not send this site so many blocks', err), err)


def test_holds():
    """A mutex of pthreads is held across an await: where that is, and which worker is blocked."""
    out = check_hang(2, 'holds', *[
        r'locality %d \(pid \d+\): a task blocks worker \d' % rank + FOR + '(, in a lock or a '
        r'condition of pthreads: its holder may be a task that waits for this worker \(.*futex.*\)|'
        ', in a call of the system: other tasks wait for this worker)\n' for rank in range(2)],
        r'  2 \(2 localities\) in @wait_with_held@ for a future' + FOR)
    check_equal(out.count('blocks'), 2)


def test_agrees():
    """Who does not come to an agreement is named, and what it waits for instead."""
    check_hang(3, 'agrees',
               'agreement of "halo": 2 of 3 sites that live have called it' + FOR + '; missing:\n'
               r'  site 1 \(locality 1\): its task waits in @meet@ for a collective of "halo", '
               'generation 1' + FOR + '\n'
               r'  site 0 has called it in locality 0, where its task waits in @agree@\n'
               r'  site 2 has called it in locality 2, where its task waits in @agree@\n',
               r'  2 \(2 localities\) in @agree@ for an agreement' + FOR)


def test_shrinks():
    """The call that the death has ended is not said to miss the dead site."""
    out = check_hang(
        4, 'shrinks', 'locality 1 .* was killed by signal 9',
        'shrink of "halo": 2 of 3 sites that live have called it' + FOR + '; missing:\n'
        r'  site 3 \(locality 3\): its task waits in @wait_for_never@ for a future' + FOR + '\n'
        r'  site 0 has called it in locality 0, where its task waits in @shrink@\n'
        r'  site 2 has called it in locality 2, where its task waits in @shrink@\n',
        r'  2 \(2 localities\) in @shrink@ for a shrink' + FOR, options=['--keep-going'])
    check('generation' not in out, out)


def test_revokes():
    """Nor is one that a revocation has ended."""
    out = check_hang(
        2, 'revokes', 'shrink of "halo": 1 of 2 sites that live has called it' + FOR +
        '; missing:\n'
        r'  site 1 \(locality 1\): its task waits in @wait_for_never@ for a future' + FOR + '\n',
        r'  1 \(locality 0\) in @shrink@ for a shrink of "halo"' + FOR)
    check('generation' not in out, out)


def test_places():
    """Functions of the library that wait inside are said by who has called them."""
    check_hang(2, 'places', r'  1 \(locality 0\) in @read_in_thread@ for a timer, ',
               r'  1 \(locality 1\) in @await_scope@ for ')


def test_remote():
    """Which remote task, and where."""
    what = ' for the remote task "%s" of locality 1' + FOR
    check_hang(2, 'remote', r'  1 \(locality 0\) in @call_solve@' + what % 'solve',
               r'  1 \(locality 0\) in @call_other@' + what % 'solve/other')


def test_remote_busy():
    """The same where the task's locality computes, and has no tick to say so."""
    check_hang(2, 'remote_busy',
               r'locality 0 \(pid \d+\): the task spin has not paused on worker 0' + FOR,
               r'  1 \(locality 0\) in @call_other@ for the remote task "solve/other" of '
               'locality 1' + FOR, options=['-x', 'COHORT_WORKERS=1'])


def test_words():
    """--json may stand first; a word that is mistyped is named."""
    job = Hang(1, 'turns')
    await_status(job.process.pid, 'creation of "pair"')
    for args in (['--json', '--status', job.process.pid], ['--status', '--json', job.process.pid]):
        code, out, err = run_words(*args)
        check_equal((code, err, json.loads(out)['job']), (0, '', job.process.pid))
    for args, why in (
            (['--status', '--jsn'], "'--jsn' is no option; is --json meant?"),
            (['--json', '--statsu'], "'--statsu' is no option; is --status meant?"),
            (['--json'], '--json needs --status'),
            (['--status', '--json', '--json'], "'--json' is given twice"),
            (['--status', '1', '2'], "one pid stands behind --status, but '2' is another"),
            (['--status', '--tag'],
             "'--tag' does not go with --status, which takes a pid or core files, and --json")):
        check_equal(run_words(*args), (2, '', 'cohortrun: ' + why + '\n'))
    job.kill()


def run_words(*words):
    result = subprocess.run([COHORTRUN] + [str(word) for word in words], text=True,
                            stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    return result.returncode, result.stdout, result.stderr


def test_unread():
    """Of a job no locality of which can be read nothing is said, and the status tells so."""
    job = Job('-n', 2, 'sleep', 100)
    deadline = time.monotonic() + TIMEOUT
    while True:
        code, out, _ = status(job.process.pid)
        if code == 1 and "localities 0-1 can't be read: " in out:
            break
        check(time.monotonic() < deadline, code, out)
        jobs.pause(0.1)
    job.process.terminate()
    job.finish()


def test_lines():
    """A program with -g, if cohortrun has been built with libdw: the line is the right one."""
    if not HAS_LINES:
        return
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'hang_member.c')) as f:
        lines = f.read().split('\n')
    line = next(i for i, text in enumerate(lines, 1) if 'cohort_await(cohort_barrier(' in text)
    check_hang(2, 'returns',
               r'  1 \(locality 1\) in meet \(hang_member\.c:%d\) \(task returns\) for ' % line)


def test_opposite():
    check_hang(2, 'opposite', 'deadlock: each of these tasks waits for the next, the last for the '
               'first:\n'
               r'  locality 0: in @meet@ for a collective of "rows", generation 1' + FOR + '\n'
               r'  locality 1: in @meet@ for a collective of "columns", generation 1' + FOR)


def test_opposite_of_three():
    """A barrier needs all sites, so it is one for certain though another site is missing, too."""
    check_hang(3, 'opposite_of_three', 'deadlock: each of these tasks waits for the next, the last '
               'for the first:\n'
               r'  locality 0: in @meet@ for a collective of "rows", generation 1' + FOR + '\n'
               r'  locality 1: in @meet@ for a collective of "columns", generation 1' + FOR)


def test_opposite_of_guests():
    """A callback of the program on the loop may call for a site."""
    job = Hang(2, 'opposite_of_guests')
    await_status(job.process.pid, 'perhaps a deadlock: each of these tasks waits for the next, '
                 'the last for the first:\n'
                 r'  locality 0: in @meet@ for a collective of "rows", generation 1, '
                 r'for [2-9]\.\d s', job=job)
    for _ in range(5):
        _, out, _ = status(job.process.pid)
        check('\ndeadlock' not in out, out)
    job.kill()


def test_broadcast():
    """A broadcast does not, and it is none."""
    out = check_hang(3, 'broadcast', 'perhaps a deadlock: each of these tasks waits for the next, '
                     'the last for the first:\n'
                     r'  locality 1: in @receive@ for a collective of "rows", generation 1' + FOR +
                     '\n' r'  locality 2: in @meet@ for a collective of "columns", generation 1' +
                     r', for [1-9]\d*\.\d s')
    check('\ndeadlock' not in out, out)


def test_made_for_others():
    """A site's task is the one that has made it only until another one calls for it."""
    out = check_hang(1, 'made_for_others', 'perhaps a deadlock: ',
                     r'  1 in @meet@ \(task meet_as_0\) for a collective of "both", generation 1, '
                     r'for [2-9]\.\d s')
    check('\ndeadlock' not in out, out)


def test_remote_circle():
    """Which task works on a remote call, and what that waits for in turn."""
    there = r'@meet@ for a collective of "halo", generation 2' + FOR + '\n'
    here = r'@call_meet_there@ for the remote task "meet_there" of locality 1' + FOR + '\n'
    check_hang(2, 'remote_circle', 'deadlock: each of these tasks waits for the next, the last for '
               'the first:\n' r'  locality 0: in ' + here + r'  locality 1: in ' + there,
               r'  1 \(locality 0\) in ' + here + '    that task, of locality 1, waits in ' + there)


def test_objects():
    check_hang(1, 'objects', *[r'  1 in (@await_%s@|await_%s \(at its end\)).* for a %s' %
                               (name, name, name.replace('_', ' ')) + FOR for name in (
                                   'condition', 'semaphore', 'latch', 'local_barrier', 'queue')])


def test_passed_on():
    """The tasks that have made the sites have ended. Others have their addresses now, and may be
    about to call: it is no deadlock."""
    out = check_hang(1, 'passed_on', r'  site 1 \(locality 0\): has called nothing; its task does '
                     'not wait', '  1 in @meet_never@ for a future' + FOR)
    check('deadlock' not in out, out)


def test_alone():
    """Of a program without cohortrun, by its pid."""
    job = subprocess.Popen([MEMBER, 'alone'], stdin=subprocess.DEVNULL)
    try:
        await_status(job.pid, r'process %d, alone: ' % job.pid + re.escape(MEMBER) + '\n',
                     r'  1000 in @wait_for_ever@ for a future' + FOR + ' at most\n',
                     'deadlock: (each of these tasks waits for the next|'
                     'a task waits for one that awaits it:)', # which then runs it itself
                     r'  locality 0: in @lock_second@ for a mutex' + FOR + '\n')
        said = check_json(job.pid)
        check_equal([group['num'] for group in said['waiting']][0], 1000)
        check_equal({w['wait']['for'] for w in said['deadlocks'][0]['tasks']} | {'task'},
                    {'mutex', 'task'})
    finally:
        job.kill()
        job.wait()


class Alone:
    """A program without a launcher, which is killed at the end, whatever a check has found; also
    when it has said nothing for TIMEOUT."""
    def __init__(self, *command):
        self.command = command

    def __enter__(self):
        self.process = subprocess.Popen(self.command, text=True, stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE)
        self.watchdog = threading.Timer(TIMEOUT, self.process.kill)
        self.watchdog.start()
        return self.process

    def __exit__(self, *_):
        self.watchdog.cancel()
        self.process.kill()
        self.process.communicate()
        jobs.await_orphans() # a reader, which nobody else waits for


def await_no_children(pid):
    """The reader's parent ends before the reader says anything, but its own may reap it later."""
    deadline = time.monotonic() + TIMEOUT
    while children_of(pid):
        check(time.monotonic() < deadline, 'children', children_of(pid))
        jobs.pause()


def test_signal():
    """A program without a launcher says it itself, and has no child and no descriptor more then. A
    program that has said what SIGUSR2 is to do is left alone."""
    if 'thread_sanitizer' in sys.argv: # a child that a handler forks hangs in its code
        return
    with Alone(MEMBER, 'alone') as process:
        await_status(process.pid, '  1000 in @wait_for_ever@')
        descriptors = os.listdir('/proc/%d/fd' % process.pid)
        process.send_signal(signal.SIGUSR2)
        lines = [process.stderr.readline()]
        while lines[-1] != 'waiting tasks:\n':
            check(lines[-1], 'it ended', lines)
            lines.append(process.stderr.readline())
        check(lines[0].startswith('process %d, alone: ' % process.pid), lines)
        await_no_children(process.pid)
        check_equal(os.listdir('/proc/%d/fd' % process.pid), descriptors)
    ignore = 'import os, signal, sys; signal.signal(signal.SIGUSR2, signal.SIG_IGN); ' \
             'os.execv(sys.argv[1], sys.argv[1:])'
    with Alone(sys.executable, '-c', ignore, MEMBER, 'alone') as process:
        await_status(process.pid, '  1000 in @wait_for_ever@')
        process.send_signal(signal.SIGUSR2)
        await_status(process.pid, '  1000 in @wait_for_ever@')
        process.kill()
        check_equal(process.stderr.read(), '')


def test_signal_in_job():
    """A locality says it, too: of the whole job if cohortrun is on its host. All go on."""
    if 'thread_sanitizer' in sys.argv:
        return
    job = Hang(2, 'opposite')
    await_status(job.process.pid, 'deadlock: ')
    os.kill(job.localities()[1], signal.SIGUSR2)
    watchdog = threading.Timer(TIMEOUT, job.process.kill)
    watchdog.start()
    lines = [job.process.stderr.readline().decode()]
    while lines[-1] != 'waiting tasks:\n':
        check(lines[-1], 'it ended', lines)
        lines.append(job.process.stderr.readline().decode())
    watchdog.cancel()
    check(lines[0].startswith('job %d, 2 localities: ' % job.process.pid), lines)
    await_status(job.process.pid, 'deadlock: ')
    job.kill()


def test_stopped():
    """A locality that is stopped is read like any other, at once."""
    job = Hang(3, 'channel')
    await_status(job.process.pid, 'communicator "halo", generation 2')
    stopped = job.localities()[1]
    os.kill(stopped, signal.SIGSTOP)
    await_status(job.process.pid, r'locality 1 \(pid %d\): it is stopped' % stopped)
    took = []
    while not took or (min(took) >= 1 and len(took) < 10): # the machine may have other work
        start = time.monotonic()
        out = await_status(job.process.pid, r'  site 0 \(locality 0\): last called 1; ')
        took.append(time.monotonic() - start)
    check(min(took) < 1 or 'no_limit' in sys.argv, 'it took', took)
    # It is named by any of its processes, too.
    for pid in [stopped] + children_of(job.process.pid):
        check_equal(status(pid)[1].split(',')[0], out.split(',')[0])
    job.kill()


def test_stopped_busy():
    """One that is stopped while its task computes: both are said."""
    job = Hang(2, 'never_returns', '-x', 'COHORT_WORKERS=1')
    name = r'locality 0 \(pid \d+\): the task spin has not paused on worker 0' + FOR + '\n'
    await_status(job.process.pid, name)
    os.kill(job.localities()[0], signal.SIGSTOP)
    await_status(job.process.pid,
                 r'locality 0 \(pid \d+\): it is stopped, by a signal or a debugger\n' + name)
    check_json(job.process.pid)
    job.kill()


def test_quit():
    """SIGQUIT prints the same to standard error, and the job goes on; --timeout ends with it."""
    job = Hang(1, 'turns')
    await_status(job.process.pid, 'creation of "pair"')
    for _ in range(2):
        job.process.send_signal(signal.SIGQUIT)
        lines = [job.process.stderr.readline().decode() for _ in range(7)]
        check_equal(lines[0], 'cohortrun: job %d, 1 locality: %s turns\n' %
                    (job.process.pid, MEMBER))
        check(lines[1].startswith('cohortrun: creation of "pair", 2 sites: 0 has joined'), lines)
        check(lines[5].startswith('cohortrun:   1 in turns'), lines)
    job.process.send_signal(signal.SIGTERM)
    code, _, err = job.finish()
    check(code == 143 and 'was killed by signal 15' in err, code, err)


def test_gathering():
    """While daemons are awaited, SIGQUIT names their hosts, and nothing is said to be read."""
    job = Job('--hosts', 'a,b', '--listen', '127.0.0.1', '--agent', 'exec sleep 1000 #{host}',
              MEMBER, 'channel')
    deadline = time.monotonic() + TIMEOUT
    while sum(b'sleep' in jobs.read_proc(pid, 'comm') for pid in job.processes()) < 2:
        check(time.monotonic() < deadline, 'no agents')
    job.process.send_signal(signal.SIGQUIT)
    check_equal(job.process.stderr.readline().decode(), 'cohortrun: no answer so far from: a, b\n')
    check_equal(status(job.process.pid)[1], 'job %d, 2 localities: %s channel\n'
                'locality 0 has not been started\nlocality 1 has not been started\n' %
                (job.process.pid, MEMBER))
    job.process.send_signal(signal.SIGTERM)
    check_equal(job.finish()[0], 143)


def test_timeout():
    code, _, err = Hang(2, 'channel', '--timeout', 4).finish() # on other hosts it begins late
    check_equal(code, 124)
    check(re.match(r'cohortrun: timeout after 4 s, still running: localities 0-1\n'
                   r'cohortrun: job \d+, 2 localities: ', err), err)
    check(err.count('cohortrun: waiting tasks:\n') == 1, err)


SAID = r'cohortrun: nothing has moved for %s s; Ctrl-\\ or "cohortrun --status %d" says who ' \
       r'waits for whom\n'


def test_stall():
    """Said once when nothing moves, wherever the localities are, stopped or not."""
    for far in [], jobs.far_hosts(3) + ['--heartbeat', '0.1']:
        job = Job('-n', 3, *far, '--stall', '0.5', MEMBER, 'channel')
        line = job.process.stderr.readline().decode()
        check(re.fullmatch(SAID % ('0.5', job.process.pid), line), line)
        job.process.kill()
        job.process.communicate()
        job.check_nothing_left(wait=True)
    job = Hang(2, 'straggler', '--stall', '0.5')
    await_status(job.process.pid, r'  site 0 \(locality 0\): .* computes or has ended')
    os.kill(job.localities()[0], signal.SIGSTOP)
    line = job.process.stderr.readline().decode()
    check(re.fullmatch(SAID % (r'\d+(\.\d)?', job.process.pid), line), line)
    job.kill()


def test_no_stall():
    """Not said of a job that computes, or waits for a timer, or by default before ten seconds."""
    started = [Job('-n', 2, *options, '--timeout', 2, MEMBER, program) for program, options in [
        ('straggler', ['--stall', '0.6']), ('sleeps', ['--stall', '0.6']),
        ('straggler', jobs.far_hosts(2) + ['--stall', '0.6', '--heartbeat', '0.1']),
        ('sleeps', jobs.far_hosts(2) + ['--stall', '0.6', '--heartbeat', '0.1']),
        ('channel', []), ('channel', ['--stall', '0'])]]
    for job in started:
        err = job.process.communicate(timeout=TIMEOUT)[1]
        check(b'nothing has moved' not in err, err)
        check_equal(job.process.returncode, 124)
    started[-1].check_nothing_left()


def test_late():
    """The error of a creation that takes too long names whose programs have returned."""
    code, _, err = Hang(3, 'late').finish()
    check(code != 0 and re.search(
        r'communicator "halo": 2 of 3 sites have joined, missing 0; programs that have returned: '
        r'locality 0; site [12] of locality [12] waits no longer: .* s are over', err), code, err)


def test_finding():
    """Without a pid it is the only job. Several are listed. Others than jobs are refused."""
    def of_this_test(text):
        """Each with its age and its command."""
        line = r'(?m)^  (\d+), for \d+ s: .* -n 1 %s turns$' % re.escape(MEMBER)
        return sorted(int(pid) for pid in re.findall(line, text) if int(pid) in mine)
    one = Hang(1, 'turns')
    mine = {one.process.pid}
    await_status(one.process.pid, 'creation of "pair"')
    code, out, err = status()
    check(code == 0 and out.startswith('job %d, ' % one.process.pid) or
          code == 2 and of_this_test(err) == [one.process.pid], code, out, err)
    two = Hang(1, 'turns')
    mine.add(two.process.pid)
    await_status(two.process.pid, 'creation of "pair"')
    code, out, err = status()
    check_equal((code, out, of_this_test(err)), (2, '', sorted(mine)))
    two.process.kill()
    two.process.communicate()
    one.kill()
    code, out, err = status(one.process.pid)
    check_equal((code, out, err),
                (1, '', 'cohortrun: process %d: there is none\n' % one.process.pid))
    code, out, err = status(os.getpid())
    check(code == 1 and 'has no ledger' in err, code, out, err)
    for words, why in ((('1', '2'), "but '2' is another"),
                       (('--json', '--json'), "'--json' is given twice"),
                       (('1', '--json', 'x'), "'x': either a pid stands behind --status, or core"),
                       (('/dev/null', '1'), "'1': either a pid stands behind --status, or core"),
                       (('x', '1'), "needs a pid or core files, not 'x': No such file")):
        code, out, err = status(*words)
        check(code == 2 and why in err, words, err)
    for wrong in '0', '00':
        check_equal(status(wrong)[0::2],
                    (2, "cohortrun: --status needs a pid, not '%s'\n" % wrong))
    for wrong in 'x', '12x':
        check_equal(status(wrong)[0::2], (2, "cohortrun: --status needs a pid or core files, not "
                                             "'%s': No such file or directory\n" % wrong))
    check_equal(status('/dev/null')[0::2], (1, 'cohortrun: /dev/null is no core file\n'))
    check_equal(status(MEMBER)[0::2], (
        1, 'cohortrun: %s is no core file of a program of this machine\n' % MEMBER))


def test_silent():
    """A host whose daemon does not answer is named, with the age of its last beat, and the rest is
    said within a second. A daemon that has many tasks sends them in several parts. The thread
    sanitizer can't have so many stacks."""
    if 'thread_sanitizer' in sys.argv:
        return
    job = Hang(2, 'many', *jobs.far_hosts(2), '--heartbeat', '1', '--heartbeat-timeout', '1000')
    await_status(job.process.pid, r'  34000 \(2 localities\) in @wait_for_ever@ for a future')
    stopped = job.daemon_of('a')
    os.kill(stopped, signal.SIGSTOP)
    took = []
    while not took or (min(took) >= 1 and len(took) < 10): # the machine may have other work
        start = time.monotonic()
        out = await_status(job.process.pid, "locality 0 can't be read: host a has not answered "
                           r'within 0\.6 s; its last sign of life came \d+\.\d s ago\n',
                           r'  17000 \(locality 1\) in @wait_for_ever@ for a future')
        took.append(time.monotonic() - start)
    check(min(took) < 1 or 'no_limit' in sys.argv, 'it took', took)
    # Several may ask at once.
    asking = [subprocess.Popen([COHORTRUN, '--status', str(job.process.pid)], text=True,
                               stdout=subprocess.PIPE) for _ in range(2)]
    for one in asking:
        out = one.communicate(timeout=TIMEOUT)[0]
        check('  17000 (locality 1) in ' in out and "locality 0 can't be read" in out, out)
    os.kill(stopped, signal.SIGCONT)
    await_status(job.process.pid, r'  34000 \(2 localities\) in @wait_for_ever@ for a future')
    job.kill()


def test_launcher_stopped():
    """A cohortrun that is killed while it is asked is named, and nothing hangs."""
    job = Hang(1, 'turns')
    await_status(job.process.pid, 'creation of "pair"')
    job.process.send_signal(signal.SIGSTOP)
    asking = subprocess.Popen([COHORTRUN, '--status', str(job.process.pid)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while num_sockets(job.process.pid) < 2:
        check(asking.poll() is None, 'it has ended')
    job.process.kill()
    out, err = asking.communicate(timeout=TIMEOUT)
    job.kill()
    check_equal((asking.returncode, out, err),
                (1, '', 'cohortrun: cohortrun %d has ended meanwhile\n' % job.process.pid))


def num_sockets(pid):
    """With a job's name: the one that listens, and one for each connection that it has not
    accepted."""
    with open('/proc/net/unix') as f:
        return f.read().count('@cohort-job-%d-%d\n' % (os.geteuid(), pid))


jobs.run_cases(globals(), chosen=[a for a in sys.argv[3:]
                                if a not in ('no_limit', 'thread_sanitizer', 'lines', '--far')])
