#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of cohortrun, with small programs. Usage: launcher_test.py COHORTRUN MEMBER [--far]
[case...]. --far: on two hosts that an agent reaches, for the cases where that makes sense."""
import ctypes
import fcntl
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios

import jobs
from jobs import (COHORTRUN, Job, TIMEOUT, check, check_equal, children_of, read_proc, run,
                  send_signal)

MEMBER = sys.argv[2]
FAR = '--far' in sys.argv
# How messages describe where a locality is, as a pattern.
ON_HOST = r' on host [ab]' if FAR else ''


def test_environment():
    status, out, err = run('-n', 3, 'sh', '-c', 'echo $COHORT_LOCALITY/$COHORT_LOCALITIES')
    check_equal((status, sorted(out.split()), err), (0, ['0/3', '1/3', '2/3'], ''))


def test_wrong_options():
    usage = 'usage: cohortrun -n N'
    for args, why in [
            ([], '-n is missing'),
            (['true'], '-n is missing'),
            (['-n'], '-n needs a value'),
            (['-n', '0', 'true'], "-n needs a number from 1 to 4096, not '0'"),
            (['-n', '4097', 'true'], "not '4097'"),
            (['-n', '2x', 'true'], "not '2x'"),
            (['-n', '-1', 'true'], "not '-1'"),
            (['-n', '', 'true'], "not ''"),
            (['-n', '99999999999999999999', 'true'], 'not'),
            (['-n', '2'], 'the program to start is missing'),
            (['-n', '2', ''], "the program's name is empty"),
            (['-np'], '-np needs a value'),
            (['-np', '0', 'true'], "-np needs a number from 1 to 4096, not '0'"),
            (['-npx', '2', 'true'], "-np needs a number from 1 to 4096, not 'px'"),
            (['-n', '2', 'true', ':', '-n', '1'], 'the program to start is missing'),
            (['-n', '2', 'true', ':', '-n', 'x', 'true'], ": -n needs a number"),
            (['--hosts', 'a', 'true', ':', '-n', '1', 'true'], 'of several programs each needs'),
            (['-n', '4096', 'true', ':', '-n', '1', 'true'], 'more than 4096 localities'),
            (['-n', '2', '--workers', '0', 'true'], '--workers needs a number'),
            (['-n', '2', '--workers'], '--workers needs a value'),
            (['-n', '2', '--grace', '-1', 'true'], '--grace needs seconds'),
            (['-n', '2', '--timeout', '0', 'true'], '--timeout needs seconds'),
            (['-n', '2', '--stall', 'x', 'true'], '--stall needs seconds, or 0'),
            (['-n', '2', '--stall', '.', 'true'], '--stall needs seconds, or 0'),
            (['-n', '2', '--timeout', 'nan', 'true'], '--timeout needs seconds'),
            (['-n', '2', '--timeout', '1e400', 'true'], '--timeout needs seconds'),
            (['-n', '2', '-x', 'COHORT_TEST_NONE', 'true'], 'there is no such variable'),
            (['-n', '2', '-x', '=1', 'true'], 'the name of a variable'),
            (['-n', '2', '--bind', 'x', 'true'], "--bind needs core, numa or none, not 'x'"),
            (['-n', '2', '-q', 'true'], '-q is no option'),
            *(([word, 'x', 'true'], word + ' is no option; here it is ' + ours) for word, ours in
              (('-H', '--hosts'), ('-hosts', '--hosts'), ('--host', '--hosts'),
               ('-f', '--hostfile'), ('--machinefile', '--hostfile'), ('--np', '-n'),
               ('-ppn', '--hosts HOST:SLOTS'), ('--map-by', '--hosts HOST:SLOTS and --bind'))),
            (['-n', '2', '--frob', 'true'], '--frob is no option'),
            (['-n', '2', '--tag=1', 'true'], '--tag=1 is no option')]:
        status, out, err = run(*args)
        check_equal((status, out), (2, ''))
        lines = err.splitlines()
        check(len(lines) == 3 and why in lines[0] and lines[0].startswith('cohortrun: ') and
              lines[1].startswith(usage) and '--status' in lines[2], args, err)


def test_help():
    status, out, err = run('--help')
    check(status == 0 and out.startswith('usage: cohortrun') and err == '', status, out, err)
    status, out, err = run('--version')
    check(status == 0 and re.fullmatch(r'cohortrun \d+\.\d+\.\d+\n', out), status, out, err)


def masks(size, *options):
    """The processors of each locality, and what is on standard error."""
    status, out, err = run('-n', size, *options, 'sh', '-c',
                           'echo $COHORT_LOCALITY $(taskset -cp $$ | sed s/.*://)')
    check_equal(status, 0)
    found = {}
    for rank, words in (line.split() for line in out.splitlines()):
        ends = [[int(end) for end in word.split('-')] for word in words.split(',')]
        found[int(rank)] = [core for end in ends for core in range(end[0], end[-1] + 1)]
    return [found[rank] for rank in range(size)], err


def test_bind():
    """Each host has its share of the two localities."""
    cores = sorted(os.sched_getaffinity(0))
    for some in cores, cores[-1:]:
        os.sched_setaffinity(0, some)
        try:
            check_equal(masks(2, '--bind', 'none'), ([some] * 2, ''))
            found, err = masks(2, '--bind', 'numa', '--report-bindings')
            check(all(mask and set(mask) <= set(some) for mask in found), found)
            check_equal(len(re.findall(r'locality [01]: bound to processors ', err)), 2)
            check_equal(masks(1, '--bind', 'core', '--workers', len(some))[0], [some])
            workers = len(some) + 1 if FAR else len(some)
            status, out, err = run('-n', 2, '--bind', 'core', '--workers', workers, 'true')
            check(status == 126 and out == '' and
                  'localities of %d threads need ' % workers in err, status, out, err)
        finally:
            os.sched_setaffinity(0, cores)
    check_equal(masks(2, '--workers', len(cores) + 1), ([cores] * 2, ''))  # they don't fit
    check('locality 0: not bound' in masks(1, '--report-bindings')[1])
    if 2 <= len(cores) <= 16 and not FAR:
        for options in ['--workers', 1], ['-x', 'COHORT_WORKERS=1'], []:
            check_equal(sorted(sum(masks(len(cores), *options)[0], [])), cores)


def test_program_options():
    status, out, err = run('-n', 1, 'echo', '-n', '5', '--tag')
    check_equal((status, out, err), (0, '5 --tag', ''))
    status, out, err = run('-n', 1, '--', 'echo', 'x')
    check_equal((status, out, err), (0, 'x\n', ''))


def test_variables():
    status, out, err = run('-n', 2, '-x', 'COHORT_A=1=2', '-x', 'COHORT_B=', '-x', 'PATH',
                           'sh', '-c', 'echo "$COHORT_A,$COHORT_B,${COHORT_B+set}"')
    check_equal((status, out, err), (0, '1=2,,set\n' * 2, ''))


def test_cannot_start():
    status, out, err = run('-n', 3, './no-such-program')
    check_equal((status, out), (127, ''))
    check(re.fullmatch(r'cohortrun: cannot start \./no-such-program' + ON_HOST +
                       ': no such file or directory\n', err), err)
    path = os.environ['PATH']
    # A folder that this user may not search would change the status to 126.
    os.environ['PATH'] = '/usr/bin:/bin'
    status, out, err = run('-n', 3, 'no-such-program')
    os.environ['PATH'] = path
    check_equal(status, 127)
    status, out, err = run('-n', 3, '/dev/null')
    check_equal((status, out), (126, ''))
    check(re.fullmatch(r'cohortrun: cannot start /dev/null' + ON_HOST + ': permission denied\n',
                       err), err)


def test_no_interpreter():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, 'script')
        with open(script, 'w') as f:
            f.write('#!/no/such/interpreter\n')
        os.chmod(script, 0o755)
        status, out, err = run('-n', 2, script)
    hint = '' if FAR else (' (the file is there, what its first line names as its interpreter is '
                           'not)')
    check_equal((status, out), (127, ''))
    check(re.fullmatch('cohortrun: cannot start %s%s: no such file or directory%s\n' %
                       (re.escape(script), ON_HOST, re.escape(hint)), err), err)


def test_exit_status():
    job = 'test $COHORT_LOCALITY = 1 && exit 3; exec sleep 1000'
    status, out, err = run('-n', 3, 'sh', '-c', job)
    check_equal((status, out), (3, ''))
    check(re.fullmatch(r'cohortrun: locality 1 \(pid \d+\)' + ON_HOST +
                       r' exited with status 3\n', err), err)


def test_blocked_signals():
    """Who starts cohortrun has blocked all signals."""
    def block():
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    check_equal(run('-n', 2, 'true', preexec_fn=block), (0, '', ''))
    job = Job('-n', 2, 'sh', '-c', 'echo ready; exec sleep 1000', preexec_fn=block)
    job.read_lines(2)
    job.process.terminate()
    check_equal(job.finish()[0], 128 + signal.SIGTERM)


def refuse_signalfd():
    """A filter of system calls, as containers have, for this process and all that it starts."""
    PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
    SIGNALFD4, ALLOW, EPERM = 289, 0x7fff0000, 0x00050001
    words = [(0x20, 0, 0, 0), (0x15, 0, 1, SIGNALFD4), (0x06, 0, 0, EPERM), (0x06, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *word) for word in words))
    program = struct.pack('HxxxxxxQ', len(words), ctypes.addressof(code))
    jobs.LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    check(jobs.LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) == 0, 'seccomp')


def test_no_signalfd():
    if os.uname().machine != 'x86_64':
        raise jobs.Skipped('the number of signalfd4 is that of x86_64')
    status, _, err = run('-n', 1, 'true', preexec_fn=refuse_signalfd)
    check_equal(status, 126)
    check('signalfd: Operation not permitted; a filter of system calls' in err, err)


def test_no_proc():
    apart = ['unshare', '--map-root-user', '--mount', 'sh', '-c',
             'mount -t tmpfs none /proc && exec "$0" "$@"']
    if subprocess.run(apart + ['true'], stderr=subprocess.DEVNULL).returncode:
        raise jobs.Skipped('no mounts of its own')
    done = subprocess.run(apart + [jobs.COHORTRUN, '-n', '1', 'true'], capture_output=True)
    check_equal((done.returncode, done.stdout), (1, b''))
    check(b'cohortrun needs /proc' in done.stderr, done.stderr)


def test_np():
    status, out, err = run('-np', 3, 'sh', '-c', 'echo $COHORT_LOCALITIES')
    check_equal((status, out, err), (0, '3\n' * 3, ''))


def test_several_programs():
    """Each has its ranks and its arguments, and any of them gives the job its status."""
    say = ['sh', '-c', 'echo $0 $COHORT_LOCALITY/$COHORT_LOCALITIES "$@"']
    hosts = jobs.far_hosts(5) if FAR else []
    status, out, err = run(*hosts, '-np', 2, *say, 'a', ':', 'x', ':', '-n', 1, *say, 'b', ':',
                           '-np', 2, *say, 'c', 'd', 'e')
    check_equal((status, sorted(out.splitlines()), err),
                (0, ['a 0/5 : x', 'a 1/5 : x', 'b 2/5', 'c 3/5 d e', 'c 4/5 d e'], ''))
    hosts = jobs.far_hosts(2) if FAR else []
    status, _, err = run(*hosts, '-np', 1, 'true', ':', '-n', 1, 'sh', '-c', 'exit 5')
    check_equal((status, 'locality 1' in err), (5, True))
    status, _, err = run(*hosts, '-np', 1, 'true', ':', '-n', 1, '/none/such')
    check_equal((status, 'cannot start /none/such' in err, ' on host ' in err), (127, True, FAR))


def test_signal_status():
    job = 'test $COHORT_LOCALITY = 2 && kill -9 $$; exec sleep 1000'
    status, out, err = run('-n', 3, 'sh', '-c', job)
    check_equal((status, out), (137, ''))
    check(re.fullmatch(r'cohortrun: locality 2 \(pid \d+\)' + ON_HOST +
                       r' was killed by signal 9 \(Killed\)\n', err), err)


def test_out_of_memory():
    """Killed by the kernel, which nobody else would say; and before that, in the same control
    group, by somebody."""
    limit = 128 << 20
    with jobs.control_group('memory', {'memory.limit_in_bytes': limit},
                            {'memory.max': limit}) as folder:
        def enter():
            with open(os.path.join(folder, 'cgroup.procs'), 'w') as f:
                f.write(str(os.getpid()))
        killed = r'locality 2 \(pid \d+\)' + ON_HOST + r' was killed by signal 9 \(Killed\)'
        why = (r': the kernel has killed a process of control group %s for want of memory \(limit '
               r'128\.0 MiB\)' % re.escape(folder))
        status, _, err = run('-n', 3, MEMBER, 'kill', 2, preexec_fn=enter)
        check_equal((status, len(re.findall('^cohortrun: ' + killed + '$', err, re.M))), (137, 1))
        status, out, err = run('-n', 3, MEMBER, 'hog', 2, preexec_fn=enter)
        check(status == 137 and re.search('^cohortrun: ' + killed + why + '$', err, re.M), status,
              err)
        told = re.findall(r'told that 2 died: ' + killed + why, out)
        check_equal(len(told), 2)
        status, out, err = run('-n', 3, 'sh', '-c', '"$0" hog 2; exit $?', MEMBER,
                               preexec_fn=enter)
        check(status == 137 and 'exited with status 137: the kernel has killed' in err, status, err)


def test_own_group():
    """A program that sends a signal to its own process group does not reach the guardian."""
    status, out, err = run('-n', 2, 'sh', '-c', 'kill -9 0')
    check(status == 137 and 'was killed by signal 9' in err, status, err)
    status, out, err = run('-n', 2, 'sh', '-c', 'trap "exit 5" TERM; kill 0; exit 6')
    check(status == 5 and 'exited with status 5' in err, status, err)


def test_out_of_terminal():
    """Each program is in a group of its own and has no terminal, but is in cohortrun's session.
    Linux divides a core among sessions first. So in different sessions one program would not give
    way to another."""
    status, out, err = run('-n', 2, 'sh', '-c', 'exec cut -d " " -f 1,5-7 /proc/$$/stat')
    check_equal((status, err), (0, ''))
    for line in out.splitlines():
        pid, group, session, terminal = map(int, line.split())
        check_equal((group, session, terminal), (pid, os.getsid(0), 0))


def in_terminal(terminal):
    """Called in a process before it is started: TERMINAL becomes its terminal, and it is in the
    foreground."""
    def enter():
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    return enter


def test_terminal():
    """Locality 0 reads what is typed. No locality can open the terminal, which would stop it.
    Interrupts come through cohortrun alone."""
    try:
        keyboard, terminal = pty.openpty()
    except OSError as error:  # in a chroot without /dev/pts
        print('terminal: skipped:', error)
        return
    script = '(: </dev/tty) 2>/dev/null && echo terminal; ' \
             'test $COHORT_LOCALITY = 0 && read line; trap "echo got; exit 0" INT; ' \
             'echo "ready $line"; while :; do sleep 0.01; done'
    job = Job('-n', 3, 'sh', '-c', script, stdin=terminal, preexec_fn=in_terminal(terminal))
    os.write(keyboard, b'typed\n')
    check_equal(sorted(job.read_lines(3)), ['ready \n', 'ready \n', 'ready typed\n'])
    os.write(keyboard, b'\x03')
    check_equal(job.finish(), (0, 'got\n' * 3, ''))
    os.close(keyboard)
    os.close(terminal)


def test_interrupted_while_starting():
    """An interrupt by the terminal after every number of steps. Guardians that have not left the
    terminal's group get it, too."""
    def as_of_terminal():
        os.setpgrp()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in the background of a script
    for num_children in range(0, 12):
        job = Job('-n', 12, 'sh', '-c', GRANDCHILDREN + 'wait', preexec_fn=as_of_terminal)
        while len(children_of(job.process.pid)) < num_children:
            pass
        os.killpg(job.process.pid, signal.SIGINT)
        status, out, err = job.finish()
        check(status in (130, -signal.SIGINT) and 'lost' not in err, status, err)


def test_stubborn():
    """TERM is ignored, and KILL comes after it."""
    job = 'test $COHORT_LOCALITY = 0 && exit 4; trap "" TERM; while :; do sleep 1000; done'
    check_equal(run('-n', 3, 'sh', '-c', job)[0], 4)


def test_tag():
    status, out, err = run('-n', 2, '--tag', 'sh', '-c', 'printf "a\\nb\\n"; echo e >&2')
    check_equal(status, 0)
    for rank in range(2):
        tag = '[%d] ' % rank
        check_equal([l for l in out.splitlines() if l.startswith(tag)], [tag + 'a', tag + 'b'])
    check_equal(sorted(err.splitlines()), ['[0] e', '[1] e'])


def test_no_newline():
    check_equal(run('-n', 1, 'printf', 'abc'), (0, 'abc', ''))
    status, out, err = run('-n', 3, 'printf', 'abc')
    check_equal((status, out), (0, 'abc\nabc\nabc'))


def test_stdin():
    data = b''.join(b'line %d\n' % i for i in range(200000))
    status, out, err = run('-n', 3, 'cat', data=data)
    check_equal((status, err), (0, ''))
    check(out.encode() == data, 'the input has changed on its way')
    status, out, err = run('-n', 2, '--tag', 'wc', '-c', data=b'12345')
    check_equal(sorted(out.splitlines()), ['[0] 5', '[1] 0'])
    with tempfile.TemporaryFile() as f:
        f.write(data)
        f.seek(0)
        status, out, err = run('-n', 2, '--tag', 'wc', '-l', stdin=f)
    check_equal(sorted(out.splitlines()), ['[0] 200000', '[1] 0'])


def test_stdin_closed():
    """Descriptors 0 and 2 are closed. Files that cohortrun opens must not get these numbers."""
    status, out, err = run('-n', 2, 'sh', '-c', 'wc -c; echo e >&2',
                           preexec_fn=lambda: (os.close(0), os.close(2)))
    check_equal((status, out), (0, '0\n0\n'))


def test_long_lines():
    """Much more than any buffer holds, from all localities at once. The output is complete, and no
    line is inside another one."""
    size, num = 1000000, 4
    program = ('import os,sys\nc = b"abcd"[int(os.environ["COHORT_LOCALITY"])]\n'
               'sys.stdout.buffer.write(bytes([c]) * %d + b"\\n")' % size)
    status, out, err = run('-n', num, sys.executable, '-c', program)
    check_equal((status, err), (0, ''))
    lines = out.splitlines()
    check_equal(sorted(lines), [c * size for c in 'abcd'])


def test_stalled_line():
    """A locality that is stopped inside a long line does not block the others."""
    program = ('import os,sys\n'
               'if os.environ["COHORT_LOCALITY"] == "0":\n'
               '    os.write(1, b"x" * 200000)\n'
               '    sys.stdin.read()\n'
               '    os.write(1, b"end\\n")\n'
               'else:\n'
               '    os.write(1, b"other\\n")\n')
    job = Job('-n', 2, sys.executable, '-c', program, stdin=subprocess.PIPE)
    lines = []
    while 'other\n' not in lines:
        lines += job.read_lines(1)
        check(lines[-1], 'output ended')
    status, out, err = job.finish(b'')
    text = ''.join(lines) + out
    check_equal((status, text.replace('\n', '').replace('other', '')),
                (0, 'x' * 200000 + 'end'))


def test_many_at_once():
    """50 localities print 200 lines each to both streams, however few cores there are."""
    job = 'i=0; while [ $i -lt 200 ]; do echo "out $COHORT_LOCALITY $i"; ' \
          'echo "err $COHORT_LOCALITY $i" >&2; i=$((i+1)); done'
    status, out, err = run('-n', 50, 'sh', '-c', job)
    check_equal(status, 0)
    for name, text in (('out', out), ('err', err)):
        lines = text.splitlines()
        check_equal(len(lines), 50 * 200)
        for rank in range(50):
            start = '%s %d ' % (name, rank)
            check_equal([l for l in lines if l.startswith(start)],
                        [start + str(i) for i in range(200)])


def test_same_file():
    """Standard output and error go to one file. Lines of one are not broken by lines of the
    other."""
    with tempfile.TemporaryFile() as f:
        job = 'i=0; while [ $i -lt 500 ]; do echo out; echo error >&2; i=$((i+1)); done'
        status = subprocess.run([COHORTRUN, '-n', '4', 'sh', '-c', job], stdout=f, stderr=f,
                                timeout=TIMEOUT).returncode
        check_equal(status, 0)
        f.seek(0)
        lines = f.read().splitlines()
        check_equal((lines.count(b'out'), lines.count(b'error'), len(lines)), (2000, 2000, 4000))


def test_slow_reader():
    """The output is not read for a while. The localities wait, cohortrun keeps little, and nothing
    is lost."""
    job = Job('-n', 2, 'sh', '-c', 'yes | head -c 20000000')
    check_equal(job.read_lines(1), ['y\n'])
    job.await_rest()
    writers = [pid for pid in job.processes() if read_proc(pid, 'comm') == b'head\n']
    check_equal(len(writers), 2)
    written = sum(int(re.search(rb'wchar: (\d+)', read_proc(pid, 'io'))[1]) for pid in writers)
    check(written < 10000000, 'nobody has read', written, 'bytes')
    status, out, err = job.finish()
    check_equal((status, len(out) + 2), (0, 40000000))


def test_closed_output():
    """cohortrun ... | head -1"""
    job = Job('-n', 3, 'yes')
    check_equal(job.read_lines(1), ['y\n'])
    job.process.stdout.close()
    job.process.stdout = None
    status, out, err = job.finish()
    check_equal((status, err), (128 + signal.SIGPIPE, ''))


def test_full_output():
    with open('/dev/full', 'w') as full:
        status, out, err = run('-n', 2, 'echo', 'x', stdout=full)
    check_equal((status, err), (1, 'cohortrun: cannot write standard output: '
                                   'no space left on device\n'))


def test_timeout():
    """A locality that has ended is not named. How long that takes depends on the machine."""
    text = 'cohortrun: timeout after %s s, still running: localities %s\n'
    for seconds in '0.5', '5', '50':
        status, out, err = run('-n', 4, '--timeout', seconds, 'sh', '-c',
                               'test $COHORT_LOCALITY = 1 || exec sleep 1000')
        check_equal((status, out), (124, ''))
        if not err.startswith(text % (seconds, '0-3')):
            break
    check(err.startswith(text % (seconds, '0, 2-3')), err)
    # Then comes what --status says.
    check(re.search(r"\ncohortrun: job \d+, 4 localities: sh -c ", err) and
          re.search(r"\ncohortrun: locality 1 .* exited with status 0\n", err) and
          err.count("can't be read: ") == 1, err)
    check_equal(run('-n', 2, '--timeout', '1000', 'true'), (0, '', ''))


def signalled(number, script, num_lines):
    job = Job('-n', 3, 'sh', '-c', script)
    check_equal(job.read_lines(num_lines), ['ready\n'] * num_lines)
    job.process.send_signal(number)
    return job


def test_forwarded_signals():
    for number in (signal.SIGINT, signal.SIGTERM):
        status, out, err = signalled(number, 'echo ready; exec sleep 1000', 3).finish()
        check_equal(status, 128 + number)
        check('was killed by signal %d' % number in err, err)
        script = 'trap "echo got; exit 0" INT TERM; echo ready; while :; do sleep 0.01; done'
        check_equal(signalled(number, script, 3).finish()[:2], (0, 'got\n' * 3))


def test_second_interrupt():
    """The second interrupt comes within a second of the first. If it takes longer until all
    localities have got the first one, they get the second one as well, and then a third one is
    sent."""
    script = 'trap "echo got" INT; echo ready; while :; do sleep 0.01; done'
    job = signalled(signal.SIGINT, script, 3)
    while job.read_lines(3) == ['got\n'] * 3:
        job.process.send_signal(signal.SIGINT)
    check_equal(job.finish(), (130, '', 'cohortrun: interrupted twice, killing all localities\n'))


def test_stopped_program():
    """A stopped program does not prevent the end of the job."""
    script = 'test $COHORT_LOCALITY = 0 && { echo ready; kill -STOP $$; }; ' \
             'test $COHORT_LOCALITY = 1 && read line; test $COHORT_LOCALITY = 1 && exit 3; ' \
             'exec sleep 1000'
    check_equal(run('-n', 3, 'sh', '-c', script)[0], 3)


GRANDCHILDREN = 'setsid sh -c "sleep 1000 & sleep 1000" & sleep 1000 & ' \
                '(trap "" INT TERM HUP; sleep 1000) & echo ready; '


def test_leftovers():
    """Processes that a program leaves behind end with it."""
    status, out, err = run('-n', 3, 'sh', '-c', GRANDCHILDREN + 'exit 0')
    check_equal((status, out, err), (0, 'ready\n' * 3, ''))


def test_launcher_killed():
    """kill -9 of cohortrun while everything runs: no process is left over."""
    for ending in ('wait', 'kill -STOP $$'):
        job = Job('-n', 4, 'sh', '-c', GRANDCHILDREN + ending)
        check_equal(job.read_lines(4), ['ready\n'] * 4)
        job.await_processes(1 + 4 * 6)
        job.process.kill()
        job.process.wait()
        job.check_nothing_left(wait=True)


def test_launcher_killed_while_starting():
    """kill -9 after every number of steps that the start takes. A step is a new process among
    cohortrun's children."""
    for num_children in range(0, 12):
        job = Job('-n', 12, 'sh', '-c', GRANDCHILDREN + 'wait')
        while len(children_of(job.process.pid)) < num_children:
            pass
        job.process.kill()
        job.process.wait()
        job.check_nothing_left(wait=True)


def test_guardian_killed():
    job = Job('-n', 3, 'sh', '-c', GRANDCHILDREN + 'wait')
    check_equal(job.read_lines(3), ['ready\n'] * 3)
    os.kill(children_of(job.process.pid)[1], signal.SIGKILL)
    status, out, err = job.finish()
    check(status == 137 and 'is lost: its guardian was killed' in err, status, err)


def test_guardian_stopped():
    job = Job('-n', 2, 'sh', '-c', 'echo ready; test $COHORT_LOCALITY = 1 && read x; wait; '
                                   'exec sleep 1000')
    check_equal(job.read_lines(2), ['ready\n'] * 2)
    guardians = children_of(job.process.pid)
    for pid in guardians:
        os.kill(pid, signal.SIGSTOP)
    job.process.send_signal(signal.SIGINT)
    job.process.send_signal(signal.SIGTERM)
    job.process.send_signal(signal.SIGINT)
    for pid in guardians[:1]:
        send_signal(pid, signal.SIGCONT)
    status, out, err = job.finish()
    check(status != 0, status, err)


def test_unkillable():
    """What can't be killed is given up at last, and that is said: here the daemon is stopped."""
    if not FAR:
        return
    job = Job('-n', 2, '--heartbeat-timeout', TIMEOUT, 'sh', '-c', 'echo ready; exec sleep 1000')
    check_equal(job.read_lines(2), ['ready\n'] * 2)
    os.kill(job.daemon_of('b'), signal.SIGSTOP)
    job.process.send_signal(signal.SIGTERM)
    status, out, err = job.finish()
    check_equal(status, 143)
    check(err.endswith("\ncohortrun: some processes can't be killed, giving up\n"), err)


def test_descriptors():
    """The program gets 0 to 3, the memory and the doorbells of its host, its ledger, and the user's
    limit of open files. Other descriptors that were opened on the way are not passed on."""
    status, out, err = run('-n', 2, 'sh', '-c', 'cd /proc/self/fd && echo * && ulimit -n',
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                 (777, 4096)))
    # One descriptor belongs to the shell: that of /proc.
    descriptors = '0 1 2 3 4 5 6 7' if FAR else '0 1 2 3 4 5 6 7 8'
    check_equal((status, set(out.splitlines())), (0, {descriptors, '777'}))


def test_many_localities():
    status, out, err = run('-n', 300, 'true')
    check_equal((status, out, err), (0, '', ''))


def test_too_many():
    """If the limit of open files is too low, this is reported before anything is started."""
    hosts, each, where = (2, 6, 'host [ab]: cannot start the localities there: ') if FAR else (
        1, 4, '')
    limit = 75 * each
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    status, out, err = run('-n', 80 * hosts, 'true', preexec_fn=few)
    check_equal((status, out), (126, ''))
    check(re.fullmatch('cohortrun: ' + where + r'cannot start 80 localities: cohortrun needs more '
                       r'than %d open files for them, and may have %d \(ulimit -Hn\)\n' % (
                           80 * each, limit), err), err)
    # Enough for all that are kept open with 64 localities, and too few for 75.
    check_equal(run('-n', 64 * hosts, 'true', preexec_fn=few), (0, '', ''))
    status, out, err = run('-n', 75 * hosts, 'sleep', 1000, preexec_fn=few)
    check_equal((status, out), (126, ''))
    check(re.fullmatch('cohortrun: ' + where + r'cannot start locality \d+: its connections: '
                       r'Too many open files\n', err), err)


def test_nested():
    status, out, err = run('-n', 2, COHORTRUN, '-n', '2', MEMBER)
    check_equal((status, err), (0, ''))
    check_equal(sorted(out.splitlines()),
                sorted(['%d of 2, epoch 1, workers 0, last is address of 1' % r
                        for r in (0, 1)] * 2))


def test_member_drain():
    for mode in ('drain', 'busy'):
        status, out, err = run('-n', 4, '--workers', 3, MEMBER, mode)
        check_equal((status, err), (0, ''))
        check_equal(sorted(out.splitlines()),
                    ['%d of 4, epoch 1, workers 3, last is address of 3' % r for r in range(4)])


def test_member_alone():
    out = subprocess.run([MEMBER], stdout=subprocess.PIPE, timeout=TIMEOUT, check=True).stdout
    check_equal(out, b'0 of 1, epoch 1, workers 0, last is address of 0\n')


def test_member_twice():
    """Two programs, one after the other, in one shell: two epochs."""
    status, out, err = run('-n', 3, 'sh', '-c', '"$0" && "$0"', MEMBER)
    check_equal((status, err), (0, ''))
    check_equal(sorted(out.splitlines()),
                sorted('%d of 3, epoch %d, workers 0, last is address of 2' % (r, e)
                       for r in range(3) for e in (1, 2)))


def test_accusation_of_the_last_program():
    """What one program could not reach is no reason to end the next one, or what comes between."""
    for options in ([], ['--keep-going']):
        for rest in ('"$0" slow', 'sleep 0.5; "$0" slow'):
            status, out, err = run('-n', 2, '--grace', 0.3, '--timeout', 60, *options, 'sh', '-c',
                                   '"$0" accuse 1 0 && ' + rest, MEMBER)
            check_equal((status, err), (0, ''))
            check_equal(out.count('epoch 2'), 2)


def test_member_late_status():
    """After a successful drain, a status does not affect the other localities."""
    status, out, err = run('-n', 3, MEMBER, 'late', 1, 5)
    check_equal((status, out.count('told')), (5, 0))
    check(re.fullmatch(r'cohortrun: locality 1 \(pid \d+\)' + ON_HOST +
                       r' exited with status 5\n', err), err)


def check_death(mode, status, pattern):
    """Both other localities are told. If one of them ends because of that, the other may be told of
    it. They have as much time as they need. A locality that still runs then is ended here."""
    job = Job('-n', 3, '--grace', TIMEOUT, MEMBER, mode, 1)
    first = job.process.stderr.readline().decode()
    check(re.fullmatch('cohortrun: ' + pattern + '\n', first), first)
    if mode == 'close':
        os.kill(int(re.search(r'pid (\d+)', first)[1]), signal.SIGKILL)
    got, out, err = job.finish()
    check_equal(got, status)
    check_equal(re.findall('told that 1 died: (.*\n)', out), [first[len('cohortrun: '):]] * 2)


def test_member_quits():
    check_death('quit', 1, r'locality 1 \(pid \d+\)' + ON_HOST +
                r' exited with status 0 without leaving the job')


def test_member_killed():
    check_death('kill', 137, r'locality 1 \(pid \d+\)' + ON_HOST +
                r' was killed by signal 9 \(Killed\)')


def test_member_fails():
    check_death('fail', 3, r'locality 1 \(pid \d+\)' + ON_HOST +
                r' exited with status 3: the reason in two lines')


def test_member_closes():
    check_death('close', 1, r'locality 1 \(pid \d+\) has closed its connection to cohortrun')


LOST = r' has lost its program \(pid \d+\), which has ended without leaving the job'


def test_member_of_script():
    """Its script goes on, and another program in it ends at once. The others are told, as ever."""
    for mode in ('kill', 'quit'):
        job = Job('-n', 3, '--grace', TIMEOUT, 'sh', '-c',
                  '"$0" $1 1; echo $COHORT_LOCALITY: $?; test $COHORT_LOCALITY != 1 || exec "$0"',
                  MEMBER, mode)
        status, out, err = job.finish()
        died = re.findall(r'^cohortrun: (locality 1 \(pid \d+\)' + ON_HOST + LOST + '\n)', err,
                          re.M)
        check_equal(len(died), 1)
        check_equal((status, sorted(re.findall(r'^\d: \d+$', out, re.M))),
                    (1, ['0: 12', '1: %d' % (137 if mode == 'kill' else 0), '2: 12']))
        check_equal(re.findall('told that 1 died: (.*\n)', out), died * 2)
        check_equal(err.count(died[0]), 2) # the script's next program says it, too


def test_last_of_script():
    """Nothing comes after it, so the status of the script says how it has ended."""
    status, out, err = run('-n', 3, 'sh', '-c', '"$0" kill 1; exit $?', MEMBER)
    check_equal(status, 137)
    check(re.search(r'^cohortrun: locality 1 .* exited with status 137$', err, re.M), err)


def test_not_joined():
    status, out, err = run('-n', 3, 'sh', '-c',
                           'test $COHORT_LOCALITY = 2 && exit 0; exec "$0"', MEMBER)
    check_equal(status, 1)
    check('cohortrun: locality 2 ended without joining the job\n' in err, err)


if FAR:
    jobs.launcher_options = jobs.far_hosts
    # These cases check cohortrun's own children, one of which is a daemon on another host.
    for name in ('launcher_killed_while_starting', 'interrupted_while_starting', 'guardian_killed',
                 'guardian_stopped'):
        del globals()['test_' + name]
jobs.run_cases(globals(), chosen=[a for a in sys.argv[3:] if a != '--far'])
