/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a timer that lets what has already arrived be read first. */
#include "tools/cohortrun/deadline.h"

#include "runtime/base/clock.h"
#include "runtime/base/container.h"

static void start(struct alarm *alarm)
{
    alarm->running = true;
    alarm->hurried = false;
    cohort__loop_timer(alarm->loop, &alarm->timer, alarm->deadline);
}

static void expired(struct cohort__timer *timer)
{
    struct alarm *alarm = COHORT_CONTAINER_OF(timer, struct alarm, timer);
    alarm->running = false;
    if (alarm->deadline == 0)
        return;
    bool is_over = alarm->deadline <= cohort__clock_now();
    if (!is_over || !alarm->listened) {
        alarm->listened = is_over;
        start(alarm);
        return;
    }
    alarm->deadline = 0;
    alarm->function(alarm->context);
}

void alarm_init(struct alarm *alarm, struct cohort__loop *loop, void (*function)(void *context),
                void *context)
{
    *alarm = (struct alarm){
        .timer.expired = expired, .loop = loop, .function = function, .context = context};
}

void alarm_set(struct alarm *alarm, uint64_t nanoseconds)
{
    uint64_t deadline = cohort__clock_after(nanoseconds);
    alarm->deadline = deadline;
    alarm->listened = false;
    if (!alarm->running) {
        start(alarm);
    } else if (!alarm->hurried && deadline < alarm->timer.deadline) {
        alarm->hurried = true;
        cohort__loop_timer_cancel(alarm->loop, &alarm->timer); /* it expires, and starts anew */
    }
}

void alarm_clear(struct alarm *alarm)
{
    alarm->deadline = 0;
}

bool alarm_is_set(const struct alarm *alarm)
{
    return alarm->deadline != 0;
}
