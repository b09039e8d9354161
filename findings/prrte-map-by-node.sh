#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# PRRTE 3.0.8 (Open MPI 5.0.7, Debian 13): `mpirun -n 4 --map-by node --host a:1,b:1,c:2` gives the
# four processes the ranks 0, 1, 2 and 5. The second process of a node gets its first one's rank
# plus the number of nodes, also where the nodes between have no second slot. Programs get that as
# PMIX_RANK in a job of 4. With equal slots, or --map-by slot, the ranks are right.
#
# Only the map is asked for: nothing is started, and the hosts need not exist. Needs Debian 13's
# openmpi-bin; status 77: there is another PRRTE here, or none.
set -euo pipefail
export LC_ALL=C

version=$(prterun --version 2>/dev/null | grep -m 1 -o '[0-9][0-9.]*[0-9a-z]*' || true)
[[ $version == 3.0.8 ]] ||
    { echo "needs PRRTE 3.0.8; here is ${version:-none}" >&2; exit 77; }
ranks()
{
    prterun --allow-run-as-root -n 4 --map-by "$1" --host "$2" --display map --do-not-launch true |
        sed -n 's/.*Process rank: \([0-9]*\).*/\1/p' | sort -n | tr '\n' ' '
}
seen="node, a:1,b:1,c:2: $(ranks node a:1,b:1,c:2)
slot, a:1,b:1,c:2: $(ranks slot a:1,b:1,c:2)
node, a:2,b:2: $(ranks node a:2,b:2)"
expected="node, a:1,b:1,c:2: 0 1 2 5 
slot, a:1,b:1,c:2: 0 1 2 3 
node, a:2,b:2: 0 1 2 3 "
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
