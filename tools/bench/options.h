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
    BENCH_FIGURES = 1 << 3,
    BENCH_CHECK = 1 << 4,
    BENCH_SELECT = 1 << 5,
    BENCH_HIERARCHY = 1 << 6,
    BENCH_KERNELS = 1 << 7,
    BENCH_SUSPENDED = 1 << 8,
    BENCH_SPREAD = 1 << 9,
    BENCH_DESCRIBE = 1 << 10,
};

enum { BENCH_MAX_ROUNDS = 999 }; /* also of runs */

/* Where the sites of `select` are: tasks of one locality; each in a locality of its own on one
 * host; several in each of several localities of one host; on several hosts. The first letters of
 * their names. */
enum bench_placement {
    BENCH_PLACED_TASKS = 't',
    BENCH_PLACED_LOCALITIES = 'l',
    BENCH_PLACED_MIXED = 'm',
    BENCH_PLACED_HOSTS = 'h',
};

/* Hosts that are made for a measurement, localities of each, and tasks as sites of each of these.
 * All 0: no such hosts. */
struct bench_places {
    uint32_t hosts;
    uint32_t localities;
    uint32_t tasks;
};

struct bench_options {
    bool json;
    bool quick;
    unsigned rounds;
    double seconds;              /* of a round; 0: the default */
    uint32_t sites;              /* of coll and check in a job of one locality */
    uint32_t sites_per_locality; /* of coll, check, describe in a job of several */
    uint32_t tasks;              /* of suspended */
    unsigned runs;               /* of spread: processes */
    uint32_t arity;              /* 0: chosen by the number of sites */
    const char *cohortrun;       /* NULL: beside this program */
    const char *collective;      /* of select; NULL: all */
    uint64_t bytes;              /* of select; 0: all */
    uint32_t limit;              /* of select, in seconds */
    bool by_call;                /* of select: rows take turns by call, not by round */
    char placement;              /* of select: enum bench_placement, or 0: all but hosts */
    struct bench_places places;  /* of select */
    const char *only;            /* of spread; NULL: all rows */
    const char *list;            /* of coll or tasks: what to measure instead, or NULL */
    uint32_t computing;          /* of overlap in list: how many times 200 us */
    const char *algorithms;      /* of list; NULL: chosen */
    bool is_fresh;               /* of list: inputs are written before each call */
    struct bench_works works;    /* that list */
    unsigned subcommands;        /* of enum bench_subcommand */
};

/* Reads the command line. Returns -1 to go on. Else it has printed why, and returns the status to
 * exit with. */
int bench_options_read(int argc, char **argv, struct bench_options *ret_options);

#endif
