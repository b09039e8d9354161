#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPICH 4.0.2: MPI_Allreduce with MPI_MIN or MPI_MAX, where one process gives a NaN, returns another
# result in each process: here 1 in the first, which gave the NaN, and NaN in the second. MPI
# requires that all processes receive identical results (the section on MPI_Allreduce). A loop that
# ends when the least error is small enough ends in some processes only, and the job hangs in the
# next collective.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(mpich=4.0.2-3+b1 libmpich12=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1 libhwloc15=2.9.0-1
          libslurm38=22.05.8-4+deb12u3 libucx0=1.13.1-1 libfabric1=1.17.0-3 libnuma1=2.0.16-1
          libibverbs1=44.0-2 librdmacm1=44.0-2 libpsm2-2=11.2.185-2 libnl-3-200=3.7.0-0.2+b1
          libpsm-infinipath1=3.3+20.604758e7-6.2 libnl-route-3-200=3.7.0-0.2+b1)
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
    int rank;
    double in, least, all[4];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    in = rank == 0 ? NAN : rank;
    MPI_Allreduce(&in, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Gather(&least, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 2; i++) {
        printf("process %d: %s\n", i, isnan(all[i]) ? "NaN" : "a number");
    }
    MPI_Finalize();
    return 0;
}
C
lib=$(dirname "$(find "$PWD/root" -name libmpich.so.12 | head -n 1)")
cc reduce.c -Iroot/usr/include/x86_64-linux-gnu/mpich -L"$lib" -l:libmpich.so.12 -o reduce
seen=$(LD_LIBRARY_PATH=$lib timeout 60 root/usr/bin/mpiexec.hydra -n 2 ./reduce)
expected="process 0: a number
process 1: NaN"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
