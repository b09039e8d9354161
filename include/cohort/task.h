/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TASK_H
#define COHORT_TASK_H

#include "cohort/future.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A task is a function to run, once, on one of the locality's workers. It starts as a plain call;
 * only one that has to wait is given a stack of its own. It stays on the worker that started it, so
 * the address of a thread-local variable stays the same across an await. Its value need not: the
 * variable is the worker's, and the other tasks that run there meanwhile may set it. Only errno and
 * cohort_error_message() are the task's own, and hold.
 *
 * What it returns becomes the status of its future; where that is an error, and equal to the status
 * of the last message set in this task (by cohort_fail, or by a call or await that failed), the
 * message goes along. */
typedef cohort_status cohort_task_function(void *arg);

/* Starts FUNCTION(ARG) as a task. ARG is only handed on. The caller owns one reference to the
 * future. Tasks of one worker start in any order. COHORT_ERR_STATE in the future before the start
 * and after the end of the runtime, COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_future *cohort_async(cohort_task_function *function, void *arg) COHORT_MUST_USE;

/* Lets other ready tasks of this worker run, then goes on: suspends. Outside of tasks: sched_yield.
 */
COHORT_API void cohort_yield(void);

/* Completes after at least NANOSECONDS; the clock ticks in milliseconds, and it is rounded up.
 * COHORT_ERR_STATE in the future before the start and after the end, COHORT_ERR_CANCELLED where the
 * runtime ends meanwhile, COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_future *cohort_sleep(uint64_t nanoseconds) COHORT_MUST_USE;

/* The worker that runs the calling task, 0 .. cohort_num_workers() - 1; -1 outside of workers. Any
 * thread; never suspends. */
COHORT_API int cohort_worker_index(void);

#ifdef __cplusplus
}
#endif

#endif
