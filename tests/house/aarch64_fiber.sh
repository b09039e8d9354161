#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fiber's switch and its unit test with Debian's cross compiler for aarch64 and runs the
# test under qemu-user.
#
# usage: aarch64_fiber.sh ROOT
set -euo pipefail

root=$1
compiler=aarch64-linux-gnu-gcc
emulator=qemu-aarch64
for tool in "$compiler" "$emulator"; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: no $tool"
        exit 77
    fi
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$root"
base=(runtime/base/*.c)
base=("${base[@]/*fault_wrap.c/}") # for libcohort.so only
"$compiler" -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -static -pthread -I. -Iinclude \
    runtime/task/fiber.c runtime/task/fiber_asm.c \
    runtime/task/fiber_aarch64.S runtime/task/stack.c ${base[@]} \
    tests/unit/runtime/task/test_fiber.c tests/support/main.c tests/support/test.c \
    -lm -o "$scratch/test_fiber"
cd "$scratch" && ulimit -c 0 # the test of the guard page dies on purpose
"$emulator" "$scratch/test_fiber"
