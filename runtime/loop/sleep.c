/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "cohort/task.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/slab.h"
#include "runtime/loop/timer.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"

/* There is only one scheduler in a process, and so only one loop that serves it. */
static struct cohort__loop *_Atomic current_loop;

struct sleeper {
    cohort_future future; /* first: it is freed as a future */
    struct cohort__timer timer;
};

void cohort__loop_attach(struct cohort__loop *loop)
{
    atomic_store(&current_loop, loop);
}

static void woken(struct cohort__timer *timer)
{
    struct sleeper *sleeper = COHORT_CONTAINER_OF(timer, struct sleeper, timer);
    if (cohort__clock_now() >= timer->deadline)
        cohort__future_fulfil(&sleeper->future, NULL);
    else if (atomic_load(&current_loop))
        cohort__future_fail(&sleeper->future, COHORT_ERR_NO_MEMORY,
                            "cohort_sleep: no memory for one more timer");
    else
        cohort__future_fail(&sleeper->future, COHORT_ERR_CANCELLED,
                            "cohort_sleep: the runtime has ended before the time was over");
}

static cohort_future *sleep_in(struct cohort__loop *loop, uint64_t nanoseconds)
{
    if (!loop)
        return cohort__future_of_status(cohort__scheduler_refuse("cohort_sleep"),
                                        cohort__error_slot());
    struct sleeper *sleeper = cohort__slab_alloc_zero(sizeof(*sleeper));
    if (!sleeper)
        return cohort_future_of_error(COHORT_ERR_NO_MEMORY, "cohort_sleep: out of memory");
    cohort__future_init(&sleeper->future, 2);
    sleeper->timer.expired = woken;
    cohort__loop_timer(loop, &sleeper->timer, cohort__clock_after(nanoseconds));
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
