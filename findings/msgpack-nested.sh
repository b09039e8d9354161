#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# msgpack-c 4.0.0: arrays and maps within each other are packed to any depth, but those deeper than
# 32 are not unpacked: msgpack_unpack_next returns MSGPACK_UNPACK_NOMEM_ERROR (-2), as if there were
# no memory, whatever there is. The limit is one of the compiled library (MSGPACK_EMBED_STACK_SIZE),
# which its manual pages and headers do not tell a program. A tree of 40 levels that one process
# has written as nested arrays is lost for the next one, and the error sends one to the wrong place.
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
cat >nested.c <<'C'
#include <msgpack.h>
#include <stdio.h>

static int unpack_nested(int depth)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_unpacked unpacked;
    size_t offset = 0;

    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    for (int i = 0; i < depth; i++) {
        msgpack_pack_array(&packer, 1);
    }
    msgpack_pack_int(&packer, 7);
    msgpack_unpacked_init(&unpacked);
    int result = msgpack_unpack_next(&unpacked, buffer.data, buffer.size, &offset);
    msgpack_unpacked_destroy(&unpacked);
    msgpack_sbuffer_destroy(&buffer);
    return result;
}

int main(void)
{
    const int depths[] = { 1, 32, 33, 40 };

    for (int i = 0; i < 4; i++) {
        printf("%d: %d\n", depths[i], unpack_nested(depths[i]));
    }
    return 0;
}
C
lib=$(dirname "$(find "$PWD/root" -name libmsgpackc.so.2 | head -n 1)")
cc nested.c -Iroot/usr/include -L"$lib" -lmsgpackc -o nested
seen=$(LD_LIBRARY_PATH=$lib ./nested)
expected="1: 2
32: 2
33: -2
40: -2"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
