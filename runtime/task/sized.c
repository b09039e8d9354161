/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/bounds.h"
#include "runtime/task/worker.h"

/* Tasks that ask for a stack of their own size. The sizes are powers of two, so that there are few,
 * and most stacks are taken again by other tasks. A worker has a pool for each size.
 *
 * Such a task starts at the base of a stack of its size, and suspends and goes on like any other.
 * When it has ended, the worker leaves the stack for an ordinary one. */

_Static_assert(COHORT__MIN_STACK_BYTES == 1 << COHORT__MIN_STACK_EXPONENT &&
                   COHORT__MAX_STACK_BYTES == 1 << COHORT__MAX_STACK_EXPONENT,
               "the exponents are those of the bounds");

static struct cohort__fiber_pool *pool_of(struct cohort__sized *sized, unsigned char exponent)
{
    return &sized->pools[exponent - COHORT__MIN_STACK_EXPONENT];
}

/* What is at the base of such a stack. The worker comes here with a task, or at the end of a task.
 * It leaves, if there is memory for an ordinary stack. Otherwise this one holds a loop, until other
 * stacks are free. */
static void run_tasks(void *arg)
{
    const struct cohort__fiber *fiber = cohort__worker_arrive();
    (void)arg;
    for (;;) {
        struct cohort__worker *worker = fiber->worker;
        struct cohort__task *task = worker->sized.task;
        worker->sized.task = NULL;
        if (task)
            cohort__task_call(task);
        worker = fiber->worker; /* if the task has moved */
        struct cohort__fiber *ordinary = cohort__worker_take_stack(worker);
        if (ordinary)
            cohort__worker_leave(worker, ordinary);
        else
            cohort__worker_turn(worker);
    }
}

static cohort_status take(struct cohort__fiber **ret_fiber, struct cohort__worker *worker,
                          unsigned char exponent)
{
    struct cohort__fiber *fiber = cohort__fiber_pool_take(pool_of(&worker->sized, exponent));
    if (fiber) {
        worker->sized.num--;
    } else {
        cohort_status status = cohort__fiber_create(&fiber, (size_t)1 << exponent, run_tasks, NULL);
        if (status != COHORT_OK)
            return status;
        fiber->exponent = exponent;
    }
    *ret_fiber = fiber;
    return COHORT_OK;
}

void cohort__worker_run_sized(struct cohort__worker *worker, struct cohort__task *task)
{
    struct cohort__fiber *fiber = NULL;
    cohort_status status = take(&fiber, worker, task->future.stack_exponent);
    if (status != COHORT_OK) {
        cohort_fail(status, "cohort_async_with: %s", cohort_error_message());
        cohort__task_refuse(task);
        return;
    }
    worker->sized.task = task;
    cohort__worker_leave(worker, fiber);
}

void cohort__sized_put(struct cohort__worker *worker, struct cohort__fiber *fiber)
{
    cohort__fiber_pool_put(pool_of(&worker->sized, fiber->exponent), fiber);
    worker->sized.num++;
}

void cohort__sized_trim(struct cohort__sized *sized, size_t most)
{
    for (size_t i = 0; sized->num > 0 && i < COHORT__NUM_STACK_EXPONENTS; i++) {
        struct cohort__fiber_pool *pool = &sized->pools[i];
        size_t before = pool->num;
        cohort__fiber_pool_trim(pool, most);
        sized->num -= before - pool->num;
        most -= before - pool->num;
    }
}

bool cohort__sized_must_trim(const struct cohort__sized *sized)
{
    for (size_t i = 0; sized->num > 0 && i < COHORT__NUM_STACK_EXPONENTS; i++)
        if (cohort__fiber_pool_must_trim(&sized->pools[i]))
            return true;
    return false;
}

void cohort__sized_fini(struct cohort__sized *sized)
{
    for (size_t i = 0; i < COHORT__NUM_STACK_EXPONENTS; i++)
        cohort__fiber_pool_fini(&sized->pools[i]);
}
