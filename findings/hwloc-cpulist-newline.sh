#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hwloc 2.9.0: hwloc_bitmap_list_sscanf takes the text of a kernel's list of processors
# (/sys/devices/system/node/node0/cpulist and its like, which end with a newline) and returns 0, but
# a last single number is lost: of "0\n" nothing is left, of "0-3,7\n" 0-3. A last range stays. So a
# program that reads such a file works until a list ends with a single processor.
# Expected: the number, as without the newline, or -1.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(libhwloc15=2.9.0-1 libhwloc-dev=2.9.0-1)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
cat >list.c <<'C'
#include <hwloc.h>
#include <stdio.h>

int main(void)
{
    const char *lists[] = { "0", "0\n", "0-3,7", "0-3,7\n", "0,2-3\n" };

    for (int i = 0; i < 5; i++) {
        hwloc_bitmap_t set = hwloc_bitmap_alloc();
        int status = hwloc_bitmap_list_sscanf(set, lists[i]);
        char text[64];

        hwloc_bitmap_list_snprintf(text, sizeof(text), set);
        printf("%d: %d '%s'\n", i, status, text);
        hwloc_bitmap_free(set);
    }
    return 0;
}
C
lib=$(dirname "$(find "$PWD/root" -name libhwloc.so.15 | head -n 1)")
cc list.c -Iroot/usr/include -L"$lib" -lhwloc -o list
seen=$(LD_LIBRARY_PATH=$lib ./list)
expected="0: 0 '0'
1: 0 ''
2: 0 '0-3,7'
3: 0 '0-3'
4: 0 '0,2-3'"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
