#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI 4.1.4: on a ring of one or two processes (MPI_Cart_create, periodic), where both
# neighbours are the same process, MPI_Ineighbor_alltoall and MPI_Neighbor_alltoall exchange the two
# blocks differently. The blocking one gives what the left neighbour has sent to its right, as on
# longer rings, and as MPI 4.1 (8.6) wants it; the other one what it has sent to its left. So a halo
# exchange that is made non-blocking for speed is wrong with two processes in a dimension, and right
# with three. MPICH 4.0.2 is right in both. Open MPI's main branch has it mended since September
# 2026 (pull request 14416).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(openmpi-bin=4.1.4-3+b1 openmpi-common=4.1.4-3 libopenmpi3=4.1.4-3+b1
          libopenmpi-dev=4.1.4-3+b1 libhwloc15=2.9.0-1 libpmix2=4.2.2-1+deb12u1
          libmunge2=0.5.15-2+deb12u1 libevent-core-2.1-7=2.1.12-stable-8+deb12u1
          libevent-pthreads-2.1-7=2.1.12-stable-8+deb12u1)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
cat >ring.c <<'C'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int size, rank, periodic = 1;
    MPI_Comm ring;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_rank(ring, &rank);
    int out[2] = { 10 * rank + 1, 10 * rank + 2 }; /* to the left, to the right */
    int in[2] = { -1, -1 }, later[2] = { -1, -1 };
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, later, 1, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) {
        printf("%d: from the left %d, then %d; from the right %d, then %d\n", size, in[0],
               later[0], in[1], later[1]);
    }
    MPI_Finalize();
    return 0;
}
C
lib=$PWD/root/usr/lib/x86_64-linux-gnu
export OPAL_PREFIX=$PWD/root/usr LD_LIBRARY_PATH=$lib:$lib/openmpi/lib
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1
run()
{
    root/usr/bin/mpirun.openmpi --allow-run-as-root --oversubscribe "$@"
}
cc -O1 ring.c -I"$lib/openmpi/include" -L"$lib" -l:libmpi.so.40 -o ring
seen=$(for num in 1 2 3; do run -n "$num" ./ring 2>/dev/null; done)
expected="1: from the left 2, then 1; from the right 1, then 2
2: from the left 12, then 11; from the right 11, then 12
3: from the left 22, then 22; from the right 11, then 11"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
