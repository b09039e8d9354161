#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI 4.1.4: MPI_Pack_size of more than an int can say returns MPI_SUCCESS and whatever is left
# of the number: 0 for one element of 4 GiB, less than 0 for 300 of 8 MiB, while MPI_Type_size of
# the same type says MPI_UNDEFINED. Buffers are allocated with that number. MPICH 4.0.2 says
# MPI_UNDEFINED to the first, and fails the second.
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
cat >pack.c <<'C'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Datatype block, large;
    int status, bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(1 << 20, MPI_DOUBLE, &block);
    MPI_Type_contiguous(512, block, &large);
    MPI_Type_commit(&large);
    MPI_Type_size(large, &bytes);
    printf("size of 4 GiB undefined: %d\n", bytes == MPI_UNDEFINED);
    status = MPI_Pack_size(1, large, MPI_COMM_SELF, &bytes);
    printf("pack size of 4 GiB: %d, status %d\n", bytes, status);
    status = MPI_Pack_size(300, block, MPI_COMM_SELF, &bytes);
    printf("pack size of 300 x 8 MiB: %d, status %d\n", bytes, status);
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
cc -O1 pack.c -I"$lib/openmpi/include" -L"$lib" -l:libmpi.so.40 -o pack
seen=$(run -n 1 ./pack 2>/dev/null)
expected="size of 4 GiB undefined: 1
pack size of 4 GiB: 0, status 0
pack size of 300 x 8 MiB: -1778384896, status 0"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
