/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "cohort/task.h"
#include "runtime/base/clock.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/timer.h"
#include "runtime/task/scheduler.h"
#include "tests/support/test.h"

enum { NUM_SLEEPERS = 64 };

static cohort_status sleeper(void *arg)
{
    uint64_t nanoseconds = *(uint64_t *)arg;
    uint64_t start = cohort__clock_now();
    cohort_status status = cohort_await(cohort_sleep(nanoseconds));
    CHECK(cohort__clock_now() - start >= nanoseconds);
    return status;
}

static cohort_status main_task(void *arg)
{
    (void)arg;
    static uint64_t durations[NUM_SLEEPERS];
    cohort_future *futures[NUM_SLEEPERS];
    uint64_t start = cohort__clock_now();
    for (int i = 0; i < NUM_SLEEPERS; i++) {
        durations[i] = (uint64_t)(i % 8) * 10000000;
        futures[i] = cohort_async(sleeper, &durations[i]);
    }
    cohort_status status = cohort_await(cohort_when_all(futures, NUM_SLEEPERS));
    CHECK_INT(status, COHORT_OK);
    CHECK(cohort__clock_now() - start >= 70000000);
    cohort_future *longer = cohort_sleep(3600ull * 1000000000);
    CHECK_INT(cohort_await_for(longer, 5000000), COHORT_ERR_TIMEOUT);
    cohort_future_unref(longer);
    cohort__scheduler_stop();
    return COHORT_OK;
}

static void run_with(unsigned num_workers)
{
    struct cohort__loop *loop;
    struct cohort__scheduler_hooks hooks;
    struct cohort__scheduler_options options;
    CHECK_INT(cohort__loop_create(&loop), COHORT_OK);
    cohort__loop_scheduler_hooks(loop, &hooks);
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    CHECK_INT(cohort__scheduler_start(&options, &hooks), COHORT_OK);
    cohort__loop_attach(loop);
    cohort_future_unref(cohort_async(main_task, NULL));
    CHECK_INT(cohort__scheduler_run(), COHORT_OK);
    cohort__loop_attach(NULL);
    cohort__loop_destroy(loop);
}

static void test_one_worker(void)
{
    run_with(1);
}

static void test_four_workers(void)
{
    run_with(4);
}

static void test_no_loop(void)
{
    cohort_future *future = cohort_sleep(1);
    CHECK(cohort_future_ready(future));
    cohort_future_unref(future);
}

/* A thread outside the runtime that is about to add its timer while the runtime ends. */
static struct {
    pthread_t thread;
    atomic_bool is_on; /* the next timer waits */
    atomic_bool is_inside;
    atomic_bool has_ended;
    cohort_future *future;
} late;

void __real_cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer,
                               uint64_t deadline);
void __wrap_cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer,
                               uint64_t deadline);

void __wrap_cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer,
                               uint64_t deadline)
{
    if (atomic_exchange(&late.is_on, false)) {
        atomic_store(&late.is_inside, true);
        for (int i = 0; i < 20000; i++)
            sched_yield(); /* long enough for the runtime to end, if it does not wait */
        CHECK(!atomic_load(&late.has_ended));
    }
    __real_cohort__loop_timer(loop, timer, deadline);
}

static void *sleep_outside(void *arg)
{
    late.future = cohort_sleep(3600ull * 1000000000);
    return arg;
}

static cohort_status end_meanwhile(void *arg)
{
    (void)arg;
    atomic_store(&late.is_on, true);
    CHECK_INT(pthread_create(&late.thread, NULL, sleep_outside, NULL), 0);
    while (!atomic_load(&late.is_inside))
        sched_yield();
    cohort__scheduler_stop();
    return COHORT_OK;
}

static void test_end(void)
{
    struct cohort__loop *loop;
    struct cohort__scheduler_hooks hooks;
    struct cohort__scheduler_options options;
    CHECK_INT(cohort__loop_create(&loop), COHORT_OK);
    cohort__loop_scheduler_hooks(loop, &hooks);
    cohort__scheduler_options_init(&options);
    CHECK_INT(cohort__scheduler_start(&options, &hooks), COHORT_OK);
    cohort__loop_attach(loop);
    cohort_future_unref(cohort_async(end_meanwhile, NULL));
    CHECK_INT(cohort__scheduler_run(), COHORT_OK);
    atomic_store(&late.has_ended, true);
    CHECK_INT(cohort_await(cohort_sleep(1)), COHORT_ERR_STATE); /* also before it is taken away */
    cohort__loop_attach(NULL);
    cohort__loop_destroy(loop);
    pthread_join(late.thread, NULL);
    CHECK(cohort_future_ready(late.future));
    CHECK_INT(cohort_await(late.future), COHORT_ERR_CANCELLED);
    CHECK_CONTAINS(cohort_error_message(), "has ended before the time was over");
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"no_loop", test_no_loop},
        {"one_worker", test_one_worker},
        {"four_workers", test_four_workers},
        {"end", test_end},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
