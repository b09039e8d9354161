/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the list of the subcommands, which have a file each. */
#ifndef COHORT_TOOLS_BENCH_BENCH_H
#define COHORT_TOOLS_BENCH_BENCH_H

#include <cohort/cohort.h>

#include "tools/bench/options.h"
#include "tools/bench/report.h"

/* The subcommands of cohort-bench, one file each. Those that return a cohort_status run within
 * cohort_main, in every locality; locality 0 adds the results to the report. */
struct bench {
    const struct bench_options *options;
    struct bench_report *report; /* NULL in all localities but 0 */
};

cohort_status bench_tasks(const struct bench *bench);
cohort_status bench_barrier(const struct bench *bench);
cohort_status bench_coll(const struct bench *bench);
cohort_status bench_listed(const struct bench *bench);     /* coll --works */
cohort_status bench_task_works(const struct bench *bench); /* tasks --works */
cohort_status bench_check(const struct bench *bench);
cohort_status bench_kernels(const struct bench *bench);
cohort_status bench_suspended(const struct bench *bench);

/* The same, but there is no report: site 0 prints what the library knows of the machine. */
cohort_status bench_describe(const struct bench_options *options);

#endif
