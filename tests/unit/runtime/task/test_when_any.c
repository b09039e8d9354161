/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/future.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_FUTURES = 4 };

static void create(cohort_promise **ret_promises, cohort_future **ret_futures)
{
    for (int i = 0; i < NUM_FUTURES; i++)
        ret_promises[i] = new_promise(&ret_futures[i]);
}

TEST(first_one_wins)
{
    for (int winner = 0; winner < NUM_FUTURES; winner++) {
        cohort_promise *promises[NUM_FUTURES];
        cohort_future *futures[NUM_FUTURES];
        size_t index = 100;
        create(promises, futures);
        cohort_future *any = cohort_when_any(futures, NUM_FUTURES, &index);
        CHECK(!cohort_future_ready(any));
        cohort_promise_fail(promises[winner], COHORT_ERR_GONE, "%d", winner);
        CHECK_INT(index, winner);
        for (int i = 0; i < NUM_FUTURES; i++)
            if (i != winner)
                cohort_promise_fulfil(promises[i], NULL);
        CHECK_INT(index, winner);
        CHECK_INT(cohort_await(any), COHORT_ERR_GONE);
        CHECK_INT(cohort_error_message()[0], '0' + winner);
    }
}

TEST(complete_at_once)
{
    cohort_promise *promises[NUM_FUTURES];
    cohort_future *futures[NUM_FUTURES];
    size_t index = 100;
    int value;
    void *got = NULL;
    create(promises, futures);
    cohort_promise_fulfil(promises[2], &value);
    CHECK_OK(cohort_await_value(cohort_when_any(futures, NUM_FUTURES, &index), &got));
    CHECK(got == &value);
    CHECK_INT(index, 2);
    for (int i = 0; i < NUM_FUTURES; i++)
        if (i != 2)
            cohort_promise_fulfil(promises[i], NULL);
}

static int count_waiters(cohort_future *future)
{
    int count = 0;
    for (struct cohort__waiter *waiter = atomic_load(&future->state); waiter; waiter = waiter->next)
        count++;
    return count;
}

/* A future that loses again and again doesn't collect the waiters of all those races, and no
 * references either. */
TEST(losers_are_forgotten)
{
    cohort_promise *slow, *quick;
    cohort_future *futures[2], *slow_future;
    slow = new_promise(&slow_future);
    for (int i = 0; i < 100; i++) {
        quick = new_promise(&futures[1]);
        futures[0] = cohort_future_ref(slow_future);
        cohort_future *any = cohort_when_any(futures, 2, NULL);
        cohort_promise_fulfil(quick, NULL);
        CHECK_OK(cohort_await(any));
        CHECK_INT(atomic_load(&slow_future->refs), 2);
        CHECK(count_waiters(slow_future) < 16);
    }
    cohort_promise_fulfil(slow, NULL);
    CHECK_OK(cohort_await(slow_future));
}

TEST(mistakes)
{
    cohort_future *futures[2] = {NULL, cohort_future_of_value(NULL)};
    CHECK_INT(cohort_await(cohort_when_any(futures, 0, NULL)), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_await(cohort_when_any(futures, 2, NULL)), COHORT_ERR_BAD_PARAMETER,
                "future 0 of 2");
}

static cohort_status yield_often(void *times)
{
    for (uintptr_t i = 0; i < (uintptr_t)times; i++)
        cohort_yield();
    return COHORT_OK;
}

TEST_TASK(tasks, run_on(1, 3, task, NULL))
{
    for (int round = 0; round < 500; round++) {
        cohort_future *futures[NUM_FUTURES];
        size_t index = 100;
        for (uintptr_t i = 0; i < NUM_FUTURES; i++)
            futures[i] = cohort_async(yield_often, (void *)(i * (uintptr_t)round % 5));
        CHECK_OK(cohort_await(cohort_when_any(futures, NUM_FUTURES, &index)));
        CHECK(index < NUM_FUTURES);
    }
}
