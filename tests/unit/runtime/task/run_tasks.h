/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_TASK_RUN_TASKS_H
#define COHORT_TESTS_UNIT_RUNTIME_TASK_RUN_TASKS_H

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cohort/task.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/worker.h"
#include "tests/support/new.h"
#include "tests/support/test.h"

/* The same tests are built with tasks that may move, too. */
#ifndef TASKS_MOVE
#define TASKS_MOVE 0
#endif

/* A function that is not inlined doesn't know the address of errno from before a wait, which is
 * another one after it if the task has moved. */
__attribute__((noinline, unused)) static int read_errno(void)
{
    return errno;
}

__attribute__((noinline, unused)) static void write_errno(int value)
{
    errno = value;
}

/* The process gets at most MORE bytes of addresses in addition to those that it has. */
static inline void limit_address_space(size_t more)
{
    size_t num_pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%zu", &num_pages) == 1);
    fclose(file);
    struct rlimit limit;
    CHECK_INT(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = num_pages * (size_t)sysconf(_SC_PAGESIZE) + more;
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
}

/* In a task, before any has suspended: from now on there is no memory for another stack. So there
 * are the threads' own stacks and the reserves. */
static inline void take_no_more_stacks(void)
{
    cohort__scheduler.options.stack_bytes = (size_t)1 << 60;
}

/* An await calls a task in place unless the next poll is overdue, on a slow machine as well. */
static inline cohort_status await_here(cohort_future *task)
{
    cohort__worker_self->poll_at = UINT64_MAX / 2;
    return cohort_await(task);
}

static inline struct cohort__scheduler_options options_of(unsigned num_workers)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    return options;
}

struct run_tasks_program {
    cohort_task_function *function;
    void *arg;
};

static inline cohort_status run_tasks_then_stop(void *arg)
{
    struct run_tasks_program *program = arg;
    cohort_status status = program->function(program->arg);
    cohort__scheduler_stop();
    return status;
}

/* Runs FUNCTION(ARG) as the first task of a scheduler with OPTIONS and without I/O, and all tasks
 * that it starts. Returns its status, and leaves its message in this thread. */
static inline cohort_status run_tasks_with(const struct cohort__scheduler_options *options,
                                           cohort_task_function *function, void *arg)
{
    struct run_tasks_program program = {function, arg};
    struct cohort__scheduler_options with_moves = *options;
    with_moves.tasks_move |= TASKS_MOVE;
    CHECK_OK(cohort__scheduler_start(&with_moves, NULL));
    cohort_future *done = cohort_async(run_tasks_then_stop, &program);
    CHECK_OK(cohort__scheduler_run());
    CHECK(cohort_future_ready(done));
    return cohort_await(done);
}

static inline cohort_status run_tasks(unsigned num_workers, cohort_task_function *function,
                                      void *arg)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    return run_tasks_with(&options, function, arg);
}

/* The same on FIRST workers, then on more, up to LAST. It has to succeed. */
static inline void run_on(unsigned first, unsigned last, cohort_task_function *function, void *arg)
{
    for (unsigned num_workers = first; num_workers <= last; num_workers++)
        CHECK_OK(run_tasks(num_workers, function, arg));
}

#endif
