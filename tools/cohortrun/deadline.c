/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a timer that lets what has already arrived be read first. */
#include "tools/cohortrun/deadline.h"

#include "runtime/base/clock.h"
#include "runtime/base/container.h"

static void start(struct deadline *deadline)
{
    deadline->running = true;
    deadline->hurried = false;
    cohort__loop_timer(deadline->loop, &deadline->timer, deadline->at);
}

static void expired(struct cohort__timer *timer)
{
    struct deadline *deadline = COHORT_CONTAINER_OF(timer, struct deadline, timer);
    deadline->running = false;
    if (deadline->at == 0)
        return;
    bool is_over = deadline->at <= cohort__clock_now();
    if (!is_over || !deadline->listened) {
        deadline->listened = is_over;
        start(deadline);
        return;
    }
    deadline->at = 0;
    deadline->function(deadline->context);
}

void deadline_init(struct deadline *deadline, struct cohort__loop *loop,
                   void (*function)(void *context), void *context)
{
    *deadline = (struct deadline){
        .timer.expired = expired, .loop = loop, .function = function, .context = context};
}

void deadline_set(struct deadline *deadline, uint64_t nanoseconds)
{
    deadline->at = cohort__clock_after(nanoseconds);
    deadline->listened = false;
    if (!deadline->running) {
        start(deadline);
    } else if (!deadline->hurried && deadline->at < deadline->timer.deadline) {
        deadline->hurried = true;
        cohort__loop_timer_cancel(deadline->loop,
                                  &deadline->timer); /* it expires at once, and is started again */
    }
}

void deadline_clear(struct deadline *deadline)
{
    deadline->at = 0;
}

bool deadline_is_set(const struct deadline *deadline)
{
    return deadline->at != 0;
}
