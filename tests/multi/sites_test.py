#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cohort_sites in real jobs. Usage: sites_test.py COHORTRUN MEMBER [--far] [case...]; --far: on two
hosts."""
import os
import sys

import jobs
from jobs import check, check_equal, run

MEMBER = os.path.abspath(sys.argv[2])
CHOSEN = [a for a in sys.argv[3:] if not a.startswith('--')]


def homes(num_sites, num_localities):
    """The locality of each site: equal shares, the first ones one more."""
    return [locality for locality in range(num_localities)
            for _ in range(num_sites // num_localities + (locality < num_sites % num_localities))]


def test_shares():
    for localities, sites in ((1, 3), (2, 5), (3, 3), (4, 2), (4, 9)):
        status, out, err = run('-n', localities, MEMBER, sites)
        check_equal((status, err), (0, ''))
        check_equal(sorted(out.splitlines()),
                    sorted('%d of %d in %d: %d' % (site, sites, home, sites * (sites - 1) // 2)
                           for site, home in enumerate(homes(sites, localities))))


def test_failure():
    """The locality of the site that has failed says so; the others end, and are told."""
    for culprit in (0, 3, 6):
        status, out, _ = run('-n', 3, MEMBER, 7, culprit)
        check_equal(status, 1)
        lines = dict(line.split(': ', 1) for line in out.splitlines())
        check_equal(sorted(lines), ['locality 0', 'locality 1', 'locality 2'])
        home = homes(7, 3)[culprit]
        check_equal(lines.pop('locality %d' % home), 'site %d of "all": no more paper' % culprit)
        for text in lines.values():
            check(text.startswith('communicator "all", '), text)


jobs.run_cases(globals(), 'test_', CHOSEN)
