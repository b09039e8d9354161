/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"
#include "runtime/task/worker.h"

/* A task that is queued as soon as another future is complete. */
struct then {
    struct cohort__extended_task task; /* first: it is freed as a future */
    struct cohort__waiter waiter;
    cohort_future *source;
    cohort_then_function *function;
    void *arg;
};

cohort_status cohort__then_run(void *arg)
{
    struct then *then = arg;
    return then->function(then->source, then->arg);
}

void cohort__then_cancel(void *arg)
{
    cohort_future_unref(((struct then *)arg)->source);
}

static void notify(struct cohort__waiter *waiter)
{
    cohort__task_follow(&COHORT_CONTAINER_OF(waiter, struct then, waiter)->task.task);
}

static inline __attribute__((always_inline)) cohort_future *
then_in(cohort_scope *scope, cohort_future *future, cohort_then_function *function, void *arg,
        cohort__any_function *shown, const void *caller)
{
    struct then *then = cohort__slab_alloc(sizeof(*then));
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
    cohort__extended_task_init(&then->task, cohort__then_run, then, shown, scope);
    then->waiter = (struct cohort__waiter){.notify = notify, .is_holder = true};
    then->source = future;
    then->function = function;
    then->arg = arg;
    if (!cohort__future_hold_with(future, &then->waiter, "cohort_then", caller))
        cohort__task_follow(&then->task.task);
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
