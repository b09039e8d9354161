#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/cross in jobs of processes. Usage: cross_test.py COHORTRUN MEMBER
COHORT-TRACE [--seed S] [--num N] [--long]

A seed draws the job, too: how many localities, on one host or two, which options. Every third
job is traced."""
import os
import re
import struct
import subprocess
import sys
import tempfile

import jobs
from jobs import check_equal, run

MEMBER, TOOL = map(os.path.abspath, sys.argv[2:4])
LIMIT = 120 # seconds; then cohortrun says what is pending


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def drawn(what, seed):
    return subprocess.run([MEMBER, what, str(seed)], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def bits(mask):
    return {i for i in range(32) if mask >> i & 1}


def read_trace(path):
    """It is there, whoever has died."""
    done = subprocess.run([TOOL, 'report', path], check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        raise jobs.Failed(done.stdout)


def play(seed):
    """Those come to the end whom the program does not kill, and nobody else dies."""
    num, is_spread, *options = drawn('--machine', seed).split()
    hosts = jobs.far_hosts(int(num)) if is_spread == '1' else []
    with tempfile.NamedTemporaryFile() as shared, tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, 'trace.pb')
        options += ['-x', 'COHORT_TRACE=' + trace] if seed % 3 == 0 else []
        status, out, err = run('-n', num, *hosts, *options, '--timeout', LIMIT, '--grace', LIMIT,
                               MEMBER, seed, shared.name)
        dead = bits(*struct.unpack('=I', shared.read(4)))
        if seed % 3 == 0:
            read_trace(trace)
    deaths = r'^cohortrun: locality (\d+) \(pid \d+\).* was killed by signal 9 \(Killed\).*\n'
    told = {int(rank) for rank in re.findall(deaths, err, re.M)}
    ended = {int(rank) for rank in re.findall(r'^locality (\d+) has played$', out, re.M)}
    check_equal((re.sub(deaths, '', err, flags=re.M), told), ('', dead))
    check_equal(ended | dead, set(range(int(num))))
    check_equal(status, 137 if dead and '--keep-going' not in options else 0)


def test_seeds():
    first, num = option('--seed', 1), option('--num', 20)
    for seed in range(first, first + num):
        try:
            play(seed)
        except jobs.Failed:
            print('seed %d:\n%s' % (seed, drawn('--print', seed)), flush=True)
            raise


if __name__ == '__main__':
    jobs.run_cases(globals(), chosen=[])
