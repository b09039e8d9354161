#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# msgpack-c 4.0.0: msgpack_object_equal compares what was unpacked, not what it means, except for
# integers. 5 as an int8 and as a positive fixint are equal. 1.0 as a float 32 and as a float 64 are
# not, and neither are the maps {a: 1, b: 2} and {b: 2, a: 1}, whose pairs are the same. And
# msgpack_object_print writes a string with a quote in it as it is, so that its output can't be read
# back: the string of one quote is """.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(libmsgpackc2=4.0.0-3 libmsgpack-dev=4.0.0-3)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
cat >equal.c <<'C'
#include <msgpack.h>
#include <stdio.h>

static msgpack_zone zone;

static msgpack_object unpacked(const char *bytes, size_t size)
{
    msgpack_object object;
    size_t offset = 0;

    msgpack_unpack(bytes, size, &offset, &zone, &object);
    return object;
}

static void compare(const char *what, msgpack_object left, msgpack_object right)
{
    printf("%s: %s\n", what, msgpack_object_equal(left, right) ? "equal" : "not equal");
}

int main(void)
{
    msgpack_zone_init(&zone, 2048);
    compare("5 as int8 and fixint", unpacked("\xd0\x05", 2), unpacked("\x05", 1));
    compare("1.0 as float 32 and float 64", unpacked("\xca\x3f\x80\x00\x00", 5),
            unpacked("\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00", 9));
    compare("a map in another order", unpacked("\x82\xa1" "a\x01\xa1" "b\x02", 7),
            unpacked("\x82\xa1" "b\x02\xa1" "a\x01", 7));
    msgpack_object_print(stdout, unpacked("\xa1\"", 2));
    puts("");
    return 0;
}
C
lib=$(dirname "$(find "$PWD/root" -name libmsgpackc.so.2 | head -n 1)")
cc equal.c -Iroot/usr/include -L"$lib" -lmsgpackc -o equal
seen=$(LD_LIBRARY_PATH=$lib ./equal)
expected='5 as int8 and fixint: equal
1.0 as float 32 and float 64: not equal
a map in another order: not equal
"""'
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
