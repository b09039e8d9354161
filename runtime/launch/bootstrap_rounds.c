/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/loop/timer.h"
#include "runtime/launch/bootstrap_private.h"

/* The rounds of the drain, for jobs in which no launcher runs them. */

void cohort__bootstrap_round_begin(struct cohort__bootstrap *bootstrap)
{
    if (!bootstrap->closing)
        bootstrap->handlers.count_asked(bootstrap->handlers.context,
                                        cohort__drain_begin(&bootstrap->drain));
}

static void pause_over(struct cohort__timer *timer)
{
    struct cohort__bootstrap *bootstrap =
        COHORT_CONTAINER_OF(timer, struct cohort__bootstrap, pause);
    bootstrap->pausing = false;
    cohort__bootstrap_round_begin(bootstrap);
}

static void pause_begin(struct cohort__bootstrap *bootstrap)
{
    uint64_t pause = cohort__drain_pause_ns(&bootstrap->drain);
    bootstrap->pausing = true;
    bootstrap->pause.expired = pause_over;
    cohort__loop_timer(bootstrap->loop, &bootstrap->pause, cohort__clock_after(pause));
}

void cohort__bootstrap_release(struct cohort__bootstrap *bootstrap)
{
    bootstrap->released = true;
    bootstrap->handlers.exit_allowed(bootstrap->handlers.context);
}

bool cohort__bootstrap_round_answer(struct cohort__bootstrap *bootstrap, uint64_t sent,
                                    uint64_t received, bool busy)
{
    enum cohort__drain_next next =
        cohort__drain_answer(&bootstrap->drain, bootstrap->drain.round, sent, received, busy);
    if (next == COHORT__DRAIN_AGAIN)
        pause_begin(bootstrap);
    return next == COHORT__DRAIN_DONE;
}
