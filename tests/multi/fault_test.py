#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults that the user orders. Usage: fault_test.py COHORTRUN MEMBER [--far] [--long] [case...]"""
import os
import re
import signal
import sys

import jobs
from jobs import check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
SURVIVE = os.path.join(os.path.dirname(MEMBER), 'survive_member')
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]
LONG = '--long' in sys.argv
ROUNDS = 40


def run_with(fault, num=3, rounds=ROUNDS):
    """The same each time: one worker, and who computes sends. Returns status, the lines that each
    locality prints, the lines of the log that tell of faults, and the rest of stderr."""
    status, out, err = run('-n', num, '--workers', 1, '--grace', 0.3, '-x', 'COHORT_FAULT=' + fault,
                           '-x', 'COHORT_LOG=info', MEMBER, rounds)
    lines = [re.findall('^locality %d: (.*)$' % i, out, re.M) for i in range(num)]
    acts = sorted(re.findall(r'^cohort(?:\[\d+\] info)?: (locality \d+: COHORT_FAULT .*)$', err,
                             re.M))
    return status, lines, acts, re.sub(r'^cohort(\[\d+\]|:).*\n', '', err, flags=re.M)


def rounds_over(lines):
    return [sum(line.startswith('round ') for line in of_one) for of_one in lines]


def test_none():
    for fault in ('', 'seed:3'):
        status, lines, acts, err = run_with(fault)
        check_equal((status, rounds_over(lines), acts, err), (0, 3 * [ROUNDS], [], ''))


def test_wrong():
    """An error at the start that says what, and where in the text."""
    for fault, why in (
            ('kill:1@2x', 'environment variable COHORT_FAULT is "kill:1@2x", at byte 9 ("x"): '
                          'a comma or the end is expected'),
            ('drop:0-3@1', 'environment variable COHORT_FAULT: '
                           'there is no locality 3 in a job of 3')):
        status, lines, _, err = run_with(fault)
        check_equal((status, rounds_over(lines)), (1, [0, 0, 0]))
        check(why + '\n' in err, err)


def test_kill():
    """Five times the same locality ends in the same round, and the job names it."""
    seen = set()
    for _ in range(5):
        status, lines, acts, err = run_with('seed:5,kill:1@45')
        check_equal(status, 137)
        check_equal(acts, ['locality 1: COHORT_FAULT kills it before its message 45'])
        check(re.fullmatch(r'cohortrun: locality 1 \(pid \d+\) was killed by signal 9 .*\n', err),
              err)
        for line in lines[0] + lines[2]: # who is slow is ended before it says anything
            check(line.startswith('round ') or
                  'COHORT_ERR_PEER_DIED' in line and 'locality 1 ' in line, line)
        seen.add(tuple(lines[1]))
    check_equal(len(seen), 1)
    check(0 < len(seen.pop()) < ROUNDS)


def test_kill_is_said():
    """Without a log, too."""
    status, _, err = run('-n', 3, '--workers', 1, '-x', 'COHORT_FAULT=kill:1@45', MEMBER, ROUNDS)
    check_equal(status, 137)
    check('cohort: locality 1: COHORT_FAULT kills it before its message 45\n' in err, err)


def test_kill_drawn():
    """The seed decides who and when."""
    seen = {}
    for seed in list(range(6)) + [0, 1]:
        status, lines, acts, _ = run_with('seed:%d,kill:any@<60' % seed)
        check_equal((status, len(acts)), (137, 1))
        victim = int(acts[0].split()[1][:-1])
        check_equal(seen.setdefault(seed, (acts, lines[victim])), (acts, lines[victim]))
    check(len({tuple(acts) for acts, _ in seen.values()}) > 3, seen)


def test_drop():
    """A lost connection ends the job, and cohortrun says who has lost whom."""
    seen = set()
    for _ in range(2):
        status, lines, acts, err = run_with('drop:1-2@20')
        check_equal(status, 1)
        check_equal(acts, ['locality 1: COHORT_FAULT drops its connection to locality 2 at '
                           'message 20'])
        check(re.fullmatch(r"cohortrun: locality 2 \(pid \d+\) is given up, since locality 1 says "
                           r"that locality 2 can't be reached\n", err), err)
        check(re.search("COHORT_ERR_PEER_DIED: .*locality 1 says that locality 2 can't be reached",
                        lines[1][-1]), lines[1])
        seen.add(rounds_over(lines)[1])
    check_equal(len(seen), 1)


def test_drop_behind_the_programs():
    """Only one end knows that a message is lost, and neither program minds: the job ends all the
    same, at once, and goes on without the lost one if it is to."""
    for number in (5, 12, 20):
        fault = 'COHORT_FAULT=drop:0-1@%d' % number
        status, _, err = run('-n', 2, '--grace', 0.3, '--timeout', 60, '-x', fault, MEMBER, 'last')
        check_equal(status, 1)
        check(re.search(r"^cohortrun: locality 1 \(pid \d+\) is given up, since locality 0 says "
                        r"that locality 1 can't be reached$", err, re.M), err)
        status, _, err = run('-n', 2, '--grace', 0.3, '--timeout', 60, '--keep-going', '-x', fault,
                             MEMBER, 'last')
        check_equal(status, 0)
        check(re.search(r"^cohortrun: locality 1 \(pid \d+\) was killed by signal 9 \(Killed\), "
                        r"since locality 0 says that locality 1 can't be reached; 1 goes on$", err,
                        re.M), err)


def test_death_behind_many_sends():
    """What is left of them ends with the job."""
    job = jobs.Job('-n', 2, '--workers', 1, '--grace', 0.3, MEMBER, 'stuck')
    said = sorted(job.read_lines(2))
    check_equal(said[1], 'set\n')
    jobs.send_signal(int(said[0].split()[1]), signal.SIGKILL)
    status, _, err = job.finish()
    check_equal(status, 137)
    check(re.fullmatch(r'cohortrun: locality 1 \(pid \d+\) was killed by signal 9 .*\n', err), err)


def test_delay():
    """Everything is right, and the same messages are late each time."""
    seen = set()
    for _ in range(2):
        status, lines, acts, err = run_with('seed:8,delay:20%:3ms')
        check_equal((status, rounds_over(lines), err), (0, 3 * [ROUNDS], ''))
        # What comes at the end of a job may be a message more or less.
        seen.add(tuple(a for a in acts if int(re.search(r'message (\d+)', a).group(1)) < 30))
    check_equal(len(seen), 1)
    check(len(seen.pop()) > 10)


# What cohortrun says of a locality that has no memory for what it has to hear or say.
GIVEN_UP = r"locality (\d) says that it can't go on with locality \d, which .*memory"


def check_alloc(locality, number):
    """A failing allocation does not matter, or ends the job with an error that comes from it. Who
    has no memory for a message gives its sender up."""
    fault = 'alloc:%d@%d' % (locality, number)
    status, lines, acts, err = run_with(fault, num=2)
    check(len(acts) <= 1, fault, acts)
    if status == 0:
        check_equal((rounds_over(lines), err), (2 * [ROUNDS], ''))
    else:
        check_equal((fault, status, len(acts)), (fault, 1, 1))
        check('memory' in err, fault, err)
    return acts


def test_alloc():
    check_equal(check_alloc(1, 60), ['locality 1: COHORT_FAULT lets its allocation 60 fail'])
    numbers = range(1, 301) if LONG else (1, 2, 5, 16, 18, 33, 100, 100000)
    for number in numbers:
        for locality in (0, 1):
            check_alloc(locality, number)


def test_alloc_remote():
    """The same where a call, its result, or what goes with them finds no memory."""
    num_given_up = 0
    for number in range(1, 301) if LONG else range(20, 40):
        for locality in (0, 1):
            status, _, err = run('-n', 2, '--workers', 1, '--grace', 0.1, '--timeout', 60, '-x',
                                 'COHORT_FAULT=alloc:%d@%d' % (locality, number), MEMBER, 'remote')
            check(status in (0, 1), locality, number, err)
            check(status == 0 or 'memory' in err, locality, number, err)
            num_given_up += bool(re.search(GIVEN_UP, err))
    check(num_given_up > 0)


def test_alloc_survivors():
    """Where an allocation fails while a site revokes, all agree, or make a new communicator, nobody
    waits for ever: it does not matter, or a locality ends, with its reason, and the others go on or
    end. How many allocations there are depends on the order of things."""
    numbers = range(1, 601) if LONG else (117, 200, 450, 590)
    for number in numbers:
        for way in ('revoke', 'work'):
            status, out, err = run('-n', 4, '--workers', 1, '--keep-going', '--grace', 0.1,
                                   '--timeout', 60, '-x', 'COHORT_FAULT=alloc:1@%d' % number,
                                   SURVIVE, way)
            check(status != 124, way, number, err)
            lines = [line for line in err.splitlines() if line.startswith('cohortrun: ') and
                     'was killed by signal 9 (Killed); ' not in line]
            check(status == 0 or re.search("memory|can't be reached|is lost|exited with status",
                                           ''.join(lines)), way, number, err)
            check('nobody has asked' not in err and 'locality 4096' not in err, way, number, err)


if __name__ == '__main__':
    jobs.run_cases(globals(), 'test_', CHOSEN)
