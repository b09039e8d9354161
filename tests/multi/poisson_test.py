#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/poisson beside the same program of MPI and OpenMP (tools/bench/peer_poisson.c), as far
as these are there: the same iterations, and the same result but for the order of sums.
Usage: poisson_test.py COHORTRUN BUILD [--measure [ROUNDS]], with the folder of the build. --measure
runs them in turns, and prints medians."""
import os
import re
import shutil
import statistics
import subprocess
import sys

import jobs
from jobs import check, check_equal

BUILD = sys.argv[2]
# Waiting MPI processes yield where there are more than cores; waiting threads of OpenMP spin there.
SHAPES = [(1, 1), (1, 2), (2, 1), (3, 1)]  # processes, threads of each
MEASURED = [(1, 1), (1, 2), (2, 1), (4, 1)]
LINE = re.compile(r'(\d+) iterations: residual (\S+), norm (\S+), error (\S+)\n'
                  r'time: (\S+) us for an iteration')
MPI_OPTIONS = {'openmpi': ['--oversubscribe', '--bind-to', 'none', '--allow-run-as-root'],
               'mpich': []}


def find_peers():
    """The MPIs whose program and launcher are there."""
    found = [name for name in MPI_OPTIONS
             if os.path.exists(os.path.join(BUILD, 'tools', 'peer_poisson_' + name))
             and shutil.which('mpirun.' + name)]
    print('peers:', ', '.join(found) or 'none, install-deps --peers installs some', flush=True)
    return found


def read(status, out, err):
    """Iterations, residual, norm, error, microseconds an iteration."""
    match = LINE.search(out)
    check(status == 0 and match, status, out, err)
    return [float(number) for number in match.groups()]


def run_cohort(processes, threads, n, iterations):
    os.environ['COHORT_WORKERS'] = str(threads)
    return read(*jobs.run('-n', processes, os.path.join(BUILD, 'examples', 'poisson'),
                          '--n', n, '--iterations', iterations))


def run_peer(name, processes, threads, n, iterations):
    command = ['mpirun.' + name, *MPI_OPTIONS[name], '-n', processes,
               os.path.join(BUILD, 'tools', 'peer_poisson_' + name), n, iterations]
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=jobs.TIMEOUT,
                          env=dict(os.environ, OMP_NUM_THREADS=str(threads)), check=False)
    return read(done.returncode, done.stdout.decode(), done.stderr.decode())


def check_same(got, want, digits):
    """Each iteration makes more of a difference in the last digits, in the residual most. DIGITS of
    the norm are the same."""
    check_equal(got[0], want[0])
    for what, i, most in ('residual', 1, 1e4 * 10 ** -digits), ('norm', 2, 10 ** -digits):
        check(abs(got[i] - want[i]) <= most * want[i], what, got[i], 'instead of', want[i])


def test_peers():
    for name in find_peers():
        for processes, threads in SHAPES:
            for n, iterations in (20, 1000), (33, 20):
                check_same(run_cohort(processes, threads, n, iterations),
                           run_peer(name, processes, threads, n, iterations), 12)


def measure(rounds):
    """In each round another contender begins."""
    contenders = ['cohort', *find_peers()]
    print('microseconds an iteration, medians of %d rounds\n' % rounds)
    print('%5s %9s %7s' % ('n', 'processes', 'threads'),
          *('%10s' % name for name in contenders), *('/ ' + name for name in contenders[1:]))
    for n in 32, 64, 128:
        for shape in MEASURED:
            runs = {name: [] for name in contenders}
            for i in range(rounds):
                for name in contenders[i % len(contenders):] + contenders[:i % len(contenders)]:
                    runs[name].append(run_cohort(*shape, n, 100) if name == 'cohort'
                                      else run_peer(name, *shape, n, 100))
            times = [statistics.median(run[4] for run in runs[name]) for name in contenders]
            print('%5d %9d %7d' % (n, *shape), *('%10.1f' % time for time in times),
                  *('%9.2f' % (times[0] / time) for time in times[1:]), flush=True)
            for name in contenders[1:]:
                check_same(runs['cohort'][0], runs[name][0], 9)


if sys.argv[3:4] == ['--measure']:
    measure(int(sys.argv[4]) if len(sys.argv) > 4 else 5)
else:
    jobs.run_cases(globals())
