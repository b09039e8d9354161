/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/loop.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

static struct cohort__loop *create(void)
{
    struct cohort__loop *loop = NULL;
    CHECK_OK(cohort__loop_create(&loop));
    return loop;
}

struct probe {
    struct cohort__timer timer;
    uint64_t expired_at; /* 0: not expired yet */
    uint64_t order;
};

static uint64_t num_expired;

static void probe_expired(struct cohort__timer *timer)
{
    struct probe *probe = COHORT_CONTAINER_OF(timer, struct probe, timer);
    CHECK(probe->expired_at == 0);
    probe->expired_at = cohort__clock_now();
    probe->order = num_expired++;
}

static void probe_init(struct probe *probe)
{
    *probe = (struct probe){.timer.expired = probe_expired};
}

#define TEST_LOOP(name)                                                                            \
    TEST_WITH(name, struct cohort__loop *, loop, create(), cohort__loop_destroy(loop))

/* In the order of their deadlines, and never early. */
TEST_LOOP(order)
{
    enum { NUM = 200 };
    static struct probe probes[NUM];
    struct cohort__random random = cohort__random_seeded(7);
    num_expired = 0;
    uint64_t start = cohort__clock_now() + 5000000;
    for (int i = 0; i < NUM; i++) {
        probe_init(&probes[i]);
        cohort__loop_timer(loop, &probes[i].timer,
                           start + cohort__random_below(&random, 30) * 1000000);
    }
    PARK_WHILE(loop, num_expired < NUM);
    for (int i = 0; i < NUM; i++) {
        CHECK(probes[i].expired_at >= probes[i].timer.deadline);
        for (int k = 0; k < NUM; k++)
            CHECK(probes[i].timer.deadline >= probes[k].timer.deadline ||
                  probes[i].order < probes[k].order);
    }
}

TEST_LOOP(past_deadline)
{
    struct probe probe;
    probe_init(&probe);
    cohort__loop_timer(loop, &probe.timer, 0);
    while (!probe.expired_at)
        cohort__loop_poll(loop);
}

/* However seldom the loop is polled, a timer that is due expires in the next poll. */
TEST_LOOP(seldom_polls)
{
    for (int i = 0; i < 20; i++) {
        struct probe probe;
        probe_init(&probe);
        cohort__loop_timer(loop, &probe.timer, cohort__clock_after(100000));
        cohort__loop_poll(loop);
        while (cohort__clock_now() < probe.timer.deadline + 100000)
            ;
        cohort__loop_poll(loop);
        CHECK(probe.expired_at != 0);
    }
}

/* Random cancels among timers of all ages. Each timer expires once, and a cancelled one at once. */
TEST(cancel)
{
    enum { NUM = 1000 };
    static struct probe probes[NUM];
    struct cohort__loop *loop = create();
    struct cohort__random random = cohort__random_seeded(11);
    num_expired = 0;
    for (int i = 0; i < NUM; i++) {
        probe_init(&probes[i]);
        cohort__loop_timer(loop, &probes[i].timer, UINT64_MAX - cohort__random_below(&random, 999));
        if (i % 3 == 0)
            cohort__loop_poll(loop);
    }
    cohort__loop_poll(loop);
    CHECK_INT((long long)num_expired, 0);
    for (int i = 0; i < NUM; i += 2) {
        cohort__loop_timer_cancel(loop, &probes[i].timer);
        if (i % 5 == 0)
            cohort__loop_poll(loop);
    }
    cohort__loop_poll(loop);
    CHECK_INT((long long)num_expired, NUM / 2);
    for (int i = 0; i < NUM; i++)
        CHECK((probes[i].expired_at != 0) == (i % 2 == 0));
    cohort__loop_destroy(loop); /* expires the others, in order */
    CHECK_INT((long long)num_expired, NUM);
    for (int i = 1; i < NUM; i += 2)
        for (int k = 1; k < NUM; k += 2)
            CHECK(probes[i].timer.deadline >= probes[k].timer.deadline ||
                  probes[i].order < probes[k].order);
}

TEST_LOOP(cancel_after_expiry)
{
    struct probe probe;
    probe_init(&probe);
    cohort__loop_timer(loop, &probe.timer, 0);
    PARK_WHILE(loop, !probe.expired_at);
    cohort__loop_timer_cancel(loop, &probe.timer);
    cohort__loop_poll(loop);
}

/* Another thread starts timers that are just about to expire, and cancels them. Whichever wins the
 * race, each timer expires once, and its memory is freed as the contract allows. */
enum { NUM_RACES = 20000 };

struct racer {
    struct cohort__timer timer;
    _Atomic int parties; /* the canceller and the expiry; the last one frees */
};

static _Atomic unsigned num_raced;

static void racer_left(struct racer *racer)
{
    if (atomic_fetch_sub(&racer->parties, 1) == 1)
        free(racer);
}

static void racer_expired(struct cohort__timer *timer)
{
    atomic_fetch_add(&num_raced, 1);
    racer_left(COHORT_CONTAINER_OF(timer, struct racer, timer));
}

static void *race(void *arg)
{
    struct cohort__random random = cohort__random_seeded(13);
    for (int i = 0; i < NUM_RACES; i++) {
        struct racer *racer = test_calloc(1, sizeof(*racer));
        racer->timer.expired = racer_expired;
        atomic_store(&racer->parties, 2);
        cohort__loop_timer(arg, &racer->timer,
                           cohort__clock_after(cohort__random_below(&random, 2000000)));
        if (i % 16 == 0) /* let some get old */
            while (atomic_load(&num_raced) + 64 < (unsigned)i)
                ;
        cohort__loop_timer_cancel(arg, &racer->timer);
        racer_left(racer);
    }
    return NULL;
}

TEST(cancel_race)
{
    struct cohort__loop *loop = create();
    pthread_t thread = new_thread(race, loop);
    PARK_WHILE(loop, atomic_load(&num_raced) < NUM_RACES);
    end_thread(thread);
    cohort__loop_destroy(loop);
    CHECK_INT(num_raced, NUM_RACES);
}
