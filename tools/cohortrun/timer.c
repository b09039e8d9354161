/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a timer that lets what has already arrived be read first. */
#include "tools/cohortrun/timer.h"

#include "runtime/base/clock.h"
#include "runtime/base/container.h"

static void start(struct timer *timer)
{
    timer->running = true;
    timer->hurried = false;
    cohort__loop_timer(timer->loop, &timer->own, timer->at);
}

static void expired(struct cohort__timer *own)
{
    struct timer *timer = COHORT_CONTAINER_OF(own, struct timer, own);
    timer->running = false;
    if (timer->at == 0)
        return;
    bool is_over = timer->at <= cohort__clock_now();
    if (!is_over || !timer->listened) {
        timer->listened = is_over;
        start(timer);
        return;
    }
    timer->at = 0;
    timer->function(timer->context);
}

void timer_init(struct timer *timer, struct cohort__loop *loop, void (*function)(void *context),
                void *context)
{
    *timer = (struct timer){
        .own.expired = expired, .loop = loop, .function = function, .context = context};
}

void timer_set(struct timer *timer, uint64_t nanoseconds)
{
    timer->at = cohort__clock_after(nanoseconds);
    timer->listened = false;
    if (!timer->running) {
        start(timer);
    } else if (!timer->hurried && timer->at < timer->own.deadline) {
        timer->hurried = true;
        cohort__loop_timer_cancel(timer->loop,
                                  &timer->own); /* it expires at once, and is started again */
    }
}

void timer_clear(struct timer *timer)
{
    timer->at = 0;
}

bool timer_is_set(const struct timer *timer)
{
    return timer->at != 0;
}
