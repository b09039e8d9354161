#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks all states of a model with spin, and that each variant of it has the error that it is for:
# a check that can't fail proves nothing. Ends with 77, skipped, without spin.
#
# usage: check.sh SPIN CC MODEL VARIANT...    SPIN may be empty
set -euo pipefail
export LC_ALL=C
umask 022

spin=$1 cc=$2 model=$(realpath "$3")
shift 3
[[ $spin ]] || { echo "no spin here; tools/install-deps --test installs it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# With the result in the file out.
check()
{
    "$spin" -a "$@" "$model" >out 2>&1 || { cat out; exit 1; }
    "$cc" -O1 -w -DSAFETY -DMEMLIM=1024 -o pan pan.c
    ./pan -m100000 >out 2>&1 || { cat out; exit 1; }
}

check
if ! grep -q ', errors: 0$' out || grep -q 'max search depth too small\|out of memory' out; then
    "$spin" -t -p "$model" 2>/dev/null | tail -n 100 || true
    cat out
    exit 1
fi
grep -o '[0-9]* states, stored' out
for variant; do
    check "-D$variant"
    if ! grep -q '^pan:1: \(assertion violated\|invalid end state\)' out; then
        cat out
        echo "$model: the error of variant $variant was not found"
        exit 1
    fi
    echo "$variant: $(grep '^pan:1: ' out)"
done
