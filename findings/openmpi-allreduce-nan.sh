#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI 4.1.4: MPI_Allreduce with MPI_MIN among four processes, each with a vector of one and the
# same number, the first with NaNs. Whether the last element comes out as NaN depends on how many
# there are: with 1, 3 and 5 it does, with 2, 4 and 8 it is a number, in all processes alike.
# Without its component op/avx it is NaN with each of them. So a check for NaN by the minimum finds
# it or not as an array grows by one, and by the machine. Seen where there is AVX-512.
set -euo pipefail

grep -qw avx512f /proc/cpuinfo || { echo "for processors with AVX-512" >&2; exit 77; }
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
#include <math.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const int counts[] = { 1, 2, 3, 4, 5, 8 };
    double in[8], least[8];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 8; i++) {
        in[i] = rank == 0 ? NAN : 100 - rank;
    }
    for (int i = 0; i < 6; i++) {
        MPI_Allreduce(in, least, counts[i], MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%d: %s\n", counts[i], isnan(least[counts[i] - 1]) ? "NaN" : "a number");
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
seen=$(run -n 4 ./reduce 2>/dev/null)
plain=$(run --mca op ^avx -n 4 ./reduce 2>/dev/null)
expected="1: NaN
2: a number
3: NaN
4: a number
5: NaN
8: a number"
echo "$seen"
echo "without op/avx:"
echo "$plain"
[[ $seen == "$expected" && $plain != *number* ]] ||
    { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
