/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the sites of a communicator, which make the same measurements in turn. */
#ifndef COHORT_TOOLS_BENCH_GROUP_H
#define COHORT_TOOLS_BENCH_GROUP_H

#include "tools/bench/bench.h"
#include "tools/bench/operation.h"

/* One measurement: an operation with so many bytes. */
struct bench_case {
    const struct bench_operation *operation;
    uint64_t bytes; /* a site's in all_reduce, a pair's in all_to_all */
    bool is_total;  /* all_to_all: bytes are a site's, shared among its blocks */
};

/* The sites of one communicator: tasks in all localities of the job, as many in each. They make the
 * same measurements one after the other. Site 0, in locality 0, takes the time. */
struct bench_group {
    const struct bench *bench;
    const char *name; /* of the communicator */
    uint32_t sites_per_locality;
    uint32_t arity;
    uint32_t flat_fallback_threshold;
    const char *algorithms; /* as in cohort_comm_options; NULL: chosen */
    const char *shape;      /* for the report; NULL: "flat" or "tree", as the communicator is */
    const struct bench_case *cases;
    size_t num_cases;
};

/* To be called in a task of every locality. Wrong results have been printed. */
cohort_status bench_group_run(const struct bench_group *group);

/* The cases over all localities of the job: flat, and then over the tree, if there are enough sites
 * for one. */
cohort_status bench_shapes(const struct bench *bench, const struct bench_case *cases,
                           size_t num_cases);

/* The same with a communicator's default options. */
cohort_status bench_chosen(const struct bench *bench, const struct bench_case *cases,
                           size_t num_cases);

#endif
