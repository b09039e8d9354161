#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spin 6.5.2: `for (i : 0 .. 255)` with a byte i never ends, since the loop adds one to the last
# value, too, and 255 + 1 is 0. To the verifier that is a search without errors: "errors: 0" of a
# model whose end is an assertion that fails. Only the list of what was not reached tells. A
# simulation, which nobody needs who verifies, says once that a value was truncated, and goes on.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -qq -o APT::Sandbox::User=root download spin=6.5.2+dfsg-1 ||
    { echo "this version can't be had here" >&2; exit 77; }
dpkg-deb --extract ./*.deb root
cat >for.pml <<'PML'
byte over;
init {
    byte i;
    for (i : 0 .. LAST) {
        skip
    }
    over = 1;
    assert(over == 0)
}
PML
spin=$PWD/root/usr/bin/spin
verify()
{
    "$spin" -DLAST="$1" -run for.pml >"out.$1" 2>&1
    sed -n "s/.*\(errors: [0-9]*\).*/0 .. $1: \1/p" "out.$1"
    sed -n "/unreached/,\$ s/.*\"\(over = 1\)\".*/0 .. $1: '\1' is not reached/p" "out.$1"
}
seen=$(verify 254; verify 255
       { "$spin" -DLAST=255 -u2000 for.pml || true; } |
           grep -o 'value (256->0 (8)) truncated in assignment')
expected="0 .. 254: errors: 1
0 .. 255: errors: 0
0 .. 255: 'over = 1' is not reached
value (256->0 (8)) truncated in assignment"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
