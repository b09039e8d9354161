#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of cohort_memory_alloc: collectives read it where it is, it has a limit, and it is
ordinary memory where it can't be shared. Usage: lent_test.py COHORTRUN MEMBER [case...]"""
import os
import re
import sys

import jobs
from jobs import check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])


def done(num, how, *launcher):
    status, out, err = run('-n', num, *launcher, MEMBER, how)
    check_equal((status, out.count('done'), err), (0, num, ''))


def failed(num, how, *launcher):
    status, _, err = run('-n', num, *launcher, MEMBER, how)
    check(status != 0, how)
    return err


def test_exchange():
    for num in 1, 2, 3, 5:
        done(num, 'exchange')


def test_ordinary():
    done(2, 'exchange', '-x', 'COHORT_NET=ofi')
    done(2, 'limited')
    done(4, 'exchange', '-x', 'COHORT_TOPOLOGY=2x1x2')


def test_killed():
    err = failed(3, 'killed')
    check(re.search(r'locality 1 .*was killed by signal 9', err), err)


def test_limit():
    err = failed(2, 'much', '-x', 'COHORT_MEMORY_MIB=1')
    check('2097152 bytes, beside 0 that are in use, are more than the 1048576' in err, err)
    done(2, 'much', '-x', 'COHORT_MEMORY_MIB=2')


def test_refused():
    check('cohort_memory_alloc: ' in failed(2, 'refused'))


def test_misuse():
    for how in 'twice', 'within':
        err = failed(2, how)
        check('cohort_memory_free, called at ' in err and
              'no block begins there, or it was given back before' in err, err)


def test_left():
    status, _, err = run('-n', 2, '-x', 'COHORT_LOG=warn', MEMBER, 'left')
    check_equal((status, err.count('1 blocks of cohort_memory_alloc were not given back')), (0, 2))


def test_child():
    done(2, 'child')


jobs.run_cases(globals(), chosen=sys.argv[3:])
