/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the command line. */
#ifndef COHORT_TOOLS_BENCH_OPTIONS_H
#define COHORT_TOOLS_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/bench/works.h"

enum bench_subcommand {
    BENCH_TASKS = 1 << 0,
    BENCH_BARRIER = 1 << 1,
    BENCH_COLL = 1 << 2,
    BENCH_CHECK = 1 << 3,
    BENCH_SELECT = 1 << 4,
    BENCH_KERNELS = 1 << 5,
    BENCH_SUSPENDED = 1 << 6,
    BENCH_DESCRIBE = 1 << 7,
};

enum { BENCH_MAX_ROUNDS = 999 };

struct bench_options {
    bool json;
    bool quick;
    unsigned rounds;
    double seconds;              /* of a round; 0: the default */
    uint32_t sites;              /* of coll and check in a job of one locality */
    uint32_t sites_per_locality; /* of coll and check in a job of several, select, describe */
    uint32_t tasks;              /* of suspended */
    uint32_t arity;              /* 0: chosen by the number of sites */
    bool by_call;                /* of select: rows take turns by call, not by round */
    const char *list;            /* of coll or tasks: what to measure instead; of select; or NULL */
    uint32_t computing;          /* of overlap in list: how many times 200 us */
    const char *algorithms;      /* of list; NULL: chosen */
    bool is_fresh;               /* of list: inputs are written before each call */
    bool is_lent;                /* of list: memory of cohort_memory_alloc */
    struct bench_works works;    /* that list */
    unsigned subcommands;        /* of enum bench_subcommand */
};

/* Reads the command line. Returns -1 to go on. Else it has printed why, and returns the status to
 * exit with. */
int bench_options_read(int argc, char **argv, struct bench_options *ret_options);

#endif
