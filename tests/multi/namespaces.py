# SPDX-License-Identifier: Apache-2.0
"""Hosts that cohort-compare makes of this machine, for jobs under test.

enter() continues the program among such hosts (tools/bench/compare/hosts.py). So nothing is left of
them, however the program ends."""
import os
import re
import subprocess
import sys

from jobs import COHORTRUN, TIMEOUT, check, read_proc

COMPARE = os.path.join(os.path.dirname(COHORTRUN), 'cohort-compare')
INSIDE = 'COHORT_TEST_AMONG_HOSTS'
IMPOSSIBLE = re.compile('--hosts(: no (namespaces|mounts) of its own| needs the program ip'
                        '|: it was: ip link add br0 ).*')


def command(text):
    done = subprocess.run(text.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, text, 'said', done.stdout.decode())


def why_impossible(err):
    """What cohort-compare has said on stderr, if this user or this kernel can't have such hosts."""
    found = IMPOSSIBLE.search(err)
    return found and found[0]


def enter(hosts):
    """Ends the program with status 77 if that is not possible."""
    if INSIDE in os.environ:
        return
    among = [COMPARE, 'among', ','.join(hosts)]
    tried = subprocess.run(among + ['true'], stderr=subprocess.PIPE)
    err = tried.stderr.decode()
    if why_impossible(err):
        print('skipped:', why_impossible(err))
        sys.exit(77)
    check(tried.returncode == 0, err)
    os.environ[INSIDE] = '1'
    os.execv(COMPARE, among + [sys.executable, '-B', *sys.argv])


def configure(host, interface, i):
    command('ip -n %s addr add 10.77.0.%d/24 dev %s' % (host, 2 + i, interface))
    command('ip -n %s link set %s up' % (host, interface))


def marked(mark):
    """The pids of processes with this variable, 'NAME=value', in their environment."""
    return [int(name) for name in os.listdir('/proc')
            if name.isdigit() and mark.encode() in read_proc(name, 'environ').split(b'\0')]


def left_of_hosts():
    """What is made for hosts, and must not be left here."""
    def ip(*args):
        done = subprocess.run(['ip', *args], stdout=-1, check=True, timeout=TIMEOUT)
        return re.findall(r'\b(?:h\d+|v-h\d+|br0)\b', done.stdout.decode())
    files = [name for name in os.listdir('/run') if re.match('agent|tmp|shm-h', name)]
    return files, ip('netns'), ip('-o', 'link')


def may_make_hosts():
    """Whether this user may, and this kernel can. Else says why not."""
    tried = subprocess.run([COMPARE, 'among', 'a,b', 'true'], stderr=subprocess.PIPE, text=True)
    why = why_impossible(tried.stderr)
    check(why or tried.returncode == 0, tried.returncode, tried.stderr)
    if why:
        print('    skipped:', why)
    return not why


def check_needs_root(program, *args):
    """What somebody without rights reads; it can't be tried where only root may enter the build."""
    nobody = {'user': 65534, 'group': 65534, 'extra_groups': []}
    is_root = os.geteuid() == 0
    if not is_root or subprocess.run(['test', '-x', os.path.abspath(program)], **nobody).returncode:
        return
    done = subprocess.run([program, *args], stderr=subprocess.PIPE, text=True, **nobody)
    check(done.returncode and 'no namespaces of its own: Operation not permitted: this needs root'
          in done.stderr, done)
