/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/future.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_FUTURES = 5 };

static void create(cohort_promise **ret_promises, cohort_future **ret_futures)
{
    for (int i = 0; i < NUM_FUTURES; i++)
        ret_promises[i] = new_promise(&ret_futures[i]);
}

/* They complete in this order, the second one with an error. */
static const size_t order[NUM_FUTURES] = {3, 1, 4, 0, 2};

static void complete(cohort_promise **promises, size_t number)
{
    if (number == 1)
        cohort_promise_fail(promises[order[number]], COHORT_ERR_GONE, "gone");
    else
        cohort_promise_fulfil(promises[order[number]], NULL);
}

/* EARLY of them are complete before the call. Those are found in the order of the array. */
static void check_order(size_t wanted, size_t early)
{
    cohort_promise *promises[NUM_FUTURES];
    cohort_future *futures[NUM_FUTURES];
    size_t indices[NUM_FUTURES + 1], number = 0;
    for (size_t i = 0; i <= NUM_FUTURES; i++)
        indices[i] = 100;
    create(promises, futures);
    while (number < early)
        complete(promises, number++);
    cohort_future *some = cohort_when_some(futures, NUM_FUTURES, wanted, indices);
    while (number < NUM_FUTURES) {
        CHECK_INT(cohort_future_ready(some), number >= wanted);
        complete(promises, number++);
    }
    CHECK_OK(cohort_await(some));
    for (size_t i = 0; i <= NUM_FUTURES; i++)
        if (i >= wanted)
            CHECK_INT((long long)indices[i], 100);
        else if (early == 0)
            CHECK_INT((long long)indices[i], (long long)order[i]);
        else
            CHECK(indices[i] < NUM_FUTURES &&
                  (i == 0 || i >= early || indices[i - 1] < indices[i]));
}

TEST(order)
{
    for (size_t wanted = 1; wanted <= NUM_FUTURES; wanted++)
        for (size_t early = 0; early <= NUM_FUTURES; early++)
            check_order(wanted, early);
}

/* The references to those that are not complete are given back, and their waiters go. */
TEST(others_are_given_back)
{
    cohort_promise *slow, *quick[2];
    cohort_future *futures[3], *slow_future;
    slow = new_promise(&slow_future);
    for (int i = 0; i < 100; i++) {
        int num_waiters = 0;
        futures[1] = cohort_future_ref(slow_future);
        quick[0] = new_promise(&futures[0]);
        quick[1] = new_promise(&futures[2]);
        cohort_future *some = cohort_when_some(futures, 3, 2, NULL);
        cohort_promise_fulfil(quick[0], NULL);
        CHECK_INT(atomic_load(&slow_future->refs), 3);
        cohort_promise_fulfil(quick[1], NULL);
        CHECK_OK(cohort_await(some));
        CHECK_INT(atomic_load(&slow_future->refs), 2);
        for (struct cohort__waiter *waiter = atomic_load(&slow_future->state); waiter;
             waiter = waiter->next)
            num_waiters++;
        CHECK(num_waiters < 16);
    }
    cohort_promise_fulfil(slow, NULL);
    CHECK_OK(cohort_await(slow_future));
}

TEST(mistakes)
{
    static int value;
    cohort_future *futures[2] = {cohort_future_of_value(&value), cohort_future_of_value(&value)};
    cohort_future *kept = cohort_future_ref(futures[0]);
    CHECK_FAILS(cohort_await(cohort_when_some(futures, 2, 3, NULL)), COHORT_ERR_BAD_PARAMETER,
                "3 futures wanted of 2");
    CHECK_INT(atomic_load(&kept->refs), 1);
    futures[0] = cohort_future_ref(kept);
    futures[1] = NULL;
    CHECK_FAILS(cohort_await(cohort_when_some(futures, 2, 1, NULL)), COHORT_ERR_BAD_PARAMETER,
                "future 1 of 2");
    CHECK_INT(atomic_load(&kept->refs), 1);
    CHECK_INT(cohort_await(cohort_when_some(NULL, 2, 1, NULL)), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_when_some(NULL, 0, 1, NULL)), COHORT_ERR_BAD_PARAMETER);
    CHECK_OK(cohort_await(cohort_when_some(NULL, 0, 0, NULL)));
    futures[0] = cohort_future_ref(kept);
    CHECK_OK(cohort_await(cohort_when_some(futures, 1, 0, NULL)));
    CHECK_INT(atomic_load(&kept->refs), 1);
    cohort_future_unref(kept);
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
        size_t indices[NUM_FUTURES], wanted = 1 + (size_t)round % NUM_FUTURES;
        bool is_there[NUM_FUTURES] = {false};
        for (uintptr_t i = 0; i < NUM_FUTURES; i++)
            futures[i] = cohort_async(yield_often, (void *)(i * (uintptr_t)round % 5));
        CHECK_OK(cohort_await(cohort_when_some(futures, NUM_FUTURES, wanted, indices)));
        for (size_t i = 0; i < wanted; i++) {
            CHECK(indices[i] < NUM_FUTURES && !is_there[indices[i]]);
            is_there[indices[i]] = true;
        }
    }
}
