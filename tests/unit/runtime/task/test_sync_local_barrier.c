/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "runtime/base/random.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_TASKS = 12, NUM_THREADS = 2, NUM_ROUNDS = 200, MICROSECOND = 1000 };

struct rounds {
    cohort_local_barrier *barrier;
    _Atomic int num_come, num_last, num_expired;
};

/* Comes, perhaps after some attempts that it gives up. */
static void come(struct rounds *rounds, struct cohort__random *random)
{
    bool is_last = false;
    while (cohort__random_below(random, 2) == 0) {
        uint64_t limit = cohort__random_below(random, 30) * MICROSECOND;
        cohort_status status = cohort_local_barrier_wait(rounds->barrier, limit, &is_last);
        if (status == COHORT_OK) {
            rounds->num_last += is_last;
            return;
        }
        CHECK_INT(status, COHORT_ERR_TIMEOUT);
        rounds->num_expired++;
    }
    CHECK_OK(cohort_local_barrier_wait(rounds->barrier, COHORT_NO_LIMIT, &is_last));
    rounds->num_last += is_last;
}

static cohort_status meet_often(void *arg)
{
    struct rounds *rounds = arg;
    struct cohort__random random = cohort__random_seeded((uint64_t)(uintptr_t)&random);
    for (int i = 0; i < NUM_ROUNDS; i++) {
        rounds->num_come++;
        come(rounds, &random);
        CHECK(rounds->num_come >= (i + 1) * (NUM_TASKS + NUM_THREADS));
        CHECK(rounds->num_come <= (i + 2) * (NUM_TASKS + NUM_THREADS));
    }
    return COHORT_OK;
}

static void *meet_in_thread(void *arg)
{
    meet_often(arg);
    return NULL;
}

TEST_TASK(meet, run_on(1, 3, task, NULL))
{
    struct rounds rounds = {0};
    cohort_future *futures[NUM_TASKS];
    pthread_t threads[NUM_THREADS];
    CHECK_OK(cohort_local_barrier_create(NUM_TASKS + NUM_THREADS, &rounds.barrier));
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(meet_in_thread, &rounds);
    for (int i = 0; i < NUM_TASKS; i++)
        futures[i] = cohort_async(meet_often, &rounds);
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    CHECK_INT(rounds.num_last, NUM_ROUNDS);
    cohort_local_barrier_unref(rounds.barrier);
}

TEST(alone)
{
    bool is_last = false;
    cohort_local_barrier *barrier;
    CHECK_INT(cohort_local_barrier_create(0, &barrier), COHORT_ERR_BAD_PARAMETER);
    CHECK_OK(cohort_local_barrier_create(1, &barrier));
    CHECK_OK(cohort_local_barrier_wait(barrier, 0, &is_last));
    CHECK(is_last);
    CHECK_OK(cohort_local_barrier_wait(barrier, 0, NULL));
    cohort_local_barrier_unref(barrier);
}
