#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks all states of a model with spin. Also checks that each variant of the model has its error,
# since a check that can't fail proves nothing. A variant that begins with + has no error. A variant
# is a preprocessor symbol, or several with commas between them. Without spin the status is 77,
# which means skipped. BASE=no: the model as it is is checked by another test.
#
# usage: [MEMORY=MEGABYTES] [BASE=no] check.sh SPIN CC MODEL VARIANT...    SPIN may be empty
set -euo pipefail
export LC_ALL=C
umask 022

spin=$1 model=$(realpath "$3")
read -ra cc <<<"$2" # perhaps with ccache in front
shift 3
[[ $spin ]] || { echo "no spin here; tools/install-deps --test installs it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Arguments: the compiler's options, a -, and spin's options. The result is in the file out.
check()
{
    local options=()
    while [[ $1 != - ]]; do
        options+=("$1")
        shift
    done
    shift
    "$spin" -a "$@" "$model" >out 2>&1 || { cat out; exit 1; }
    "${cc[@]}" "${options[@]}" -w -DSAFETY -DMEMLIM="${MEMORY:-1024}" -o pan pan.c
    ./pan -m100000 >out 2>&1 || { cat out; exit 1; }
}

no_error()
{
    if ! grep -q ', errors: 0$' out || grep -q 'not completed\|search depth too small' out; then
        "$spin" -t -p "$@" "$model" 2>/dev/null | tail -n 100 || true
        cat out
        exit 1
    fi
    echo "${*:-as it is}: $(grep -o '[0-9]* states, stored' out)"
}

if [[ ${BASE:-yes} == yes ]]; then
    check -O1 -
    no_error
fi
for variant; do
    IFS=, read -ra words <<<"${variant#+}"
    words=("${words[@]/#/-D}")
    if [[ $variant == +* ]]; then
        check -O1 -DCOLLAPSE - "${words[@]}"
        no_error "${words[@]}"
        continue
    fi
    check -O0 - "${words[@]}" # compiling takes longer than finding the error
    if ! grep -q '^pan:1: \(assertion violated\|invalid end state\)' out; then
        cat out
        echo "$model: the error of variant $variant was not found"
        exit 1
    fi
    echo "$variant: $(grep '^pan:1: ' out)"
done
