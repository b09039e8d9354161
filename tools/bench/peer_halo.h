/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the faces of a box with ghost cells by MPI's types, beside halo.c. */
#ifndef COHORT_TOOLS_BENCH_PEER_HALO_H
#define COHORT_TOOLS_BENCH_PEER_HALO_H

#include <stdbool.h>

/* Exchanges the six faces of BOX, a box of COUNT doubles or a few less, with rank OTHER. WAITS: all
 * at once; else one after the other. The types are made by the first call for a COUNT. */
void peer_halo(double *box, int count, int other, bool waits);

#endif
