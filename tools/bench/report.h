/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: all results: prints the table as they come, or JSON at the end. */
#ifndef COHORT_TOOLS_BENCH_REPORT_H
#define COHORT_TOOLS_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include <cohort/cohort.h>

#include "tools/bench/options.h"
#include "tools/bench/result.h"

/* What a figure depends on besides the library. */
struct bench_machine {
    unsigned cores; /* that this process may use */
    char cpu[80];
    char system[80];
    double load; /* when the program started: other work makes figures worse */
};

struct bench_machine bench_machine(void);

/* Where the results go: the table is printed as they come, JSON at the end. */
struct bench_report {
    bool json;
    bool quick;
    struct bench_machine machine;
    struct bench_result *results;
    size_t num_results;
    size_t capacity;
};

/* Prints the table's head. */
void bench_report_init(struct bench_report *report, const struct bench_options *options);
void bench_report_fini(struct bench_report *report);

/* COHORT_ERR_NO_MEMORY. */
cohort_status bench_report_add(struct bench_report *report, const struct bench_result *result);

/* Prints what is still to be printed; false: the output can't be written. */
bool bench_report_end(const struct bench_report *report);

#endif
