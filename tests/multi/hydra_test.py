#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cohort programs under MPICH's launcher, which speaks no PMIx. Usage: hydra_test.py MPIEXEC
HELLO [case...]. Status 77 if there is no such launcher."""
import shutil
import sys

MPIEXEC = shutil.which(sys.argv[1])
if not MPIEXEC:
    print(sys.argv[1], 'is not there; tools/install-deps --launchers installs it')
    sys.exit(77)
sys.argv[1] = MPIEXEC

import jobs  # it reads the program's first argument
from jobs import check, check_equal, run

HELLO = sys.argv[2]


def test_several():
    """They would be jobs of one, without a word."""
    status, out, err = run('-n', 3, HELLO)
    check(status != 0 and not out, status, out)
    check('PMI_SIZE says that this is one of 3 processes' in err and 'cohortrun -n 3' in err
          and 'COHORT_ALONE=1' in err, err)


def test_one():
    status, out, err = run('-n', 1, HELLO)
    check_equal((status, err, out.count(' of 2 in locality 0')), (0, '', 2))


def test_meant():
    """Also by a locality: what it starts is a job of one, whatever its own launcher says."""
    status, out, err = run('-n', 3, '-genv', 'COHORT_ALONE', '1', HELLO)
    check_equal((status, err, out.count(' of 2 in locality 0')), (0, '', 6))


jobs.run_cases(globals())
