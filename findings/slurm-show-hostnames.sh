#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Slurm 22.05.8: `scontrol show hostnames`, which scripts and launchers use to expand
# SLURM_JOB_NODELIST, is string work, yet it does nothing without a configuration (a container in an
# allocation has none). And a list that it can't expand (here one with a suffix behind the brackets)
# is "Invalid hostlist" on standard error and status 0, so that a script that looks at the status
# goes on with no hosts.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(slurm-client=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3
          libslurm38=22.05.8-4+deb12u3)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
lib=$(dirname "$(find "$PWD/root" -name 'libslurmfull.so' | head -n 1)")
printf 'ClusterName=none\nSlurmctldHost=localhost\nPluginDir=%s\n' "$lib" >slurm.conf
hostnames()
{
    local status=0
    LD_LIBRARY_PATH=$lib root/usr/bin/scontrol show hostnames "$1" >out 2>err || status=$?
    echo "status $status, $(wc -l <out) hosts: $(tr '\n' ' ' <out)"
}
seen="configured, n[01-03,7]: $(SLURM_CONF=$PWD/slurm.conf hostnames 'n[01-03,7]')
configured, n[1-2]-ib: $(SLURM_CONF=$PWD/slurm.conf hostnames 'n[1-2]-ib')
not configured, n[01-03,7]: $(unset SLURM_CONF; hostnames 'n[01-03,7]')"
expected="configured, n[01-03,7]: status 0, 4 hosts: n01 n02 n03 n7 
configured, n[1-2]-ib: status 0, 0 hosts: 
not configured, n[01-03,7]: status 1, 0 hosts: "
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
