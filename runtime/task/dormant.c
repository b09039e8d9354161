/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/dormant.h"

#include "runtime/base/container.h"

/* It may be woken before it has begun to sleep. The second of the two queues the task. */
enum { ASLEEP = 1, WOKEN = 2 };

static void step(struct cohort__dormant *dormant, unsigned char step)
{
    if (atomic_fetch_or(&dormant->progress, step) != (ASLEEP | WOKEN) - step)
        return;
    cohort__inputs_end(dormant->inputs);
    cohort__scope_unwatch(&dormant->watch);
    cohort__task_follow(dormant->task);
}

void cohort__dormant_wake(struct cohort__dormant *dormant)
{
    cohort_future *future = &dormant->task->future;
    step(dormant, WOKEN);
    cohort_future_unref(future);
}

static void cancel(struct cohort__scope_watch *watch)
{
    step(COHORT_CONTAINER_OF(watch, struct cohort__dormant, watch), WOKEN);
}

static void release(struct cohort__scope_watch *watch)
{
    cohort_future_unref(&COHORT_CONTAINER_OF(watch, struct cohort__dormant, watch)->task->future);
}

void cohort__dormant_init(struct cohort__dormant *dormant, struct cohort__task *task,
                          struct cohort__inputs *inputs)
{
    dormant->task = task;
    dormant->inputs = inputs;
    dormant->watch.cancel = cancel;
    dormant->watch.release = release;
    atomic_init(&dormant->progress, 0);
    atomic_fetch_add_explicit(&task->future.refs, 2, memory_order_relaxed);
}

void cohort__dormant_begin(struct cohort__dormant *dormant, cohort_scope *scope)
{
    cohort__scope_watch(scope, &dormant->watch);
    step(dormant, ASLEEP);
}
