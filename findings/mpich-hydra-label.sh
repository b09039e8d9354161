#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPICH 4.0.2, hydra: `mpiexec -l`, which is to put a process's number in front of each line, puts
# it in front of what it has read at once. A line that is written in two parts (a prompt, progress,
# a number now and its result later) has the label in its middle, or another process's line behind
# its first half.
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
mkfifo go
# The second part is written when the first has come out of mpiexec.
LD_LIBRARY_PATH=$lib timeout 60 root/usr/bin/mpiexec.hydra -l -n 1 \
    sh -c 'printf "one half "; read -r _ <go; printf "and the other\n"' >out &
until grep -q half out 2>/dev/null; do sleep 0.1; done
echo >go
wait $!
seen=$(cat out)
expected="[0] one half [0] and the other"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
