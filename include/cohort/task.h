/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TASK_H
#define COHORT_TASK_H

#include <stddef.h>

#include "cohort/future.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A task is a function that runs once, on one of the locality's workers. These are threads, as many
 * as the locality has cores for itself (COHORT_WORKERS, job.h), so tasks run in parallel: what they
 * share has to be atomic, or handed over by futures. A task starts as a plain call; only one that
 * has to wait is given a stack of its own. It stays on the worker that started it, so the address
 * of a thread-local variable stays the same across an await. Its value may change: the variable
 * belongs to the worker, and other tasks that run there during the await may set it. Only errno and
 * cohort_error_message() belong to the task, and keep their values.
 *
 * If a task is movable (cohort_async_with, or COHORT_TASKS=movable for all, see job.h), any worker
 * may go on with it after an await, so that tasks that compute after an await are spread over the
 * workers anew. Then a thread-local variable is another one after an await, in the same function.
 * Compilers don't know that: they keep its address across the call, and that of errno, which is
 * such a variable. So a task that may move must not use one before and after an await in one
 * function, after inlining; call a function for it that is not inlined. The same is true for what
 * knows its thread: a mutex has to be unlocked by the thread that has locked it. errno keeps its
 * value for those who find it. Don't link programs with such tasks against the static library by
 * link-time optimization, which may inline the library's own functions into the task's.
 *
 * What the function returns becomes the status of the task's future. If it is an error, and equal
 * to the status of the last message set in this task (by cohort_fail, or by a call or await that
 * failed), the future gets this message, too.
 *
 * A child process that a task forks has no runtime. Its calls of functions that start or await
 * something, or act for the locality, fail with COHORT_ERR_STATE. What the function returns there
 * becomes the child's exit status, 0 or 1. */
typedef cohort_status cohort_task_function(void *arg);

/* If a task grows beyond the end of its stack (COHORT_STACK, see job.h, or what cohort_async_with
 * was asked for), the program ends with SIGSEGV, after one line on standard error that names the
 * task's function. A frame of more than 64 KiB could step over the guard of a stack, and change
 * another task's in silence: compile with -fstack-clash-protection, as the flags for pkg-config,
 * CMake and meson do. */

/* Starts FUNCTION(ARG) as a task. ARG is only passed on. The caller owns one reference to the
 * future. Tasks of one worker start in any order. The future holds COHORT_ERR_STATE before the
 * start and after the end of the runtime, or COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_future *cohort_async(cohort_task_function *function, void *arg) COHORT_MUST_USE;

/* Whether another worker may go on with a task that has waited. */
enum cohort_task_mobility {
    COHORT_TASK_AS_SET = 0, /* by COHORT_TASKS */
    COHORT_TASK_PINNED = 1,
    COHORT_TASK_MOVABLE = 2,
};

/* When a task begins, where more have been started than the workers can begin. It says nothing
 * about a task that has begun: one that has waited goes on as if it were of normal priority. */
enum cohort_task_priority {
    COHORT_TASK_NORMAL = 0,
    COHORT_TASK_HIGH = 1, /* before the others */
    COHORT_TASK_LOW = 2,  /* when the worker finds nothing else to do, not even with others */
};

typedef struct cohort_task_options {
    /* The task runs on a stack of at least so many bytes, 32768 to 1073741824; the library rounds
     * them up to a power of two. Only pages that the task touches take memory, but all of them take
     * address space. 0: COHORT_STACK. */
    size_t stack_bytes;

    /* cohort_task_function says what movable means for the task. If an await runs this task at
     * once, on the stack of the task that awaits it, the two move together, and only if both are
     * movable. */
    enum cohort_task_mobility mobility;

    /* Tasks of high and of low priority begin in the order of their starts, on any worker. None
     * keeps others waiting for ever: of 8 times that a worker looks for what to do next, at least
     * one passes over high priority, and of 128 at least one is for low priority. A task of any
     * priority that is awaited may run at once in place of the await. */
    enum cohort_task_priority priority;

    /* 0: any worker. Else the task is for worker number WORKER - 1 (cohort_worker_index) alone, and
     * stays there, also across awaits. Such tasks begin in the order of their starts for each
     * priority, and take turns with the worker's others. They begin when that worker comes to them:
     * no other worker takes them, and no await runs them in its place. */
    unsigned worker;
} cohort_task_options;

/* The same as cohort_async, with OPTIONS, which may be NULL and are read before the call returns.
 * An await runs a task that has not started as a plain call only if there are still stack_bytes
 * left on the stack. If there is no memory for a stack of that size when the task is to start,
 * FUNCTION is not called, and the future holds COHORT_ERR_NO_MEMORY. COHORT_ERR_BAD_PARAMETER if
 * FUNCTION is NULL, stack_bytes is out of its bounds, mobility or priority is none of its values,
 * there is no such worker, or a task for one worker is to be movable. Any thread; never suspends.
 * _sized: the exported function, for OPTIONS_BYTES of OPTIONS; see cohort_comm_create_sized. */
COHORT_API cohort_future *cohort_async_with_sized(cohort_task_function *function, void *arg,
                                                  const cohort_task_options *options,
                                                  size_t options_bytes) COHORT_MUST_USE;
COHORT_MUST_USE static inline cohort_future *
cohort_async_with(cohort_task_function *function, void *arg, const cohort_task_options *options)
{
    return cohort_async_with_sized(function, arg, options, sizeof(*options));
}

/* Lets other ready tasks of this worker run, then goes on. Suspends. Outside of tasks it calls
 * sched_yield, or once in a while sleeps for a moment, so that other programs run, too. */
COHORT_API void cohort_yield(void);

/* Completes after at least NANOSECONDS. How much later depends on the tasks: the time is noticed
 * when one of them suspends or ends. In an idle locality it is well below a millisecond. The future
 * holds COHORT_ERR_STATE before the start and after the end of the runtime,
 * COHORT_ERR_CANCELLED if the runtime ends before that time, or COHORT_ERR_NO_MEMORY. Any thread;
 * never suspends. */
COHORT_API cohort_future *cohort_sleep(uint64_t nanoseconds) COHORT_MUST_USE;

/* Runs FUNCTION(ARG) on a thread that is there for such functions, waits until it has returned, and
 * returns its status, with its message. It is for what blocks a thread: a library that waits by
 * itself, a system call, a long computation. The calling task suspends, and its worker runs others.
 * Functions begin in the order of the calls; at most COHORT_BLOCKING_THREADS run at a time. A
 * function that has begun ends by itself; cohort_cancelled tells it when it should. It may call
 * what "any thread" may, and an await in it blocks its thread. It is in the scope of the task
 * (cohort/scope.h), with all that it starts, and uses the task's values (cohort/task_local.h).
 * cohort_worker_index is -1 there. Outside of tasks, and in a child that a task has forked,
 * FUNCTION is called at once, by the calling thread. A child that FUNCTION forks is one without a
 * runtime, and ends when FUNCTION returns, as a task's child does.
 *
 * COHORT_ERR_BAD_PARAMETER (FUNCTION is NULL), COHORT_ERR_CANCELLED (the task's scope was cancelled
 * before FUNCTION began: it was not called), COHORT_ERR_NO_MEMORY (no memory, or not even one
 * thread: likewise). */
COHORT_API cohort_status cohort_blocking(cohort_task_function *function, void *arg);

/* The number of the worker that runs the calling task, 0 .. cohort_num_workers() - 1. It is -1
 * outside of workers. Any thread; never suspends. */
COHORT_API int cohort_worker_index(void);

#ifdef __cplusplus
}
#endif

#endif
