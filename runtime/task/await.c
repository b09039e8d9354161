/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "cohort/future.h"
#include "runtime/base/container.h"
#include "runtime/base/futex.h"
#include "runtime/task/future.h"
#include "runtime/task/held_mutexes.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"
#include "runtime/task/wait.h"
#include "runtime/task/worker.h"

/* Waiting without a deadline: the waiter is in the stack frame of the waiting function. */
struct await {
    struct cohort__waiter waiter;
    struct cohort__resumption resumption; /* for a task */
    _Atomic uint32_t is_done;             /* for a thread: its futex */
};

static void notify_task(struct cohort__waiter *waiter)
{
    struct await *await = COHORT_CONTAINER_OF(waiter, struct await, waiter);
    cohort__resumption_notify(&await->resumption);
}

static void notify_thread(struct cohort__waiter *waiter)
{
    struct await *await = COHORT_CONTAINER_OF(waiter, struct await, waiter);
    _Atomic uint32_t *is_done = &await->is_done;
    atomic_store(is_done, 1);
    cohort__futex_wake(is_done);
}

static void wait_by_suspending(cohort_future *future, struct cohort__worker *worker,
                               const char *function, const void *caller)
{
    struct await await; /* not cleared, as it is written in full */
    await.waiter.notify = notify_task;
    await.waiter.is_owner = true;
    cohort__resumption_init(&await.resumption, worker);
    bool is_open = cohort__task_is_open(future);
    uintptr_t what = cohort__future_what(future);
    if (!is_open)
        cohort__resumption_unpin(&await.resumption);
    if (!cohort__future_wait_as_owner(future, &await.waiter, function, caller))
        return;
    if (is_open)
        cohort__worker_postpone(worker, &await.resumption, what, caller);
    else
        cohort__worker_suspend(worker, &await.resumption, what, caller);
}

static void wait_by_blocking(cohort_future *future, const char *function, const void *caller)
{
    struct await await = {.waiter = {.notify = notify_thread, .is_owner = true}};
    if (!cohort__future_wait_as_owner(future, &await.waiter, function, caller))
        return;
    struct cohort__wait_line *line =
        cohort__wait_line_of_thread(cohort__future_what(future), caller);
    while (atomic_load(&await.is_done) == 0)
        cohort__futex_wait(&await.is_done, 0);
    cohort__wait_line_give_back(line);
}

/* The thread may be another one afterwards. */
COHORT__IN_THREAD_OF_NOW static cohort_status wait_for(cohort_future *future, const char *function,
                                                       const void *caller)
{
    struct cohort__worker *worker = cohort__worker_self;
    if (worker && worker->context) {
        cohort__held_mutexes_tell(worker->context, caller);
        if (cohort__task_try_inline(future))
            return COHORT_OK;
    }
    cohort__future_check(future, function, caller);
    cohort_status status = cohort__wait_check(function);
    if (status != COHORT_OK) /* perhaps by the end of the runtime, which has completed FUTURE */
        return cohort__future_is_complete(future) ? COHORT_OK : status;
    if (!worker)
        wait_by_blocking(future, function, caller);
    else if (!cohort__worker_look_on(worker, future))
        wait_by_suspending(future, worker, function, caller);
    return COHORT_OK;
}

/* FUTURE is complete. Consumes the caller's reference to it. */
static cohort_status take_result(cohort_future *future, void **ret_value)
{
    cohort_status status = cohort__future_status(future);
    if (status != COHORT_OK)
        cohort__future_error(future, cohort__error_slot());
    else if (ret_value)
        *ret_value = cohort__future_value(future);
    cohort_future_unref(future);
    return status;
}

static cohort_status await_value(cohort_future *future, void **ret_value, const char *function,
                                 const void *caller)
{
    if (!future)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: future is NULL", function);
    if (!cohort__future_is_complete(future)) {
        cohort_status status = wait_for(future, function, caller);
        if (status != COHORT_OK) {
            cohort_future_unref(future);
            return status;
        }
    }
    return take_result(future, ret_value);
}

cohort_status cohort_await(cohort_future *future)
{
    return await_value(future, NULL, "cohort_await", __builtin_return_address(0));
}

cohort_status cohort__future_await(cohort_future *future, const char *function, const void *caller)
{
    return await_value(future, NULL, function, caller);
}

cohort_status cohort_await_value(cohort_future *future, void **ret_value)
{
    return await_value(future, ret_value, "cohort_await_value", __builtin_return_address(0));
}

/* FUTURE is not complete. */
static cohort_status wait_within(cohort_future *future, uint64_t nanoseconds, const void *caller,
                                 enum cohort_wait_end *ret_end)
{
    bool is_cancelled = cohort_cancelled();
    if (is_cancelled || nanoseconds == 0) {
        *ret_end = is_cancelled ? COHORT_WAIT_CANCELLED : COHORT_WAIT_EXPIRED;
        return COHORT_OK;
    }
    cohort_status status = cohort__wait_check("cohort_wait");
    if (status == COHORT_OK)
        return cohort__wait_for_future(future, nanoseconds, caller, ret_end);
    if (!cohort__future_is_complete(future)) /* as above */
        return status;
    *ret_end = COHORT_WAIT_COMPLETE;
    return COHORT_OK;
}

cohort_status cohort_wait(cohort_future *future, uint64_t nanoseconds,
                          enum cohort_wait_end *ret_end)
{
    if (!future || !ret_end)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_wait: %s is NULL",
                           future ? "ret_end" : "future");
    cohort__future_check(future, "cohort_wait", __builtin_return_address(0));
    if (!cohort__future_is_complete(future))
        return wait_within(future, nanoseconds, __builtin_return_address(0), ret_end);
    *ret_end = COHORT_WAIT_COMPLETE;
    return COHORT_OK;
}
