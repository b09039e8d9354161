#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libuv 1.53: uv_spawn clears O_NONBLOCK of descriptors that it hands on, in the parent too.
#
# On Linux it may go by posix_spawn since then, and before that clears the flag, on the parent's
# descriptor. The flag belongs to the open file, which parent, child and all others that have it
# share. Whoever reads a descriptor until EAGAIN then waits for ever. 1.52.1 and older leave it
# alone. Cohort relies on it no more (runtime/base/bell.h).
#
# Takes Debian's package of the version below, and the C library that it wants, from the mirror that
# apt is configured with, into a temporary folder. Needs gcc and a network. Status 0: it is so;
# 1: it is not so any more; 2: could not look.
#
# usage: findings/libuv-spawn-clears-nonblock.sh
set -euo pipefail
export LC_ALL=C
suite=testing version=1.53.0-1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cant()
{
    echo "could not look: $1" >&2
    exit 2
}

# An apt of its own: the same mirror, another suite, nothing is installed.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(LABEL)' \
    'Created-By: Packages' | awk '$2 == "main" && $3 == "Debian" {print $1; exit}')
[[ $mirror ]] || cant "apt here has no mirror of Debian"
mkdir -p state/lists/partial cache/archives/partial
: >status
echo "deb $mirror $suite main" >sources
options=(-q -o "Dir::Etc::sourcelist=$folder/sources" -o Dir::Etc::sourceparts=/dev/null
         -o "Dir::State=$folder/state" -o "Dir::State::status=$folder/status"
         -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
apt-get "${options[@]}" update >log 2>&1 || cant "apt-get update: $(tail -n 1 log)"
apt-get "${options[@]}" download "libuv1t64=$version" "libuv1-dev=$version" libc6 >log 2>&1 ||
    cant "apt-get download of libuv $version: $(tail -n 1 log)"
for package in ./*.deb; do
    dpkg-deb --extract "$package" root
done

cat >spawn.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <uv.h>

static void ended(uv_process_t *process, int64_t status, int signal)
{
    (void)status, (void)signal;
    uv_close((uv_handle_t *)process, NULL);
}

int main(void)
{
    char *args[] = {"true", NULL};
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    uv_process_t process;
    uv_stdio_container_t stdio[4] = {[3] = {.flags = UV_INHERIT_FD, .data.fd = fd}};
    uv_process_options_t options = {
        .file = "true", .args = args, .exit_cb = ended, .stdio_count = 4, .stdio = stdio};
    int before = !!(fcntl(fd, F_GETFL) & O_NONBLOCK);
    int error = uv_spawn(uv_default_loop(), &process, &options);
    int after = !!(fcntl(fd, F_GETFL) & O_NONBLOCK);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    printf("libuv %s: uv_spawn returns %d\n", uv_version_string(), error);
    printf("O_NONBLOCK of the parent's eventfd: before %d, after %d\n", before, after);
    return error ? 2 : before && !after ? 0 : 3;
}
END
libraries=$(dirname root/usr/lib/*/libuv.so.1)
gcc -w -Iroot/usr/include spawn.c "$libraries/libuv.so.1" -Wl,--allow-shlib-undefined \
    -o spawn >log 2>&1 || cant "gcc: $(grep -m 1 error log)"
loader=$(echo "$libraries"/ld-linux-*.so.*)
status=0
"$loader" --library-path "$libraries" ./spawn || status=$?
case $status in
0) echo "it is so: the parent's flag is gone" ;;
3) echo "it is not so any more" ;;
*) cant "the program has ended with status $status" ;;
esac
exit "$((status > 0))"
