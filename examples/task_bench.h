/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_TASK_BENCH_H
#define COHORT_EXAMPLES_TASK_BENCH_H

#include <stdint.h>

#include <cohort/cohort.h>

#include "examples/shape.h"

/* All run STEPS steps of the graph SHAPE, and check that each task has the results it needs. */

/* By a task for each point. A point counts which of its inputs are missing, and the one that
 * brings the last of them starts its task. */
cohort_status task_bench_by_counters(const struct shape *shape, uint32_t steps);

/* By all sites of COMM, of which each has some of the columns, and goes through them step by
 * step. */
cohort_status task_bench_by_channels(const struct shape *shape, uint32_t steps, cohort_comm *comm);

/* In a plain loop, without tasks: what the work itself takes. */
cohort_status task_bench_plainly(const struct shape *shape, uint32_t steps);

/* The result of a task. No other task has the same. */
static inline uint64_t task_bench_result(uint32_t step, uint32_t column)
{
    return (uint64_t)step * SHAPE_WIDTH + column + 1;
}

/* The error that a task has another input than the one of STEP and COLUMN. */
static inline cohort_status task_bench_wrong(uint32_t step, uint32_t column)
{
    return cohort_fail(COHORT_ERR_FAILED,
                       "check failed: a task has no result of step %u, column %u", (unsigned)step,
                       (unsigned)column);
}

#endif
