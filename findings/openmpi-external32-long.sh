#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI 4.1.4: in "external32" an MPI_LONG has 4 bytes (MPI 3.1, 13.5.2), and MPI_Pack_external
# writes 4. But MPI_Pack_external_size says 8. Who takes that for the length of a record, and not
# for a bound, finds the next one behind 4 bytes of nothing. A long that does not fit loses its
# upper half, and both calls return MPI_SUCCESS. Of the size Open MPI's issue 10 has told in 2014;
# it was closed for want of a program. MPICH 4.0.2 says 4, and packs the same.
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

static void pack(long in)
{
    MPI_Aint size, end = 0, begin = 0;
    long out = 0;
    char bytes[64];

    MPI_Pack_external_size("external32", 1, MPI_LONG, &size);
    int packed = MPI_Pack_external("external32", &in, 1, MPI_LONG, bytes, sizeof(bytes), &end);
    int unpacked = MPI_Unpack_external("external32", bytes, end, &begin, &out, 1, MPI_LONG);
    printf("%#lx: %ld bytes, packed in %ld, is %#lx, %s\n", in, (long)size, (long)end, out,
           packed == MPI_SUCCESS && unpacked == MPI_SUCCESS ? "no error" : "an error");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    pack(0x1234);
    pack(0x123456789abc);
    MPI_Finalize();
    return 0;
}
C
lib=$PWD/root/usr/lib/x86_64-linux-gnu
export OPAL_PREFIX=$PWD/root/usr LD_LIBRARY_PATH=$lib:$lib/openmpi/lib
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1
cc -O1 pack.c -I"$lib/openmpi/include" -L"$lib" -l:libmpi.so.40 -o pack
seen=$(root/usr/bin/mpirun.openmpi --allow-run-as-root --oversubscribe -n 1 ./pack 2>/dev/null)
expected="0x1234: 8 bytes, packed in 4, is 0x1234, no error
0x123456789abc: 8 bytes, packed in 4, is 0x56789abc, no error"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
