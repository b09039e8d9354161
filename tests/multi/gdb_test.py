#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/gdb/cohort.py, on a process and on its core file. Usage: gdb_test.py COHORTRUN MEMBER
SCRIPT. Status 77, which is skipped, where there is no gdb with Python, or it may not look at
processes."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from jobs import TIMEOUT, Job, check, check_equal, far_hosts, is_running, pause, read_proc

MEMBER, SCRIPT = (os.path.abspath(path) for path in sys.argv[2:4])
# Of hang_member alone that wait; the main task may itself run the one that it awaits.
TASKS = 1001, 1002


def gdb(subject, *commands):
    """What gdb says of SUBJECT, words of its command line."""
    words = ['gdb', '-q', '-batch', '-nx', '-iex', 'set auto-load off', '-iex',
             'set debuginfod enabled off', '-iex', 'set width 0', '-iex', 'set height 0', *subject,
             '-ex', 'source ' + SCRIPT]
    for command in commands:
        words += ['-ex', command]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT, text=True)
    return done.stdout


def skip(why):
    print(why)
    sys.exit(77)


def check_gdb():
    if not shutil.which('gdb'):
        skip('there is no gdb')
    if '42' not in gdb([], 'python print(6 * 7)'):
        skip('this gdb has no Python')


def check_said(subject, who):
    """Of a program that hangs, WHO at the beginning of a line. All commands leave the process as it
    was, so they are given at once."""
    said = gdb(subject, 'cohort status', 'echo list:\\n', 'cohort tasks', 'echo one:\\n',
               'cohort bt 700', 'echo plain:\\n', 'bt 3')
    if 'ptrace: ' in said:
        skip(said)
    rest = said.split('list:\n')[1]
    check(re.search('^%s, alone: ' % who + re.escape(MEMBER), said, re.MULTILINE), said)
    check(re.search(r'^  1000 in wait_for_ever(\+0x[0-9a-f]+| \(hang_member\.c:\d+\)) for a '
                    r'future, for \d+\.\d s at most$', said, re.MULTILINE), said)
    check(re.search(r'^deadlock: .*\n(.*\n)?  locality 0: in lock_second.* for a mutex, for '
                    r'\d+\.\d s$', said, re.MULTILINE), said)
    tasks = re.findall(r'^(\d+): in (\S+).* for .*, for \d+\.\d s$', rest, re.MULTILINE)
    check_equal([int(number) for number, _ in tasks], list(range(1, len(tasks) + 1)))
    check(len(tasks) in TASKS, len(tasks))
    one, plain = rest.split('one:\n')[1].split('plain:\n')
    frames = re.findall(r'^#(\d+) .*?(?:in )?(\w+) \(', one, re.MULTILINE)
    check_equal([int(number) for number, _ in frames], list(range(1, len(frames) + 1)))
    names = [name for _, name in frames]
    # The first of these may end with a jump to the second.
    check(tasks[699][1] == 'lock_second' or
          names[names.index(tasks[699][1]) - 1] in ('cohort_await', 'await_value'), one)
    check(names[-1] in ('cohort__fiber_asm_entry', '_start'), one)
    check('#0' not in one and '#0' in plain, said) # of the thread, which is as it was


def said_of_events(text):
    """Of each worker: how many events there were, and what is said of each, without the age."""
    found = []
    for line in text.splitlines():
        head = re.match(r'(?:worker \d+|the progress thread) \(thread \d+\)(?:, which sleeps)?: '
                        r'(\d+) events(?:, of which these are the last (\d+))?$', line)
        event = re.match(r'  \d+\.\d{6} s ago: (.*)$', line)
        if head:
            found.append((int(head[1]), int(head[2] or head[1]), []))
        elif event:
            found[-1][2].append(event[1])
    for _, num, events in found:
        check_equal(len(events), num)
    return found


def ask_locality_1(program, status_text, *commands):
    """What gdb says of locality 1 of PROGRAM, on two hosts, once its status has that text."""
    job = Job('-n', 2, *far_hosts(2), MEMBER, program)
    try:
        deadline = time.monotonic() + TIMEOUT
        while status_text not in subprocess.run(
                [sys.argv[1], '--status', str(job.process.pid)], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True).stdout:
            check(time.monotonic() < deadline, 'it does not hang')
            pause(0.1)
        pid, = [p for p in job.processes() if is_running(p, MEMBER) and
                b'\0COHORT_LOCALITY=1\0' in open('/proc/%d/environ' % p, 'rb').read()]
        return gdb(['-p', str(pid)], *commands)
    finally:
        job.process.terminate()
        job.process.communicate()


def check_channel_events():
    """The only block of a channel is said once, with its tag; a remote call is none."""
    said = ask_locality_1('sets_first', 'deadlock: ', 'cohort events 4096')
    events = [event for _, _, events in said_of_events(said) for event in events]
    check_equal([event for event in events if 'channel' in event],
                ['data of a channel has come from locality 0, tag 7'])
    said = ask_locality_1('remote', 'for the remote task "solve" ', 'cohort events 4096')
    events = [event for _, _, events in said_of_events(said) for event in events]
    check_equal(sorted(event for event in events if 'remote' in event),
                ['a remote call or its result has come from locality 0, call %d' % n
                 for n in (1, 2)])


def check_events():
    """Locality 1 of two hosts has met locality 0, and waits for it to come again."""
    said = ask_locality_1(
        'straggler', 'communicator "halo", generation 2: ', 'cohort events 4096', 'echo one:\\n',
        'cohort events 1', 'echo wrong:\\n',
        *('cohort events ' + n for n in ('0', '4097', 'x', '1 2')))
    all_said, one = said.split('one:\n')
    one, wrong = one.split('wrong:\n')
    check_equal(wrong.count('cohort events needs a number from 1 to 4096'), 4)
    workers = said_of_events(all_said)
    events = [event for _, _, events in workers for event in events]
    for event in ('site 1 of "halo" calls 1', 'call 1 of site 1 of "halo" has ended',
                  'site 1 of "halo" calls 2',
                  'data of a collective has come from locality 0, generation 1'):
        check(event in events, event, said)
    check('call 2 of' not in all_said, said)
    check_equal([(num, events[-1:]) for num, _, events in workers],
                [(num, events) for num, _, events in said_of_events(one)])


def status(*words):
    done = subprocess.run([sys.argv[1], '--status', *words], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT, text=True)
    return done.returncode, done.stdout, done.stderr


DEADLOCK = r'^deadlock: .*\n  locality 0: in meet.* for a collective of "rows", generation 1, ' \
           r'for .*\n  locality 1: in meet.* for a collective of "columns", generation 1, for '


def check_auto_load(folder):
    """gdb loads the script with the library, from a folder like that of an installation, once it is
    told of that (docs/DEBUGGING.md)."""
    linked = subprocess.run(['ldd', MEMBER], stdout=subprocess.PIPE, text=True).stdout
    library = re.search(r'^\s*libcohort\S* => (\S+)', linked, re.MULTILINE)
    if not library: # it is in the program
        return
    script = folder + os.path.realpath(library[1]) + '-gdb.py'
    os.makedirs(os.path.dirname(script))
    shutil.copy(SCRIPT, script)
    for told in [], ['add-auto-load-' + what + folder for what in ('scripts-directory ',
                                                                  'safe-path ')]:
        words = [word for line in ['set debuginfod enabled off', *told] for word in ('-iex', line)]
        said = subprocess.run(
            ['gdb', '-q', '-batch', '-nx', *words, '-ex', 'break main', '-ex', 'run', '-ex',
             'help cohort tasks', MEMBER], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=TIMEOUT, text=True).stdout
        check(('List each task that waits' in said) == bool(told), told, said)


def check_job(folder):
    """Of one locality in gdb the whole job is told; of its core file what is known of the others,
    and the same of all core files at once."""
    job = Job('-n', 2, MEMBER, 'opposite')
    cores = [os.path.join(folder, 'core of %d' % rank) for rank in range(2)]
    try:
        deadline = time.monotonic() + TIMEOUT
        # It has to have been one before the last tick of each process.
        while not re.search(DEADLOCK + r'[3-9]\.', status(str(job.process.pid))[1], re.MULTILINE):
            check(time.monotonic() < deadline, 'it does not hang')
            pause(0.1)
        pids = {}
        for pid in job.processes():
            rank = re.search(rb'\0COHORT_LOCALITY=(\d+)', read_proc(pid, 'environ'))
            if rank and is_running(pid, MEMBER):
                pids[int(rank[1])] = pid
        for rank in range(2):
            said = ''
            # It is perhaps one while a worker of the other process is awake for a tick.
            while not re.search(DEADLOCK, said, re.MULTILINE):
                check(time.monotonic() < deadline, said)
                said = gdb(['-p', str(pids[rank])], 'cohort status', 'cohort status core',
                           'generate-core-file ' + cores[rank])
            check(re.search('^job %d, 2 localities: ' % job.process.pid, said, re.MULTILINE), said)
            check('either a pid stands behind --status, or core files' in said or
                  "not 'core': No such file" in said, said)
    finally:
        job.process.terminate()
        job.process.communicate()
    said = gdb([MEMBER, cores[0]], 'cohort status', 'echo all:\\n',
               "cohort status '%s'" % cores[1], 'cohort status x')
    check("not 'x': No such file" in said, said)
    one, both = said.split('all:\n')
    check_both(both)
    check(re.search('^core files of 1 of 2 localities: ' + re.escape(MEMBER), one, re.MULTILINE) and
          'locality 1 can\'t be read: no core file of it is given\n' in one and
          '  site 1: not known, as not all localities can be read\n' in one, one)
    check('deadlock' not in one, one)
    code, out, err = status(*cores)
    check_equal((code, err), (0, ''))
    check_both(out)
    code, out, err = status('--json', *cores)
    said = json.loads(out)
    check_equal((code, [cycle['certain'] for cycle in said['deadlocks']],
                 [locality['core'] for locality in said['localities']]), (0, [True], cores))
    check_equal(status(cores[0], cores[0]),
                (1, '', 'cohortrun: %s and %s are both of locality 0\n' % (cores[0], cores[0])))


def check_inputs():
    """What a task that has yet to begin waits for, and how many tasks a scope has."""
    for program, said in (('nested', r'in await_nested.* for a task that begins after 1 of 1 '
                                     r'pending futures: several futures, for'),
                          ('sites', r'in .* for the end of a scope with 2 tasks left, for')):
        job = Job('-n', 2, MEMBER, program)
        try:
            deadline = time.monotonic() + TIMEOUT
            while not re.search('^deadlock: ', status(str(job.process.pid))[1], re.MULTILINE):
                check(time.monotonic() < deadline, 'it does not hang')
                pause(0.1)
            pid = next(p for p in job.processes() if is_running(p, MEMBER))
            text = gdb(['-p', str(pid)], 'cohort tasks')
        finally:
            job.process.terminate()
            job.process.communicate()
        check(re.search(r'^\d+: ' + said, text, re.MULTILINE), text)


def check_both(text):
    check(re.search(DEADLOCK, text, re.MULTILINE), text)
    check(re.search('^core files of 2 of 2 localities: ' + re.escape(MEMBER), text, re.MULTILINE),
          text)


def main():
    check_gdb()
    said = gdb(['-p', str(os.getpid())], 'cohort tasks', 'cohort status')
    check('there is no ledger' in said and 'has no ledger: it is no program' in said or
          'nor in PATH' in said or 'ptrace: ' in said, said)
    check('there is no process, and no core file' in gdb([MEMBER], 'cohort status') or
          'nor in PATH' in gdb([MEMBER], 'cohort status'))
    for command in 'cohort tasks', 'cohort bt', 'cohort events':
        said = gdb([MEMBER], command)
        check('there is no process, and no core file' in said and 'Traceback' not in said, said)
    with tempfile.TemporaryDirectory() as folder:
        resource.setrlimit(resource.RLIMIT_CORE, [resource.getrlimit(resource.RLIMIT_CORE)[1]] * 2)
        process = subprocess.Popen([MEMBER, 'alone'], stdin=subprocess.DEVNULL, cwd=folder)
        try:
            deadline = time.monotonic() + TIMEOUT
            # That it is quiet is known with the tick after the last task has suspended.
            while not re.search('^deadlock: (.*\n)*  1000 in ', subprocess.run(
                    [sys.argv[1], '--status', str(process.pid)], stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, text=True).stdout, re.MULTILINE):
                check(time.monotonic() < deadline, 'it does not hang')
                pause(0.1)
            check_said(['-p', str(process.pid)], 'process %d' % process.pid)
            said = gdb(['-p', str(process.pid)], *('cohort bt ' + n for n in ('0', '1003', 'x')))
            check_equal(said.count('cohort bt needs a number from 1 to 100'), 3)
            process.send_signal(signal.SIGABRT)
        finally:
            if sys.exc_info()[0]:
                process.kill()
            process.wait()
        cores = [name for name in os.listdir(folder) if name.startswith('core')]
        if cores: # else the system writes them elsewhere, or nowhere
            check_said([MEMBER, os.path.join(folder, cores[0])],
                       'core file of process %d' % process.pid)
        check_job(folder)
        check_events()
        check_channel_events()
        check_inputs()
        check_auto_load(os.path.join(folder, 'auto-load'))
        print('with a core file' if cores else 'no core file is to be had')


main()
