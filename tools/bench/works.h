/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the list of --works, which the programs for MPI read, too. */
#ifndef COHORT_TOOLS_BENCH_WORKS_H
#define COHORT_TOOLS_BENCH_WORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a job is told to measure, as one word: "all_reduce:8,barrier:0". Cohort's jobs and those of
 * the MPIs are told the same, so this file uses neither. */

enum { BENCH_MAX_WORKS = 32 };

struct bench_work {
    const char *name; /* constant */
    uint64_t bytes;   /* up to 1 GiB */
};

struct bench_works {
    struct bench_work list[BENCH_MAX_WORKS];
    size_t num;
};

/* False: LIST is not of that form, names an unknown work, or is too long. */
bool bench_works_read(const char *list, struct bench_works *ret_works);

#endif
