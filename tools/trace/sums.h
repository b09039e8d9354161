/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what all waits come to, by locality, task and collective. */
#ifndef COHORT_TOOLS_TRACE_SUMS_H
#define COHORT_TOOLS_TRACE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/map.h"
#include "tools/trace/blame.h"

/* How long locality `maker` made `waiter` wait. */
struct sum_pair {
    uint32_t maker, waiter;
    uint64_t ns;
};

/* All tasks with one function, in one locality. */
struct sum_task {
    const char *function;
    uint32_t rank;
    uint64_t made;   /* others wait */
    uint64_t waited; /* itself */
};

/* A site that has not called a collective of which others waited for it. */
struct sum_absent {
    const char *communicator, *name;
    uint32_t site, rank;  /* NONE: its locality is not in the trace */
    uint64_t first, last; /* generations */
    uint64_t ns; /* that they waited, also if it is charged to a lower one that is absent */
};

/* A collective of a communicator, with its row. */
struct sum_call {
    const char *communicator, *name;
    uint64_t num; /* generations */
    uint64_t late, operation;
    uint32_t last_site; /* that was last most often; NONE: one was missing each time */
    uint64_t num_last;
    uint64_t *lasts; /* of each site: how often it was the last one */
    uint32_t num_sites;
};

struct sums {
    uint64_t waited;
    uint64_t by[BLAME_KINDS];
    uint64_t by_own;        /* of BLAME_TASK: for tasks of the same locality */
    struct sum_pair *pairs; /* the longest first, as in all lists */
    struct sum_task *tasks;
    struct sum_call *calls;
    struct sum_absent *absent;
    uint32_t num_pairs, num_tasks, num_calls, num_absent;
};

struct sums_options {
    bool directly;     /* see blame_wait */
    uint64_t from, to; /* only what lies between these times */
};

/* COHORT_ERR_NO_MEMORY; then it needs no fini. */
cohort_status sums_init(struct sums *sums, const struct model *model,
                        const struct sums_options *options);
void sums_fini(struct sums *sums);

#endif
