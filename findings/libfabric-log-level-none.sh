#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libfabric 1.17.0: FI_LOG_LEVEL with any word that is not a level ("none", "off", "0", "error")
# turns warnings on, where without the variable nothing is printed. So who wants less output gets
# more, and a program that reads its child's standard error gets lines that it does not expect.
# fabric(7) of 1.17 names warn, trace, info and debug, and says nothing of other words.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(libfabric1=1.17.0-3 libfabric-bin=1.17.0-3)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
lib=$(dirname "$(find "$PWD/root" -name libfabric.so.1 | head -n 1)")
lines()
{
    LD_LIBRARY_PATH=$lib root/usr/bin/fi_info -p tcp 2>&1 >/dev/null | grep -c '<warn>' || true
}
seen="without: $( (unset FI_LOG_LEVEL; lines) | sed 's/^[1-9].*/warns/; s/^0$/silent/')"
for level in warn none off 0 error; do
    seen+=$'\n'"$level: $(FI_LOG_LEVEL=$level lines | sed 's/^[1-9].*/warns/; s/^0$/silent/')"
done
expected="without: silent
warn: warns
none: warns
off: warns
0: warns
error: warns"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
