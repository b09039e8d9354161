/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the operations that can be timed, each with its check of the result. */
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
    size_t count;       /* of a block */
    size_t num_buffers; /* IN and OUT are so many blocks */
    size_t *counts;     /* num_sites times `count`, for variants with blocks of any sizes */
    uint32_t computing; /* for overlap: how many times BENCH_OVERLAP_NS */
    /* How many sites of this locality have come to the barrier that is checked, counted for each
     * communicator; and how many sites of this locality there are. */
    atomic_uint *num_arrived;
    unsigned num_here;
};

/* A collective that can be measured. FILL sets a call's input; CHECK says what is wrong with the
 * output. */
struct bench_operation {
    const char *name;
    bool has_blocks;          /* IN and OUT are one block for each site */
    size_t num_buffers;       /* else so many blocks; 0: one */
    unsigned num_in_call;     /* how many times a call does what the name says; 0: once */
    unsigned num_generations; /* that it uses up, the last one of which is given; 0: one */
    bool is_one_way;          /* site 0 may complete before the others: time ends when all have */
    void (*fill)(const struct bench_call *call);
    cohort_future *(*start)(const struct bench_call *call, uint64_t generation);
    cohort_status (*check)(const struct bench_call *call);
    void (*end)(void); /* or NULL: after the last call of a site */
};

extern const struct bench_operation bench_operation_barrier;
extern const struct bench_operation bench_operation_all_reduce;
extern const struct bench_operation bench_operation_all_to_all;
extern const struct bench_operation bench_operation_broadcast;
extern const struct bench_operation bench_operation_all_gather;
extern const struct bench_operation bench_operation_reduce_scatter;
extern const struct bench_operation bench_operation_gather;
extern const struct bench_operation bench_operation_gatherv;
extern const struct bench_operation bench_operation_all_to_allv;
extern const struct bench_operation bench_operation_checked_gather;
extern const struct bench_operation bench_operation_check; /* agreement alone */

/* Blocks for 8 sites that do not know of them; and by all_to_allv, counts first (sparse.c). */
extern const struct bench_operation bench_operation_sparse;
extern const struct bench_operation bench_operation_counted;

/* For two sites: the faces of a box with ghost cells (halo.c). */
extern const struct bench_operation bench_operation_halo;

/* For two sites, see pairs.c. ping_pong: half the round trip of a message. remote: half of what a
 * remote task takes that gives back what it gets. stream: one message of several, rate: of many.
 * communicators: an all_reduce of one double, of many communicators at once. exchange: an
 * all_to_all whose second site comes late. overlap: the same while site 0 computes. */
extern const struct bench_operation bench_operation_ping_pong;
extern const struct bench_operation bench_operation_remote;
extern const struct bench_operation bench_operation_stream;
extern const struct bench_operation bench_operation_rate;
extern const struct bench_operation bench_operation_communicators;
extern const struct bench_operation bench_operation_exchange;
extern const struct bench_operation bench_operation_overlap;

/* For two sites: one-sided access to the other one's memory (one_sided.c). */
extern const struct bench_operation bench_operation_get;
extern const struct bench_operation bench_operation_put;
extern const struct bench_operation bench_operation_add;

/* Registers the function that `remote` calls. Before cohort_main. */
cohort_status bench_pairs_register(void);

/* Element INDEX of a block as a site fills it; it varies. */
double bench_pattern(size_t index);

/* Whether element INDEX of the output is WANT. */
cohort_status bench_check_element(const struct bench_call *call, size_t index, double want);

/* Whether the first block of the output is the pattern. */
cohort_status bench_check_pattern(const struct bench_call *call);

#endif
