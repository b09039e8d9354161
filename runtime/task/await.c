/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "cohort/future.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/futex.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/task.h"
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
    struct await await = {.waiter = {.notify = notify_task, .is_holder = true}};
    cohort__resumption_init(&await.resumption, worker);
    bool is_open = cohort__task_is_open(future);
    if (!is_open)
        cohort__resumption_unpin(&await.resumption);
    if (!cohort__future_hold_with(future, &await.waiter, function, caller))
        return;
    if (is_open)
        cohort__worker_postpone(worker, &await.resumption, future, caller);
    else
        cohort__worker_suspend(worker, &await.resumption, future, caller);
}

static void wait_by_blocking(cohort_future *future, const char *function, const void *caller)
{
    struct await await = {.waiter = {.notify = notify_thread, .is_holder = true}};
    if (!cohort__future_hold_with(future, &await.waiter, function, caller))
        return;
    while (atomic_load(&await.is_done) == 0)
        cohort__futex_wait(&await.is_done, 0);
}

/* Whether this thread may wait. If not, the error says why. */
static cohort_status check_may_wait(const char *function)
{
    if (cohort__worker_self)
        return cohort__worker_self->context
                   ? COHORT_OK
                   : cohort_fail(COHORT_ERR_STATE,
                                 "%s: called by the runtime's own thread outside of tasks, where "
                                 "waiting would stop everything",
                                 function);
    bool is_up = cohort__foreign_enter();
    cohort__foreign_leave();
    return is_up ? COHORT_OK : cohort__scheduler_refuse(function);
}

/* The thread may be another one afterwards. */
COHORT__IN_THREAD_OF_NOW static cohort_status wait_for(cohort_future *future, const char *function,
                                                       const void *caller)
{
    struct cohort__worker *worker = cohort__worker_self;
    if (worker && worker->context && cohort__task_try_inline(future))
        return COHORT_OK;
    cohort__future_check(future, function, caller);
    cohort_status status = check_may_wait(function);
    if (status != COHORT_OK)
        return status;
    if (worker)
        wait_by_suspending(future, worker, function, caller);
    else
        wait_by_blocking(future, function, caller);
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

cohort_status cohort_await_value(cohort_future *future, void **ret_value)
{
    return await_value(future, ret_value, "cohort_await_value", __builtin_return_address(0));
}

/* Waiting with a deadline. Both the future and the timer report here. The first of them resumes the
 * sleeper. The second may come long after that, so this object is on the heap and has a reference
 * count: one reference each for the sleeper, the waiter and the timer. */
struct await_until {
    struct cohort__waiter waiter;
    struct cohort__timer timer;
    struct cohort__resumption resumption; /* for a task */
    _Atomic uint32_t refs;
    _Atomic uint32_t is_over; /* for a thread: its futex */
    atomic_bool is_expired;
    bool is_task;
};

static void until_unref(struct await_until *until)
{
    if (atomic_fetch_sub_explicit(&until->refs, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(until);
}

/* Gives the caller's reference back. */
static void until_over(struct await_until *until)
{
    if (atomic_exchange(&until->is_over, 1) == 0) {
        if (until->is_task)
            cohort__resumption_notify(&until->resumption);
        else
            cohort__futex_wake(&until->is_over);
    }
    until_unref(until);
}

static void until_notify(struct cohort__waiter *waiter)
{
    until_over(COHORT_CONTAINER_OF(waiter, struct await_until, waiter));
}

static void until_expired(struct cohort__timer *timer)
{
    struct await_until *until = COHORT_CONTAINER_OF(timer, struct await_until, timer);
    atomic_store(&until->is_expired, true);
    until_over(until);
}

static void until_suspend(struct await_until *until, struct cohort__worker *worker,
                          const cohort_future *future, const void *caller)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    atomic_fetch_add_explicit(&until->refs, 1, memory_order_relaxed);
    hooks->timer(hooks->context, &until->timer, until->timer.deadline);
    cohort__worker_suspend(worker, &until->resumption, future, caller);
    if (hooks->timer_cancel && !atomic_load(&until->is_expired))
        hooks->timer_cancel(hooks->context, &until->timer);
}

static void until_block(struct await_until *until)
{
    while (atomic_load(&until->is_over) == 0)
        if (!cohort__futex_wait_until(&until->is_over, 0, until->timer.deadline))
            return;
}

/* UNTIL is over. The thread may be another one by now. */
COHORT__IN_THREAD_OF_NOW static void until_end(struct await_until *until, cohort_future *future)
{
    if (!cohort_future_ready(future))
        cohort__future_forget(future, &until->waiter);
    until_unref(until);
}

/* Waits until FUTURE is complete or the deadline has passed. */
COHORT__IN_THREAD_OF_NOW static cohort_status wait_until(cohort_future *future, uint64_t deadline,
                                                         const void *caller)
{
    cohort_status status = check_may_wait("cohort_await_for");
    if (status != COHORT_OK)
        return status;
    struct cohort__worker *worker = cohort__worker_self;
    struct await_until *until = cohort__slab_alloc_zero(sizeof(*until));
    if (!until)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_await_for: no memory for %zu bytes",
                           sizeof(*until));
    until->waiter.notify = until_notify;
    until->timer.expired = until_expired;
    until->timer.deadline = deadline;
    until->is_task = worker != NULL;
    if (until->is_task) {
        cohort__resumption_init(&until->resumption, worker);
        cohort__resumption_unpin(&until->resumption);
    }
    atomic_init(&until->refs, 2);
    if (cohort__future_wait_with(future, &until->waiter)) {
        if (until->is_task)
            until_suspend(until, worker, future, caller);
        else
            until_block(until);
    } else {
        until_unref(until);
    }
    until_end(until, future);
    return COHORT_OK;
}

cohort_status cohort_await_for(cohort_future *future, uint64_t nanoseconds)
{
    if (!future)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_await_for: future is NULL");
    if (!cohort_future_ready(future) && nanoseconds > 0) {
        cohort_status status =
            wait_until(future, cohort__clock_after(nanoseconds), __builtin_return_address(0));
        if (status != COHORT_OK) {
            cohort_future_unref(future);
            return status;
        }
    }
    if (!cohort_future_ready(future))
        return cohort_fail(COHORT_ERR_TIMEOUT,
                           "cohort_await_for: not complete after %.3f milliseconds",
                           (double)nanoseconds / 1e6);
    return take_result(future, NULL);
}
