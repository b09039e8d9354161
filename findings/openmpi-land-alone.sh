#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI 4.1.4: MPI_Allreduce with MPI_LAND of a true value that is not 1 returns it as it is
# where there is one process, and 1 where there are two: the operation is never applied to one
# input. A program that compares the result with 1, or adds up such flags, changes its answer when
# it runs alone, which is how it is tested. MPICH 4.0.2 does the same.
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
cat >reduce.c <<'C'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, in = 2, out = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d: 2 is %d\n", size, out);
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
cc -O1 reduce.c -I"$lib/openmpi/include" -L"$lib" -l:libmpi.so.40 -o reduce
seen=$(run -n 1 ./reduce 2>/dev/null; run -n 2 ./reduce 2>/dev/null)
expected="1: 2 is 2
2: 2 is 1"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
