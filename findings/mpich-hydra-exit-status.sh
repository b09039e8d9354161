#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPICH 4.0.2, hydra: the status of mpiexec is the bitwise or of those of its processes. Where one
# ends with 1 and one with 2, mpiexec ends with 3, which none of them has said; a script that looks
# the number up in the program's manual finds the wrong cause. A process that ends by signal 15
# counts as 15, and not as 143, so that it can't be told from one that has returned 15.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(mpich=4.0.2-3+b1 libhwloc15=2.9.0-1 libslurm38=22.05.8-4+deb12u3)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
lib=$(dirname "$(find "$PWD/root" -name libhwloc.so.15 | head -n 1)")
status()
{
    local said=0
    LD_LIBRARY_PATH=$lib timeout 60 root/usr/bin/mpiexec.hydra "$@" >/dev/null 2>&1 || said=$?
    echo "$said"
}
seen="returned 1 and 2: $(status -n 1 sh -c 'exit 1' : -n 1 sh -c 'exit 2')
signal 15: $(status -n 1 sh -c 'kill -15 $$')"
expected="returned 1 and 2: 3
signal 15: 15"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
