#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libuv 1.44.2: uv_fs_write with 2000 buffers writes all of them, in several system calls.
# uv_fs_read with the same 2000 buffers returns after the first 1024 (IOV_MAX), far from the end of
# the file, as an ordinary short read. A program that takes fewer bytes than it has asked for as the
# end of a file, which a file's short read otherwise means, cuts it off, and only where there are
# more than 1024 buffers. The documentation calls both the equivalent of one preadv or pwritev.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(libuv1=1.44.2-1+deb12u1 libuv1-dev=1.44.2-1+deb12u1)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
cat >move.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <uv.h>

enum { MOST = 2000 };

static void move(unsigned num)
{
    static char data[MOST];
    uv_buf_t buffers[MOST];
    uv_fs_t request;
    uv_loop_t *loop = uv_default_loop();

    for (unsigned i = 0; i < num; i++)
        buffers[i] = uv_buf_init(data + i, 1);
    int file = uv_fs_open(loop, &request, "file", O_RDWR | O_CREAT | O_TRUNC, 0600, NULL);
    int written = uv_fs_write(loop, &request, file, buffers, num, 0, NULL);
    int got = uv_fs_read(loop, &request, file, buffers, num, 0, NULL);
    printf("%u buffers: %d bytes written, %d read\n", num, written, got);
    uv_fs_close(loop, &request, file, NULL);
}

int main(void)
{
    move(1024);
    move(MOST);
    return 0;
}
C
lib=$(dirname "$(find "$PWD/root" -name libuv.so.1 | head -n 1)")
cc -O1 move.c -Iroot/usr/include -L"$lib" -l:libuv.so.1 -o move
seen=$(LD_LIBRARY_PATH=$lib ./move)
expected="1024 buffers: 1024 bytes written, 1024 read
2000 buffers: 2000 bytes written, 1024 read"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
