/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the lists of --works, which the peers read, too. */
#ifndef COHORT_TOOLS_BENCH_WORKS_H
#define COHORT_TOOLS_BENCH_WORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a job is told to measure, as one word: "all_reduce:8,barrier:0". Cohort's jobs and those of
 * its peers are told the same, so this file uses neither. */

enum { BENCH_MAX_WORKS = 128 };

struct bench_work {
    const char *name; /* constant */
    uint64_t size;    /* of coll and select: bytes; of tasks: see problems.h; up to 2^30 */
};

struct bench_works {
    struct bench_work list[BENCH_MAX_WORKS];
    size_t num;
};

/* The names that a list of the subcommand may have, ended by NULL. */
extern const char *const bench_works_of_coll[];
extern const char *const bench_works_of_tasks[];

/* False: LIST is not of that form, names a work that is not in NAMES, or is too long. */
bool bench_works_read(const char *list, const char *const *names, struct bench_works *ret_works);

#endif
