#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Communicators out of communicators in real jobs. Usage: split_test.py COHORTRUN MEMBER [--far]
[case...]; --far: on two hosts."""
import os
import re
import sys

import jobs
from jobs import check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]


def sums(num, host_of, *launcher):
    """What the sites of a job of NUM localities print; HOST_OF says the host of a locality."""
    status, out, err = run('-n', num, *launcher, MEMBER)
    check_equal((status, err), (0, ''))
    sites = range(2 * num)
    hosts = []
    for site in sites:
        if host_of(site % num) not in hosts:
            hosts.append(host_of(site % num))
    want = ['%d row %d column %d host %d world/host %d' % (
        me, sum(site for site in sites if site // num == me // num),
        sum(site for site in sites if site % num == me % num),
        sum(site for site in sites if host_of(site % num) == host_of(me % num)),
        hosts.index(host_of(me % num))) for me in sites]
    check_equal(sorted(out.splitlines()), sorted(want))


def test_sums():
    for num in (1, 2, 4):
        far = '--far' in sys.argv
        sums(num, lambda locality: far and locality >= (num + 1) // 2)


def test_played():
    sums(8, lambda locality: locality // 2, '-x', 'COHORT_TOPOLOGY=4x1x2')


def test_death():
    """All sites that live fail and name the locality. None hangs."""
    status, out, _ = run('-n', 4, MEMBER, 'die')
    check(status != 0, status)
    lines = out.splitlines()
    check_equal(len(lines), 3 * 2 * 3)
    for line in lines:
        check(re.search(r'locality 1\b', line), line)


jobs.run_cases(globals(), 'test_', CHOSEN)
