/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cohort/task.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/slab.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/private.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"

/* There is only one scheduler in a process, and so only one loop that serves it. */
static struct cohort__loop *_Atomic current_loop;

struct sleeper {
    cohort_future future; /* first: it is freed as a future */
    struct cohort__timer timer;
    struct cohort__scope_watch watch; /* of one in a scope; has a reference to the future */
    atomic_bool is_cancelled;
    atomic_bool has_one; /* of the two after which the watch is over: it has begun, and the time is
                          * over */
};

void cohort__loop_attach(struct cohort__loop *loop)
{
    if (loop && !loop->is_completer) {
        loop->is_completer = true;
        cohort__scheduler_completer_begin();
    }
    struct cohort__loop *old = atomic_exchange(&current_loop, loop);
    if (old)
        cohort__loop_run_requests(old);
}

struct cohort__loop *cohort__loop_attached(void)
{
    return atomic_load(&current_loop);
}

static void complete(struct sleeper *sleeper)
{
    struct cohort__error error = {0};
    if (cohort__clock_now() >= sleeper->timer.deadline) {
        cohort__future_fulfil(&sleeper->future, NULL);
        return;
    }
    if (atomic_load(&sleeper->is_cancelled))
        cohort__error_set(&error, COHORT_ERR_CANCELLED, "cohort_sleep: its scope was cancelled");
    else if (atomic_load(&current_loop))
        cohort__error_set(&error, COHORT_ERR_NO_MEMORY,
                          "cohort_sleep: no memory for one more timer");
    else
        cohort__error_set(&error, COHORT_ERR_CANCELLED,
                          "cohort_sleep: the runtime has ended before the time was over");
    cohort__future_complete(&sleeper->future, error.status, &error);
    cohort__error_fini(&error);
}

/* The time may be over before the watch has begun. The second of the two ends the watch. */
static void step(struct sleeper *sleeper)
{
    if (atomic_exchange(&sleeper->has_one, true))
        cohort__scope_unwatch(&sleeper->watch);
}

/* The watch keeps the sleeper until it is over. */
static void woken(struct cohort__timer *timer)
{
    struct sleeper *sleeper = COHORT_CONTAINER_OF(timer, struct sleeper, timer);
    bool is_in_scope = sleeper->watch.cancel != NULL;
    complete(sleeper);
    if (is_in_scope)
        step(sleeper);
}

static void cancel(struct cohort__scope_watch *watch)
{
    struct sleeper *sleeper = COHORT_CONTAINER_OF(watch, struct sleeper, watch);
    struct cohort__loop *loop = cohort__scheduler_hold() ? atomic_load(&current_loop) : NULL;
    atomic_store(&sleeper->is_cancelled, true);
    if (loop) /* else the loop's end wakes it */
        cohort__loop_timer_cancel(loop, &sleeper->timer);
    cohort__scheduler_release();
}

static void release(struct cohort__scope_watch *watch)
{
    cohort_future_unref(&COHORT_CONTAINER_OF(watch, struct sleeper, watch)->future);
}

static cohort_future *sleep_in(struct cohort__loop *loop, uint64_t nanoseconds)
{
    cohort_scope *scope = cohort__scope_current();
    if (!loop)
        return cohort__future_of_status(cohort__scheduler_refuse("cohort_sleep"),
                                        cohort__error_slot());
    struct sleeper *sleeper = cohort__slab_alloc(sizeof(*sleeper));
    if (!sleeper)
        return cohort_future_of_error(COHORT_ERR_NO_MEMORY, "cohort_sleep: out of memory");
    cohort__future_init(&sleeper->future, scope ? 3 : 2, COHORT__WAIT_OUTSIDE);
    sleeper->timer.expired = woken;
    sleeper->watch.cancel = scope ? cancel : NULL;
    sleeper->watch.release = release;
    atomic_init(&sleeper->is_cancelled, false);
    atomic_init(&sleeper->has_one, false);
    cohort__loop_timer(loop, &sleeper->timer, cohort__clock_after(nanoseconds));
    if (scope) {
        cohort__scope_watch(scope, &sleeper->watch);
        step(sleeper);
    }
    return &sleeper->future;
}

/* The hold makes sure that the loop stays, since it exists as long as the scheduler is up. */
cohort_future *cohort_sleep(uint64_t nanoseconds)
{
    struct cohort__loop *loop = cohort__scheduler_hold() ? atomic_load(&current_loop) : NULL;
    cohort_future *future = sleep_in(loop, nanoseconds);
    cohort__scheduler_release();
    return future;
}
