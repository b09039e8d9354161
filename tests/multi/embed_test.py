#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cohort inside programs that have an event loop of somebody else's: libuv, glib, and Python's
asyncio. Usage: embed_test.py COHORTRUN FOLDER LIBCOHORT [--no-glib] [--no-python] [case...]. FOLDER
has the programs."""
import os
import re
import subprocess
import sys
import tempfile

import jobs
from jobs import check, check_equal

FOLDER, LIBRARY = (os.path.abspath(a) for a in sys.argv[2:4])
ASYNCIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'embed_asyncio.py')
CHOSEN = [a for a in sys.argv[4:] if not a.startswith('--')]
PROGRAMS = {'libuv': [os.path.join(FOLDER, 'embed_uv_member')],
            'glib': [os.path.join(FOLDER, 'embed_glib_member')],
            'asyncio': [sys.executable, '-B', ASYNCIO, LIBRARY]}
NUM_ROUNDS = 20


def alone(name, mode):
    done = subprocess.run(PROGRAMS[name] + [mode], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=jobs.TIMEOUT,
                          text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def lines_of(name, size):
    total = size * (size + 1) // 2 + size * NUM_ROUNDS
    return [f'{name}: locality {rank} of {size}: sum {total}' for rank in range(size)]


def check_loop(name):
    """Alone, and in a job; the loop goes on while another thread stops the runtime. A process that
    was started alone starts it again."""
    check_equal(alone(name, 'sum'), (0, lines_of(name, 1)[0] + '\n', ''))
    check_equal(alone(name, 'twice'), (0, 2 * (lines_of(name, 1)[0] + '\n'), ''))
    status, out, err = jobs.run('-n', 3, *PROGRAMS[name], 'sum')
    check_equal((status, sorted(out.splitlines()), err), (0, lines_of(name, 3), ''))


def skip_if(option, why):
    if option in sys.argv:
        raise jobs.Skipped(why)


def test_libuv():
    check_loop('libuv')


def test_glib():
    skip_if('--no-glib', 'glib is missing (libglib2.0-dev)')
    check_loop('glib')


def test_asyncio():
    skip_if('--no-python', 'the library has a sanitizer, and Python none')
    check_loop('asyncio')


def test_progress_thread():
    status, out, err = jobs.run('-n', 3, 'env', 'COHORT_PROGRESS=thread', *PROGRAMS['libuv'], 'sum')
    check_equal((status, sorted(out.splitlines()), err), (0, lines_of('libuv', 3), ''))


def test_again_in_job():
    """All localities start once more, as if a script had started them again."""
    for options in [], ['--bind', 'none']:
        status, out, err = jobs.run('-n', 3, *options, *PROGRAMS['libuv'], 'twice')
        check_equal((status, sorted(out.splitlines()), err),
                    (0, sorted(2 * lines_of('libuv', 3)), ''))
    # One does not.
    member = PROGRAMS['libuv'][0]
    status, out, err = jobs.run('-n', 1, member, 'twice', ':', '-n', 1, member, 'sum')
    check_equal((status, err), (1, 'cohortrun: locality 1 ended without joining the job\n'))
    check('start: locality 1 ended without joining the job' in out, out)


def test_failure():
    """Who stops with an error fails the job, which is said once."""
    status, _, err = jobs.run('-n', 3, *PROGRAMS['libuv'], 'fail')
    check_equal(status, 1)
    how = '(has failed|exited with status 1)'
    check(re.fullmatch(rf'cohortrun: locality 1 \(pid \d+\) {how}: out of paper\n', err), err)


def test_exit():
    """Who exits without a stop has died."""
    status, out, err = jobs.run('-n', 3, '--grace', 30, *PROGRAMS['libuv'], 'exit')
    check_equal(status, 1)
    check(re.match(r'cohortrun: locality 1 \(pid \d+\) .*without leaving the job', err), err)
    check_equal(len(re.findall('locality [02]: .*locality 1 .*', out)), 2)


def test_refused_start():
    """One whose start has failed does not join any more, whatever it does: the others are told."""
    told = r'locality 1 \(pid \d+\)( on host \w+)? has failed: [^\n]*COHORT_SPIN[^\n]*'
    again = 'cohort_start: a start of this process has failed, with which its launcher ends the job'
    status, out, err = jobs.run('-n', 3, *PROGRAMS['libuv'], 'refuse')
    check_equal(status, 1)
    check(re.fullmatch(f'cohortrun: {told}\n', err), err)
    # On a machine with much other load some have not joined yet, or don't come to say it.
    said = [line for line in out.splitlines() if not re.fullmatch('libuv: start: ' + told, line)]
    check_equal(said, [again])


def test_cut():
    """Nor does one that has closed its connection, before the others join or later."""
    member = PROGRAMS['libuv'][0]
    told = r'locality 1 \(pid \d+\) has closed its connection to cohortrun\n'
    close = 'import os, signal, sys; os.close(int(os.environ["COHORT_CONTROL_FD"])); ' \
            'open(sys.argv[1], "w").close(); signal.pause()'
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, 'closed')
        os.mkfifo(fifo)
        for first in f'{member} sum & cat <{fifo}; wait', f'cat <{fifo}; exec {member} sum':
            status, out, err = jobs.run('-n', 1, 'sh', '-c', first, ':',
                                        '-n', 1, sys.executable, '-c', close, fifo)
            check_equal(status, 1)
            check(re.fullmatch('cohortrun: ' + told, err), err)
            check(out == '' or re.fullmatch('libuv: start: ' + told, out), out)


def test_refused_program():
    """A script goes on after a program that could not join. The next one would wait for ever."""
    member = PROGRAMS['libuv'][0]
    status, out, err = jobs.run('-n', 1, '--grace', 0.1, 'sh', '-c',
                                f'COHORT_SPIN=-5 {member} sum; {member} sum')
    check_equal(status, 1)
    check('libuv: start: ' in out, out)
    told = r'locality 0 \(pid \d+\) has failed: .*COHORT_SPIN.*\n'
    check(re.fullmatch('cohortrun: ' + told, err), err)


if __name__ == '__main__':
    jobs.run_cases(globals(), 'test_', CHOSEN)
