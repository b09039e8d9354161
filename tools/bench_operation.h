/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TOOLS_BENCH_OPERATION_H
#define COHORT_TOOLS_BENCH_OPERATION_H

#include <stdatomic.h>

#include <cohort/cohort.h>

/* What one site hands to a collective. Elements are doubles that hold whole numbers, so results are
 * exact in any order. */
struct bench_call {
    cohort_comm *comm;
    double *in;
    double *out;
    size_t count; /* of a block */
    /* Of the sites of this locality: those that have come to the barrier that is checked, once for
     * each communicator, and all. */
    atomic_uint *num_arrived;
    unsigned num_here;
};

/* A collective that can be measured. FILL sets a call's input; CHECK says what is wrong with the
 * output. */
struct bench_operation {
    const char *name;
    bool has_data;
    bool has_blocks; /* IN and OUT are one block for each site */
    void (*fill)(const struct bench_call *call);
    cohort_future *(*start)(const struct bench_call *call, uint64_t generation);
    cohort_status (*check)(const struct bench_call *call);
};

extern const struct bench_operation bench_operation_barrier;
extern const struct bench_operation bench_operation_all_reduce;
extern const struct bench_operation bench_operation_all_to_all;
extern const struct bench_operation bench_operation_gather;
extern const struct bench_operation bench_operation_checked_gather;
extern const struct bench_operation bench_operation_check; /* agreement alone */

#endif
