/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: times the library's choice against all other algorithms, in one job. */
#ifndef COHORT_TOOLS_BENCH_SELECT_H
#define COHORT_TOOLS_BENCH_SELECT_H

#include <stdbool.h>

#include <cohort/cohort.h>

#include "tools/bench/options.h"
#include "tools/share/json.h"

/* A call, and the choice for it. */
struct select_point {
    const char *collective;
    uint32_t sites;
    uint64_t bytes;       /* of a block */
    unsigned rows;        /* algorithms measured; 0: all need too much memory, and this is all */
    const char *selected; /* the library's choice, and the one that was the fastest */
    const char *best;
    double selected_us; /* measured again in turns, in fresh rounds */
    double best_us;
    double regret; /* selected to best; 1 where they are the same */
};

struct select_report {
    bool json;
    struct json writer; /* of what is printed then */
};

/* select_report.c. Prints the head, a line when it is measured, and the end. */
void select_report_begin(struct select_report *report);
void select_report_add(struct select_report *report, const struct select_point *point);
bool select_report_end(struct select_report *report); /* false: the output can't be written */

/* To be called in every locality of a job, within a task. Measures the works of OPTIONS, among
 * sites_per_locality sites of each locality. REPORT: NULL in all localities except 0. */
cohort_status bench_select(const struct bench_options *options, struct select_report *report);

/* The names that --works may have, ended by NULL: those of collectives. */
const char *const *select_works(void);

#endif
