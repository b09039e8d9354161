/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/scheduler.h"

#include "runtime/base/clock.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

static int next_place;
static struct cohort__timer timers[3];
static int places[3];

static void expired(struct cohort__timer *timer)
{
    places[timer - timers] = ++next_place;
}

static void reset(void)
{
    next_place = 0;
    for (int i = 0; i < 3; i++) {
        places[i] = 0;
        timers[i].expired = expired;
    }
}

TEST(timers_expire_in_order)
{
    const struct cohort__scheduler_hooks *hooks = cohort__plain_loop_hooks();
    uint64_t start = cohort__clock_now();
    reset();
    hooks->timer(hooks->context, &timers[0], start + 3000000);
    hooks->timer(hooks->context, &timers[1], start + 1000000);
    hooks->timer(hooks->context, &timers[2], start + 2000000);
    while (next_place < 3)
        hooks->park(hooks->context);
    CHECK(cohort__clock_now() >= start + 3000000);
    CHECK_INT(places[1], 1);
    CHECK_INT(places[2], 2);
    CHECK_INT(places[0], 3);
    CHECK(!hooks->poll(hooks->context));
}

TEST(cancel_and_end)
{
    const struct cohort__scheduler_hooks *hooks = cohort__plain_loop_hooks();
    reset();
    for (int i = 0; i < 3; i++)
        hooks->timer(hooks->context, &timers[i], UINT64_MAX - (uint64_t)i);
    hooks->timer_cancel(hooks->context, &timers[1]);
    CHECK_INT(places[1], 1);
    hooks->timer_cancel(hooks->context, &timers[1]);
    CHECK_INT(next_place, 1);
    CHECK(!hooks->poll(hooks->context));
    cohort__plain_loop_fini();
    CHECK_INT(next_place, 3);
}

static void *wake(void *arg)
{
    const struct cohort__scheduler_hooks *hooks = cohort__plain_loop_hooks();
    hooks->wake(hooks->context);
    return arg;
}

TEST(wake_ends_the_park)
{
    const struct cohort__scheduler_hooks *hooks = cohort__plain_loop_hooks();
    for (int i = 0; i < 100; i++) {
        pthread_t thread = new_thread(wake, NULL);
        hooks->park(hooks->context);
        end_thread(thread);
    }
}
