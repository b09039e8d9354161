/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: one result: a line of the table, or of JSON. */
#ifndef COHORT_TOOLS_BENCH_RESULT_H
#define COHORT_TOOLS_BENCH_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/bench/series.h"
#include "tools/share/json.h"

/* One line of the table. What does not apply is 0 or "". */
struct bench_result {
    char name[32];
    uint32_t localities;
    uint32_t workers; /* of each locality */
    uint32_t sites;
    uint64_t bytes; /* of all_reduce: a site's; of all_to_all: see block */
    uint64_t block; /* of all_to_all: for each pair of sites */
    char shape[8];  /* "flat" or "tree" */
    uint32_t arity; /* of the tree */
    double median;
    double min;
    double max;
    char unit[4];
    unsigned rounds;
};

/* Sets the figures to SPREAD in UNIT. For "ns" and "us", the times of SPREAD are in nanoseconds;
 * for any other unit it is in that unit. */
void bench_result_set(struct bench_result *result, struct bench_spread spread, const char *unit,
                      unsigned rounds);

/* Writes RESULT as an object in one line. */
void bench_result_write(const struct bench_result *result, struct json *json);

#endif
