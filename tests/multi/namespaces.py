# SPDX-License-Identifier: Apache-2.0
"""Hosts that are network namespaces on a bridge, for jobs under test.

enter() first moves to a network namespace and a mount namespace of its own, and makes the hosts
there. So nothing is left of them, however the program ends. What namespace_agent starts on a host
has its own session, hostname and folder for temporary files, as on a separate machine. (The kernel
divides cores among sessions, and within each session among its processes.)"""
import os
import subprocess
import sys

from jobs import LIBC, NAMESPACE_TMP, check, last_error, make_mounts_private

LISTEN = '10.77.0.1' # cohortrun's own address on the bridge
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000


def command(text, check_status=True):
    done = subprocess.run(text.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(not check_status or done.returncode == 0, text, 'said', done.stdout.decode())
    return done.returncode == 0


def skip(*why):
    print('skipped:', *why)
    sys.exit(77)


def enter(hosts):
    """Makes HOSTS with these names. Ends the program with status 77 if that is not possible."""
    if LIBC.unshare(CLONE_NEWNS | CLONE_NEWNET):
        skip('no namespaces for this user:', last_error())
    if not make_mounts_private():
        skip('no mounts for this user:', last_error())
    for text in ['mount -t tmpfs none /run', 'mkdir /run/netns', 'ip link set lo up']:
        command(text)
    if not command('ip link add br0 address 02:00:00:00:00:01 type bridge', False):
        skip('this kernel has no bridges')
    os.mkdir(NAMESPACE_TMP)
    command('ip link set br0 up')
    command('ip addr add %s/24 dev br0' % LISTEN)
    for i, host in enumerate(hosts):
        command('ip netns add ' + host)
        command('ip -n %s link set lo up' % host)
        command('ip link add v-%s type veth peer name eth0 netns %s' % (host, host))
        command('ip link set v-%s master br0 up' % host)
        configure(host, 'eth0', i)
        os.mkdir(NAMESPACE_TMP + '-' + host)


def configure(host, interface, i):
    command('ip -n %s addr add 10.77.0.%d/24 dev %s' % (host, 2 + i, interface))
    command('ip -n %s link set %s up' % (host, interface))
