#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI 4.1.4: MPI_Allreduce of 512 doubles in three processes, where each gives a vector of one
# and the same number. All elements are the same sum, and yet those at the end come out different
# from those at the beginning (1e16 + 1 - 1e16 is 0 or 1), since the algorithm for that size adds in
# another order in each third of the vector. With 64 elements they are equal. So a symmetric problem
# loses its symmetry by the place of an element, and from some size on only.
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
    static const double gives[3] = { 1e16, 1, -1e16 };
    static double in[512], sum[512];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 512; i++) {
        in[i] = gives[rank];
    }
    for (int count = 64; count <= 512; count *= 8) {
        MPI_Allreduce(in, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%d: first %g, last %g\n", count, sum[0], sum[count - 1]);
        }
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
seen=$(run -n 3 ./reduce 2>/dev/null)
expected="64: first 0, last 0
512: first 0, last 1"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
