#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spin 6.5.2: a global variable that a model only writes is no part of the states, but one of the
# verifier's own C program, by its own name. So a model with `byte done`, written at the end and
# read by nobody, simulates and does not verify: gcc says that `done` has two types in pan.c, and
# spin's status is 0. `errors`, `depth` and `now` likewise; `over` is fine, and so is `done` as soon
# as an assertion reads it.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -qq -o APT::Sandbox::User=root download spin=6.5.2+dfsg-1 ||
    { echo "this version can't be had here" >&2; exit 77; }
dpkg-deb --extract ./*.deb root
spin=$PWD/root/usr/bin/spin
try()
{
    rm -f pan*
    echo "byte $1; init { $1 = 1$2 }" >model.pml
    "$spin" model.pml >/dev/null || echo "no simulation"
    local status=0
    "$spin" -run model.pml >out 2>&1 || status=$?
    echo "$1$2: $(grep -o 'errors: [0-9]*' out || echo 'does not compile'), status $status"
}
seen=$(for name in 'done' errors depth now over; do try "$name" ''; done
       try 'done' '; assert(done == 1)')
expected="done: does not compile, status 0
errors: does not compile, status 0
depth: does not compile, status 0
now: does not compile, status 0
over: errors: 0, status 0
done; assert(done == 1): errors: 0, status 0"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
