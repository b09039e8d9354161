/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `spread`: its cases, each of which has a process of its own. */
#ifndef COHORT_TOOLS_BENCH_SPREAD_H
#define COHORT_TOOLS_BENCH_SPREAD_H

#include <stddef.h>

#include <cohort/cohort.h>

enum { SPREAD_NUM_TASKS = 64, SPREAD_NUM_LIMITS = 2 };

struct spread_run;

struct spread_case {
    const char *name;
    double limits[SPREAD_NUM_LIMITS]; /* it is told how many runs are within them; 0: none */
    /* Runs it. RET_NS: how long it took. RET_IDEAL_NS: how long it would have taken had all cores
     * computed all the time, as far as the tasks need not wait for each other. */
    cohort_status (*run)(struct spread_run *run, double *ret_ns, double *ret_ideal_ns);
};

/* All cases. Returns how many there are. */
size_t spread_cases(const struct spread_case **ret_cases);

#endif
