/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "cohort/task.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/loop/timer.h"

/* There is one scheduler in a process, so there is one loop that serves it. */
static struct cohort__loop *_Atomic current_loop;

struct sleeper {
    struct cohort__timer timer;
    cohort_promise *promise;
};

void cohort__loop_attach(struct cohort__loop *loop)
{
    atomic_store(&current_loop, loop);
}

static void woken(struct cohort__timer *timer)
{
    struct sleeper *sleeper = COHORT_CONTAINER_OF(timer, struct sleeper, timer);
    cohort_promise_fulfil(sleeper->promise, NULL);
    cohort__slab_free(sleeper);
}

cohort_future *cohort_sleep(uint64_t nanoseconds)
{
    struct cohort__loop *loop = atomic_load(&current_loop);
    if (!loop)
        return cohort_future_of_error(COHORT_ERR_STATE,
                                      "cohort_sleep: the runtime has not started, or has ended");
    cohort_future *future;
    struct sleeper *sleeper = cohort__slab_alloc_zero(sizeof(*sleeper));
    if (!sleeper)
        return cohort_future_of_error(COHORT_ERR_NO_MEMORY, "cohort_sleep: out of memory");
    cohort_status status = cohort_promise_create(&sleeper->promise, &future);
    if (status) {
        cohort__slab_free(sleeper);
        return cohort_future_of_error(status, "cohort_sleep: %s", cohort_error_message());
    }
    sleeper->timer.expired = woken;
    cohort__loop_timer(loop, &sleeper->timer, cohort__clock_after(nanoseconds));
    return future;
}
