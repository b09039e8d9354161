/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TOOLS_BENCH_REPORT_H
#define COHORT_TOOLS_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cohort/cohort.h>

#include "tools/bench/machine.h"
#include "tools/bench/series.h"

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

/* A figure that is to be reached. */
struct bench_target {
    const char *text;
    double limit;
    double median;
    const char *unit;
};

/* Where the results go: the table is printed as they come, JSON at the end. */
struct bench_report {
    bool json;
    bool quick;
    struct bench_machine machine;
    struct bench_result *results;
    size_t num_results;
    size_t capacity;
};

bool bench_target_reached(const struct bench_target *target);

/* Prints the table's head. */
void bench_report_init(struct bench_report *report, const struct bench_options *options);
void bench_report_fini(struct bench_report *report);

/* COHORT_ERR_NO_MEMORY. */
cohort_status bench_report_add(struct bench_report *report, const struct bench_result *result);

/* Prints what is still to be printed; false: the output can't be written. */
bool bench_report_end(const struct bench_report *report, const struct bench_target *targets,
                      size_t num_targets);

/* SPREAD, whose times are in nanoseconds, in UNIT: "ns" or "us". */
void bench_result_set(struct bench_result *result, struct bench_spread spread, const char *unit,
                      unsigned rounds);

#endif
