/* SPDX-License-Identifier: Apache-2.0 */

#include "cohort/cohort.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_WAITERS = 20, NUM_ROUNDS = 300, NUM_THREADS = 2 };

/* --- a round can't be missed --- */

/* Each waiter sees every round; the last one of a round begins the next. */
struct rounds {
    cohort_mutex *mutex;
    cohort_condition *changed;
    int round, num_left, num_waiters;
};

static cohort_status see_rounds(void *arg)
{
    struct rounds *rounds = arg;
    CHECK_OK(cohort_mutex_lock(rounds->mutex, COHORT_NO_LIMIT));
    for (int round = 0; round < NUM_ROUNDS; round++) {
        while (rounds->round < round)
            CHECK_OK(cohort_condition_wait(rounds->changed, rounds->mutex, COHORT_NO_LIMIT));
        CHECK_INT(rounds->round, round);
        if (--rounds->num_left == 0) {
            rounds->num_left = rounds->num_waiters;
            rounds->round++;
            cohort_condition_broadcast(rounds->changed);
        }
    }
    return cohort_mutex_unlock(rounds->mutex);
}

static void *see_in_thread(void *arg)
{
    CHECK_OK(see_rounds(arg));
    return NULL;
}

TEST_TASK(no_round_is_missed, run_on(1, 3, task, NULL))
{
    struct rounds rounds = {.num_left = NUM_WAITERS + NUM_THREADS,
                            .num_waiters = NUM_WAITERS + NUM_THREADS};
    cohort_future *futures[NUM_WAITERS];
    pthread_t threads[NUM_THREADS];
    CHECK_OK(cohort_mutex_create(&rounds.mutex));
    CHECK_OK(cohort_condition_create(&rounds.changed));
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(see_in_thread, &rounds);
    for (int i = 0; i < NUM_WAITERS; i++)
        futures[i] = cohort_async(see_rounds, &rounds);
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_WAITERS)));
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    cohort_condition_unref(rounds.changed);
    cohort_mutex_unref(rounds.mutex);
}

/* --- a signal wakes one, in order --- */

struct waiter {
    struct rounds *rounds;
    int number;
};

static cohort_status wait_once(void *arg)
{
    struct waiter *waiter = arg;
    struct rounds *rounds = waiter->rounds;
    CHECK_OK(cohort_mutex_lock(rounds->mutex, COHORT_NO_LIMIT));
    CHECK_OK(cohort_condition_wait(rounds->changed, rounds->mutex, COHORT_NO_LIMIT));
    CHECK_INT(rounds->round, waiter->number);
    rounds->round++;
    return cohort_mutex_unlock(rounds->mutex);
}

TEST_TASK(signals, run_on(1, 1, task, NULL))
{
    struct rounds rounds = {0};
    struct waiter waiters[NUM_WAITERS];
    cohort_future *futures[NUM_WAITERS];
    CHECK_OK(cohort_mutex_create(&rounds.mutex));
    CHECK_OK(cohort_condition_create(&rounds.changed));
    for (int i = 0; i < NUM_WAITERS; i++) {
        waiters[i] = (struct waiter){&rounds, i};
        futures[i] = cohort_async(wait_once, &waiters[i]);
        cohort_yield();
    }
    for (int i = 0; i < NUM_WAITERS; i++) {
        CHECK_INT(rounds.round, i);
        cohort_condition_signal(rounds.changed);
        CHECK_OK(cohort_await(futures[i]));
    }
    CHECK_FAILS(cohort_condition_wait(rounds.changed, rounds.mutex, 0), COHORT_ERR_STATE,
                "cohort_condition_wait: the caller does not hold");
    cohort_condition_unref(rounds.changed);
    cohort_mutex_unref(rounds.mutex);
}
