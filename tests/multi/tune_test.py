#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of cohort-tune and of what its file does. None of them checks how fast anything is.

usage: tune_test.py COHORTRUN COHORT-TUNE EXPLAIN-MEMBER [case...]"""
import os
import re
import stat
import subprocess
import sys
import tempfile

import jobs
from jobs import check, check_equal, run

TUNE, MEMBER = sys.argv[2:4]

# On the first machine only startups have a cost, on the second one only bytes.
STARTUPS = 'version = 1\nlocalities.startup = 100000\n'
BYTES = 'version = 1\nlocalities.startup = 0\nlocalities.message = 0\nlocalities.moved = 100\n'


def tune(*args, **env):
    done = subprocess.run([TUNE, *(str(a) for a in args)], capture_output=True, text=True,
                          timeout=jobs.TIMEOUT, env={**os.environ, **env})
    return done.returncode, done.stdout, done.stderr


def in_folder(function):
    """Calls the function with a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        function(folder)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


def explanations(*args):
    """What each site printed, in order. All of them have to print the same."""
    status, out, err = run('-n', 4, *args)
    check_equal((status, err), (0, ''))
    texts = {}
    for line in out.splitlines():
        site, text = line.split(' ', 1)
        texts.setdefault(site, []).append(text)
    check_equal(sorted(texts), ['0', '1', '2', '3'])
    for text in texts.values():
        check_equal(text, texts['0'])
    check_equal(len(texts['0']), 4)
    return texts['0']


def test_print():
    status, out, err = tune('--print', '--seconds', 1, '--sites', 2)
    check_equal((status, err), (0, ''))
    check(out.startswith('# By cohort-tune ') and '\nversion = 1\n' in out, out)
    check(re.search(r'^factor\.tasks\.\w+\.linear = ', out, re.M), out)
    check(not re.search(r'^factor\.localities', out, re.M), out)


def test_places():
    def in_place(folder):
        status, out, err = tune('--seconds', 1, '--sites', 2, XDG_CONFIG_HOME=folder)
        check_equal((status, out, err), (0, folder + '/cohort/tune\n', ''))
        check_equal(os.listdir(folder + '/cohort'), ['tune'])
        write(folder + '/cohort', 'tune', 'nonsense\n')
        status, out, err = run('-n', 2, '-x', 'XDG_CONFIG_HOME=' + folder, MEMBER)
        check(status == 1 and folder + '/cohort/tune, line 1: "nonsense"' in err, err)
    in_folder(in_place)


def test_file_is_used():
    def use(folder):
        path = os.path.join(folder, 'tune')
        status, out, err = run('-n', 4, '--workers', 1, TUNE, '--seconds', 3, '--sites', 4,
                               '--output', path)
        check_equal((status, out, err), (0, path + '\n', ''))
        check_equal(os.listdir(folder), ['tune'])
        with open(path) as file:
            text = file.read()
        check_has_factors(text, 'localities')
        explanations('-x', 'COHORT_TUNE=' + path, MEMBER)
    in_folder(use)


def check_has_factors(text, place):
    """The factors of one row may all be 1. Such a row is not written."""
    check(re.search(r'^factor\.%s\.\w+\.linear = ' % place, text, re.M), place)


def test_localities():
    """The program starts its own jobs."""
    def measure(folder):
        path = os.path.join(folder, 'tune')
        status, out, err = tune('--localities', 2, '--seconds', 4, '--sites', 4,
                                '--cohortrun', jobs.COHORTRUN, '--output', path)
        check_equal((status, out, err), (0, path + '\n', ''))
        check_equal(os.listdir(folder), ['tune'])
        with open(path) as file:
            text = file.read()
        check(re.match(r'# By cohort-tune .*: jobs of up to 2 localities with 1 worker, '
                       r'\d+ samples', text), text[:200])
        for place in ('tasks', 'localities'):
            check_has_factors(text, place)
            check('\n%s.message = ' % place in text, place)
        explanations('-x', 'COHORT_TUNE=' + path, MEMBER)
    in_folder(measure)


def test_samples():
    for n, place in [(1, 'tasks'), (2, 'localities')]:
        status, out, err = run('-n', n, '--workers', 1, TUNE, '--samples', place, '--seconds', 1,
                               '--sites', 2)
        check_equal((status, err), (0, ''))
        seen = set()
        for line in out.splitlines():
            check(re.fullmatch(r'%s \w+ \S+ 2 \d+( [0-9.e+]+){9}' % place, line), line)
            seen.add(tuple(line.split()[:5]))
        check_equal(len(seen), len(out.splitlines()))
        check((place, 'barrier', 'linear', '2', '0') in seen, out)
        check((place, 'all_reduce', 'linear', '2', '8') in seen, out)
    status, out, err = tune('--samples', 'localities', '--seconds', 1)
    check(status == 1 and out == '' and 'a job of 1 locality on 1 host' in err, err)


def test_hosts():
    """Jobs with a locality on each host. Both hosts are this one, so they share its cores."""
    def measure(folder):
        path = os.path.join(folder, 'tune')
        options = jobs.far_hosts(2)
        status, out, err = tune('--hosts', 'a:3,b', *options[2:], '--seconds', 4, '--sites', 4,
                                '--cohortrun', jobs.COHORTRUN, '--output', path)
        check_equal((status, out, err), (0, path + '\n', ''))
        with open(path) as file:
            text = file.read()
        check(re.match(r'# By cohort-tune .*: jobs on up to 2 hosts with 1 worker, \d+ samples',
                       text), text[:200])
        for place in ('tasks', 'hosts'):
            check_has_factors(text, place)
        explanations('-x', 'COHORT_TUNE=' + path, MEMBER)
    in_folder(measure)
    status, out, err = run(*jobs.far_hosts(2), '-n', 2, '--workers', 1, TUNE, '--samples', 'hosts',
                           '--seconds', 1, '--sites', 2)
    check_equal((status, err), (0, ''))
    for line in out.splitlines():
        check(re.fullmatch(r'hosts \w+ \S+ 2 \d+( [0-9.e+]+){8} 2', line), line)
    for options, samples, why in [(['-n', 2], 'hosts', 'a job of 2 localities on 1 host'),
                                  (jobs.far_hosts(2), 'localities', 'localities on 2 hosts'),
                                  (jobs.far_hosts(4), 'hosts', '4 localities on 2 hosts')]:
        status, out, err = run(*options, '--workers', 1, TUNE, '--samples', samples)
        check(status == 1 and out == '' and why in err, err)


def test_no_jobs():
    """If a job can't be started, or fails, nothing is written."""
    def fail(folder):
        path = os.path.join(folder, 'tune')
        failing = write(folder, 'failing', '#!/bin/sh\nexit 3\n')
        chatting = write(folder, 'chatting', '#!/bin/sh\necho nonsense\n')
        silent = write(folder, 'silent', '#!/bin/sh\n')
        for script in (failing, chatting, silent):
            os.chmod(script, 0o755)
        for launcher, why in [('/nonexistent', "no launcher at '/nonexistent'"),
                              (failing, failing + ' ended with status 3'),
                              (chatting, '"nonsense" is no sample'),
                              (silent, silent + ' printed no sample')]:
            status, out, err = tune('--localities', 2, '--seconds', 1, '--cohortrun', launcher,
                                    '--output', path)
            check(status == 1 and out == '' and 'cohort-tune: ' in err and why in err, err)
            check_equal(sorted(os.listdir(folder)), ['chatting', 'failing', 'silent'])
    in_folder(fail)


def test_parameters_decide():
    def decide(folder):
        startups, bytes = (explanations('-x', 'COHORT_TUNE=' + write(folder, 'tune', text), MEMBER)
                           for text in (STARTUPS, BYTES))
        check(startups != bytes, startups)
        # 100 ns for each byte of 12 messages of 320000, on two cores. The other parameters have
        # defaults.
        check('chosen: linear, ' in bytes[1] and ' 192050.00 us, 3 startups, 12 messages, 3840000 '
              'bytes, 0 bytes of memory|' in bytes[1], bytes[1])
        fewest = re.search(r'chosen: .*?, (\d+) startups', startups[0]).group(1)
        check(all(int(fewest) <= int(n) for n in re.findall(r'(\d+) startups', startups[0])),
              startups[0])
    in_folder(decide)


def test_localities_differ():
    """The file of site 0 applies to all sites."""
    def differ(folder):
        own = explanations('-x', 'COHORT_TUNE=' + write(folder, '0', BYTES), MEMBER)
        for rank in (1, 2, 3):
            write(folder, str(rank), STARTUPS)
        script = write(folder, 'start', '#!/bin/sh\nexport COHORT_TUNE="%s/$COHORT_LOCALITY"\n'
                                        'exec "$@"\n' % folder)
        check_equal(explanations('sh', script, MEMBER), own)
    in_folder(differ)


def test_wrong_file():
    def wrong(folder):
        path = write(folder, 'tune', 'version = 1\n\ntasks.startup = x\n')
        status, out, err = run('-n', 2, '-x', 'COHORT_TUNE=' + path, MEMBER)
        check(status == 1 and path + ', line 3: number 1 of 1 is "x"' in err, err)
        status, out, err = run('-n', 2, '-x', 'COHORT_TUNE=/no/file', MEMBER)
        check(status == 1 and '/no/file (COHORT_TUNE): No such file' in err, err)
    in_folder(wrong)


def test_wrong_file_at_one():
    """The site that is told first says whose file it is."""
    def wrong(folder):
        write(folder, '2', 'nonsense\n')
        script = write(folder, 'start', '#!/bin/sh\nif test $COHORT_LOCALITY = 2; then\n'
                                        'export COHORT_TUNE="%s/2"; fi\nexec "$@"\n' % folder)
        status, out, err = run('-n', 4, 'sh', script, MEMBER)
        why = 'site 2 of locality 2 can\'t join: tuning file %s/2, line 1: "nonsense"' % folder
        check_equal((status, out, err.count(why)), (1, '', 1))
    in_folder(wrong)


def test_cannot_write():
    status, out, err = tune('--seconds', 1, '--sites', 2, '--output', '/no/folder/tune')
    check(status == 1 and out == '' and '/no/folder/tune can\'t be written' in err, err)


def test_output_to_pipe():
    def to_pipe(folder):
        """A path that is not a regular file is written to, and stays what it is."""
        path = os.path.join(folder, 'pipe')
        os.mkfifo(path)
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK)) as pipe: # its buffer has room for all
            status, out, err = tune('--seconds', 1, '--sites', 2, '--output', path)
            text = pipe.read()
        check_equal((status, out, err), (0, path + '\n', ''))
        check('version = 1' in text and stat.S_ISFIFO(os.stat(path).st_mode), text)
        check_equal(os.listdir(folder), ['pipe'])
    in_folder(to_pipe)


def test_options():
    for args, why in [(['x'], "'x' is no option"), (['--sites'], '--sites needs a value'),
                      (['--seconds', '0'], 'a number from 1'), (['--frob'], '--frob is no option'),
                      (['--print', '--output', 'x'], 'which?'),
                      (['--localities', '1'], '--localities needs a number from 2 to 32, not'),
                      (['--localities', '33'], "not '33'"), (['--localities', 'x'], "not 'x'"),
                      (['--localities'], '--localities needs a value'),
                      (['--cohortrun', ''], '--cohortrun needs a path'),
                      (['--samples', 'x'], "needs 'tasks', 'localities' or 'hosts', not 'x'"),
                      (['--hosts'], '--hosts needs a value'), (['--hosts', ''], 'needs a value'),
                      (['--agent', 'x'], '--agent goes with --hosts'),
                      (['--listen', 'x'], '--listen goes with --hosts'),
                      (['--samples', 'tasks', '--print'], '--samples goes with none of')]:
        status, out, err = tune(*args)
        check(status == 2 and out == '' and why in err and 'usage: ' in err, args, err)
    status, out, err = run('-n', 1, TUNE, '--localities', 2)
    check(status == 2 and out == '' and 'run it without cohortrun' in err, err)
    for hosts, why in [('a', "needs two hosts at least, not 'a'"),
                       ('a:0,b', "'0' is no number of slots")]:
        status, out, err = tune('--hosts', hosts)
        check(status == 1 and out == '' and 'cohort-tune: ' in err and why in err, err)
    status, out, err = tune('--help')
    check(status == 0 and out.startswith('usage: ') and '--output FILE' in out, out)


jobs.run_cases(globals(), chosen=sys.argv[4:])
