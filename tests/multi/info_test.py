#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cohort-info says what is set and from where, and what is wrong. Usage: info_test.py COHORT-INFO
VERSION"""
import os
import re
import subprocess
import sys

INFO, VERSION = sys.argv[1:]


def run(*args, **variables):
    env = {name: value for name, value in os.environ.items() if not name.startswith('COHORT_')}
    done = subprocess.run([INFO, *args], env={**env, **variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def check(condition, *what):
    if not condition:
        sys.exit(' '.join(str(one) for one in what))


def main():
    status, out, err = run(COHORT_SPIN='7', COHORT_STACK='', COHORT_LOCALITY='5')
    check((status, err) == (0, ''), status, err)
    check(out.startswith(f'Cohort {VERSION}\nbuild\n'), out)
    for pattern in (r'COHORT_SPIN +7 \(environment; ', r'COHORT_TASKS +pinned \(default; ',
                    r'COHORT_STACK +262144 \(default, set but empty; ',
                    r'COHORT_LOCALITY +5 \(environment; ', r'affinity mask +\d+ \([0-9,-]+\)\n',
                    r'open files +\d', r'\n  shm ', r'\n  ofi '):
        check(re.search(pattern, out), pattern, 'not in', out)
    check('COHORT_HUB' not in out, out)
    for part in ('fibers by assembly', 'valgrind knows stacks', 'frames touch guards',
                 'watch of mutexes', 'PMIx', 'lines of sources', 'example fft', 'peer Open MPI',
                 'peer MPICH', 'peer OpenMP', 'peer oneTBB'):
        check(re.search(rf'\n  {part} +(yes|no, by \S.*|no, there is no \S.*)\n', out), part, out)

    status, out, err = run('--check', COHORT_WORKER='3', COHORT_SPIN='x', COHORT_TUNE='/none/such')
    check((status, err) == (1, ''), status, err)
    for text in ('COHORT_WORKER is set, and Cohort has no variable of that name.\n'
                 '    Write COHORT_WORKERS, or unset it.\n',
                 'environment variable COHORT_SPIN is "x", not a number',
                 "COHORT_TUNE names a file that can't be read"):
        check(text in out, text, 'not in', out)
    check('COHORT_WORKER' not in run('--check')[1])

    for words in (('--chekc',), ('x',)):
        status, out, err = run(*words)
        check((status, out) == (2, '') and f'{words[0]}' in err and 'usage: ' in err, status, err)
    with open('/dev/full', 'w', encoding='utf-8') as full:
        check(subprocess.run([INFO], stdout=full, timeout=120).returncode == 3, 'a full disk')
    print('ok')


main()
