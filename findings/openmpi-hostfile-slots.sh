#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI 4.1.4: `mpirun --host localhost:2` means two slots, as a line "localhost:2" in hydra's
# host files does. In a host file of Open MPI's own the same words are taken for a host's name, and
# the error is of a regular expression that has met an illegal character.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(openmpi-bin=4.1.4-3+b1 openmpi-common=4.1.4-3 libopenmpi3=4.1.4-3+b1
          libopenmpi-dev=4.1.4-3+b1 libhwloc15=2.9.0-1 libpmix2=4.2.2-1+deb12u1
          libmunge2=0.5.15-2+deb12u1 libevent-core-2.1-7=2.1.12-stable-8+deb12u1
          libevent-pthreads-2.1-7=2.1.12-stable-8+deb12u1)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
lib=$PWD/root/usr/lib/x86_64-linux-gnu
export OPAL_PREFIX=$PWD/root/usr LD_LIBRARY_PATH=$lib:$lib/openmpi/lib
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1
run()
{
    root/usr/bin/mpirun.openmpi --allow-run-as-root --oversubscribe "$@"
}
echo "localhost:2" >hosts
seen="option: $(run --host localhost:2 -n 2 echo started 2>&1 | grep -c started || true) started
file: $(run --hostfile hosts -n 2 echo started 2>&1 | grep -c started || true) started
said: $(run --hostfile hosts -n 2 echo 2>&1 | grep -om 1 'regex parser has detected' || true)"
expected="option: 2 started
file: 0 started
said: regex parser has detected"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
