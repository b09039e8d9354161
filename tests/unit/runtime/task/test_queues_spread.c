/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/task/worker.h"
#include "tests/support/test.h"

enum { NUM_WORKERS = 4, NUM_TASKS = 60 };

static struct cohort__worker workers[NUM_WORKERS];
static struct cohort__worker *pointers[NUM_WORKERS];

/* Worker 0 has NUM_TASKS tasks. Those from number 2 on are asleep. */
static void setup(void)
{
    static int item;
    memset(workers, 0, sizeof(workers));
    memset(&cohort__scheduler, 0, sizeof(cohort__scheduler));
    for (unsigned i = 0; i < NUM_WORKERS; i++) {
        workers[i].index = i;
        CHECK_OK(cohort__deque_init(&workers[i].deque, 2 * NUM_TASKS, true));
        atomic_init(&workers[i].sleep_state, i < 2 ? COHORT__AWAKE : COHORT__SLEEPING);
        pointers[i] = &workers[i];
    }
    cohort__scheduler.workers = pointers;
    cohort__scheduler.num_workers = NUM_WORKERS;
    atomic_init(&cohort__scheduler.num_sleeping, NUM_WORKERS - 2);
    for (int i = 0; i < NUM_TASKS; i++)
        CHECK(cohort__deque_push(&workers[0].deque, &item));
}

static void teardown(void)
{
    for (int i = 0; i < NUM_WORKERS; i++)
        cohort__deque_fini(&workers[i].deque);
    memset(&cohort__scheduler, 0, sizeof(cohort__scheduler));
}

static void drop(int count)
{
    for (int i = 0; i < count; i++)
        CHECK(cohort__deque_pop(&workers[0].deque));
}

TEST(shares)
{
    setup();
    /* Worker 1 is busy. */
    CHECK_INT(cohort__spread_share(&workers[0], &workers[0]), NUM_TASKS / 3);
    CHECK_INT(cohort__spread_share(&workers[2], &workers[0]), NUM_TASKS / 3);
    /* It is a thief itself, so it is not. */
    CHECK_INT(cohort__spread_share(&workers[1], &workers[0]), NUM_TASKS / 4);
    atomic_store(&workers[1].is_searching, true);
    CHECK_INT(cohort__spread_share(&workers[0], &workers[0]), NUM_TASKS / 4);
    atomic_store(&workers[0].num_held, 10);
    drop(10);
    CHECK_INT(cohort__spread_share(&workers[0], &workers[0]), NUM_TASKS / 4 - 10);
    CHECK_INT(cohort__spread_share(&workers[1], &workers[0]), NUM_TASKS / 4);
    atomic_store(&workers[0].num_held, 15);
    drop(5);
    CHECK_INT(cohort__spread_share(&workers[0], &workers[0]), 0);
    CHECK_INT(cohort__spread_share(&workers[3], &workers[0]), NUM_TASKS / 4);
    /* What was held when it last slept is no matter. */
    cohort__spread_settle(&workers[0]);
    CHECK_INT(cohort__spread_share(&workers[0], &workers[0]), (NUM_TASKS - 15 + 3) / 4);
    teardown();
}

static void wait_for(uint64_t nanoseconds)
{
    uint64_t end = cohort__clock_after(nanoseconds);
    while (cohort__clock_now() < end)
        ;
}

/* It wakes those for which the rest is. */
TEST(way_is_made_once)
{
    setup();
    uint64_t begin = cohort__clock_now();
    atomic_store(&workers[0].num_held, 15);
    CHECK(cohort__spread_makes_way(&workers[0], &workers[0]));
    CHECK_INT(atomic_load(&workers[2].sleep_state), COHORT__AWAKE_TO_SEARCH);
    CHECK_INT(atomic_load(&workers[3].sleep_state), COHORT__AWAKE_TO_SEARCH);
    CHECK_INT(atomic_load(&cohort__scheduler.num_searching), 2);
    CHECK_INT(atomic_load(&cohort__scheduler.num_sleeping), 0);
    wait_for(1500000); /* nobody comes for the millisecond, by the worker's own clock, too */
    CHECK(!cohort__spread_makes_way(&workers[0], &workers[0]));
    CHECK_INT(atomic_load(&workers[0].num_held), 0);
    bool begins_again = cohort__spread_makes_way(&workers[0], &workers[0]);
    CHECK(!begins_again || cohort__clock_now() - begin > 19000000); /* it may after 20 ms */
    teardown();
}

/* As long as others take something, but not for ever. */
TEST(way_has_an_end)
{
    setup();
    uint64_t end = cohort__clock_after(100000000);
    CHECK(cohort__spread_makes_way(&workers[0], &workers[0]));
    int num_taken = 0;
    do {
        wait_for(50000);
        drop(1);
        num_taken++;
    } while (cohort__spread_makes_way(&workers[0], &workers[0]) && num_taken < NUM_TASKS);
    CHECK(num_taken < NUM_TASKS || cohort__clock_now() >= end);
    teardown();
}
