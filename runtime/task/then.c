/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/then.h"

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/dormant.h"
#include "runtime/task/inputs.h"
#include "runtime/task/scope.h"
#include "runtime/task/worker.h"

/* A task that is queued as soon as another future is complete. One in a scope may be given up
 * before that. */
struct then {
    struct cohort__extended_task task; /* first: it is freed as a future */
    struct cohort__waiter waiter;
    struct cohort__inputs inputs; /* until the source is complete */
    cohort_future *source;
    cohort_then_function *function;
    void *arg;
    struct cohort__dormant in_scope[]; /* one, of a task in a scope */
};

static cohort_status run(void *arg)
{
    struct then *then = arg;
    return then->function(then->source, then->arg);
}

static void cancel(void *arg, const struct cohort__error *why)
{
    struct then *then = arg;
    (void)why;
    if (!cohort__future_is_complete(then->source))
        cohort__future_forget(then->source, &then->waiter);
    cohort_future_unref(then->source);
}

/* The source is complete; or the waiter was forgotten, since the task was given up. */
static void follow(struct cohort__waiter *waiter)
{
    struct then *then = COHORT_CONTAINER_OF(waiter, struct then, waiter);
    if (then->task.scope) {
        cohort__dormant_wake(then->in_scope);
    } else {
        cohort__inputs_end(&then->inputs);
        cohort__task_follow(&then->task.task);
    }
}

/* A worker only queues the task. */
static void notify(struct cohort__waiter *waiter)
{
    if (cohort__worker_self)
        follow(waiter);
    else
        cohort__waiter_follow(waiter, follow);
}

static void describe(struct cohort__inputs *inputs, uint64_t since)
{
    struct then *then = COHORT_CONTAINER_OF(inputs, struct then, inputs);
    struct cohort__inputs_line line = {.since = since, .num = 1, .wanted = 1};
    cohort__inputs_set_of(&line, &then->task.task.future);
    if (cohort__future_is_complete(then->source))
        return;
    cohort__inputs_add(&line, cohort__future_what(then->source));
    cohort__inputs_tell(&line);
}

static inline __attribute__((always_inline)) cohort_future *
then_in(cohort_scope *scope, cohort_future *future, cohort_then_function *function, void *arg,
        cohort__any_function *shown, const void *caller)
{
    struct then *then = cohort__slab_alloc(sizeof(*then) + (scope ? sizeof(then->in_scope[0]) : 0));
    if (!then) {
        cohort_future_unref(future);
        return cohort__future_no_memory();
    }
    if (!cohort__scheduler_count_task()) {
        cohort__slab_free(then);
        cohort_future_unref(future);
        return cohort__future_of_status(cohort__scheduler_refuse("cohort_then"),
                                        cohort__error_slot());
    }
    cohort__extended_task_init(&then->task, run, then, shown, scope);
    then->task.cancel = cancel;
    then->waiter = (struct cohort__waiter){.notify = notify, .is_holder = !scope};
    then->source = future;
    then->function = function;
    then->arg = arg;
    cohort__inputs_init(&then->inputs);
    if (!cohort__future_is_complete(future))
        cohort__inputs_begin(&then->inputs, describe);
    if (scope)
        cohort__dormant_init(then->in_scope, &then->task.task, &then->inputs);
    if (!cohort__future_hold_with(future, &then->waiter, "cohort_then", caller))
        follow(&then->waiter);
    if (scope)
        cohort__dormant_begin(then->in_scope, scope);
    return &then->task.task.future;
}

cohort_future *cohort_then(cohort_future *future, cohort_then_function *function, void *arg)
{
    const void *caller = __builtin_return_address(0);
    if (!future || !function) {
        cohort_future_unref(future);
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "cohort_then: %s is NULL",
                                      future ? "function" : "future");
    }
    cohort__future_check(future, "cohort_then", caller);
    return then_in(cohort__scope_current(), future, function, arg, (cohort__any_function *)function,
                   caller);
}

cohort_future *cohort__then_outside(cohort_future *future, cohort_then_function *function,
                                    void *arg, cohort__any_function *shown)
{
    return then_in(NULL, future, function, arg, shown, __builtin_return_address(0));
}
