/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/farm_watch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

/* Callbacks: all of it is in the thread that turns the loop, where nothing may wait. */

static void print(uv_timer_t *timer)
{
    const struct farm_watch *watch = timer->data;
    printf("written: %" PRIu32 " of %" PRIu32 " strips\n", atomic_load(watch->num_written),
           watch->num_strips);
    fflush(stdout);
}

static void interrupted(uv_signal_t *interrupt, int number)
{
    const struct farm_watch *watch = interrupt->data;
    (void)number;
    cohort_scope_fail(watch->scope, COHORT_ERR_CANCELLED, "interrupted");
}

static void closed(uv_handle_t *handle)
{
    struct farm_watch *watch = handle->data;
    if (--watch->num_open == 0)
        cohort_promise_fulfil(watch->closed, NULL);
}

static cohort_status check(int error, const char *what)
{
    return error ? cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", what, uv_strerror(error)) : COHORT_OK;
}

static cohort_status open_handles(uv_loop_t *loop, void *arg)
{
    struct farm_watch *watch = arg;
    cohort_status status = check(uv_signal_init(loop, &watch->interrupt), "uv_signal_init");
    if (status)
        return status;
    uv_timer_init(loop, &watch->timer); /* does not fail */
    watch->interrupt.data = watch->timer.data = watch;
    watch->is_open = true;
    watch->num_open = 2;
    status = check(uv_signal_start(&watch->interrupt, interrupted, SIGINT), "uv_signal_start");
    if (!status && watch->milliseconds > 0)
        status =
            check(uv_timer_start(&watch->timer, print, 0, watch->milliseconds), "uv_timer_start");
    return status;
}

static cohort_status close_handles(uv_loop_t *loop, void *arg)
{
    struct farm_watch *watch = arg;
    (void)loop;
    uv_close((uv_handle_t *)&watch->interrupt, closed);
    uv_close((uv_handle_t *)&watch->timer, closed);
    return COHORT_OK;
}

cohort_status farm_watch_open(struct farm_watch *watch)
{
    return cohort_await(cohort_run_on_loop(open_handles, watch));
}

cohort_status farm_watch_close(struct farm_watch *watch)
{
    cohort_future *future;
    if (!watch->is_open)
        return COHORT_OK;
    cohort_status status = cohort_promise_create(&watch->closed, &future);
    if (status)
        return status;
    status = cohort_await(cohort_run_on_loop(close_handles, watch));
    if (status) {
        cohort_promise_fail(watch->closed, status, "the handles are still open");
        cohort_future_unref(future);
        return status;
    }
    return cohort_await(future);
}
