/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: measures what a list on the command line names. */
#ifndef COHORT_TOOLS_BENCH_TASK_WORKS_H
#define COHORT_TOOLS_BENCH_TASK_WORKS_H

#include <cohort/cohort.h>

#include "tools/bench/bench.h"
#include "tools/bench/problems.h"
#include "tools/bench/series.h"

/* Each function solves a problem once, checks the result, and tells the time. */
typedef cohort_status task_solve_function(const struct problem *problem,
                                          struct problem_time *ret_time);

/* task_forks.c */
task_solve_function task_fib;
task_solve_function task_empty;
task_solve_function task_halves;
task_solve_function task_range;
task_solve_function task_range_us;
task_solve_function task_tree;
task_solve_function task_when_all;

/* task_graphs.c */
task_solve_function task_graph;

/* task_waits.c */
task_solve_function task_then;
task_solve_function task_suspend;
task_solve_function task_ping_pong;
task_solve_function task_when_any;
task_solve_function task_sleeps;
task_solve_function task_spread;

/* task_foreign.c: only these use threads of their own, and bind the worker to a core. */
task_solve_function task_foreign;
task_solve_function task_wake;

/* How long each task of spread computes. */
enum { TASK_SPREAD_NS = 2000000 };

/* The error that there is no memory for NUM of WHAT, or that a result is WRONG. */
cohort_status task_no_memory(uint64_t num, const char *what);
cohort_status task_wrong(const char *wrong);

/* Runs a work once, whose size is the number of the run: it says which times are drawn. The result
 * is the time it took, as so many times the ideal one. A process that has run one before has an
 * easier second one. */
cohort_status spread_measure(const struct bench *bench, const struct bench_work *work);

#endif
