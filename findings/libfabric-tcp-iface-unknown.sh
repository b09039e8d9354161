#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libfabric 1.17.0, provider tcp: FI_TCP_IFACE chooses the network interface ("lo" leaves the
# loopback addresses only), but the name of one that does not exist is ignored: status 0, all
# interfaces, and no word of it even with FI_LOG_LEVEL=warn. So a mistyped name, or one that another
# node does not have, moves the traffic to whichever network comes first.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(libfabric1=1.17.0-3 libfabric-bin=1.17.0-3)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
lib=$(dirname "$(find "$PWD/root" -name libfabric.so.1 | head -n 1)")
fabrics()
{
    LD_LIBRARY_PATH=$lib root/usr/bin/fi_info -p tcp 2>/dev/null | grep fabric: | sort -u
}
words()
{
    LD_LIBRARY_PATH=$lib FI_LOG_LEVEL=warn root/usr/bin/fi_info -p tcp 2>&1 | grep -c "$1" || true
}
all=$(unset FI_TCP_IFACE; fabrics)
none=$(FI_TCP_IFACE=nosuch0 fabrics)
lo=$(FI_TCP_IFACE=lo fabrics)
seen="all as with a name that does not exist: $([[ $all == "$none" ]] && echo yes || echo no)
loopback only with lo: $(grep -qvE '127\.|::1' <<<"$lo" && echo no || echo yes)
lines that name it: $(FI_TCP_IFACE=nosuch0 words nosuch0)"
expected="all as with a name that does not exist: yes
loopback only with lo: yes
lines that name it: 0"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
