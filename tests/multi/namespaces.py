# SPDX-License-Identifier: Apache-2.0
"""Hosts that cohort-bench makes of this machine, for jobs under test.

enter() continues the program among such hosts (tools/bench/hosts.h). So nothing is left of them,
however the program ends."""
import os
import re
import subprocess
import sys

from jobs import COHORTRUN, check

BENCH = os.path.join(os.path.dirname(COHORTRUN), 'cohort-bench')
INSIDE = 'COHORT_TEST_AMONG_HOSTS'
IMPOSSIBLE = re.compile('--hosts(: no (namespaces|mounts) of its own| needs the program ip'
                        '|: it was: ip link add br0 ).*')


def command(text):
    done = subprocess.run(text.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, text, 'said', done.stdout.decode())


def why_impossible(err):
    """What cohort-bench has said on stderr, if this user or this kernel can't have such hosts."""
    found = IMPOSSIBLE.search(err)
    return found and found[0]


def enter(hosts):
    """Ends the program with status 77 if that is not possible."""
    if INSIDE in os.environ:
        return
    among = [BENCH, '--among-hosts', ','.join(hosts)]
    tried = subprocess.run(among + ['true'], stderr=subprocess.PIPE)
    err = tried.stderr.decode()
    if why_impossible(err):
        print('skipped:', why_impossible(err))
        sys.exit(77)
    check(tried.returncode == 0, err)
    os.environ[INSIDE] = '1'
    os.execv(BENCH, among + [sys.executable, '-B', *sys.argv])


def configure(host, interface, i):
    command('ip -n %s addr add 10.77.0.%d/24 dev %s' % (host, 2 + i, interface))
    command('ip -n %s link set %s up' % (host, interface))
