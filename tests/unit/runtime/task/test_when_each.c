/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/container.h"
#include "runtime/task/future.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_FUTURES = 5 };

/* They complete in this order, the second one with an error. */
static const size_t order[NUM_FUTURES] = {3, 1, 4, 0, 2};
static int values[NUM_FUTURES];

static void complete(cohort_promise **promises, size_t number)
{
    size_t index = order[number];
    if (number == 1)
        cohort_promise_fail(promises[index], COHORT_ERR_GONE, "future %zu", index);
    else
        cohort_promise_fulfil(promises[index], &values[index]);
}

static void check_result(cohort_future *future, size_t index)
{
    void *got = NULL;
    if (index == order[1]) {
        CHECK_INT(cohort_await_value(future, &got), COHORT_ERR_GONE);
        CHECK_TEXT(cohort_error_message(), "future 1");
    } else {
        CHECK_OK(cohort_await_value(future, &got));
        CHECK(got == &values[index]);
    }
}

/* EARLY of them are complete before the call. Those are found in the order of the array. */
static void check_order(size_t early, bool in_place)
{
    cohort_promise *promises[NUM_FUTURES];
    cohort_future *futures[NUM_FUTURES], *others[NUM_FUTURES];
    cohort_future **each = in_place ? futures : others;
    size_t indices[NUM_FUTURES], number = 0;
    for (int i = 0; i < NUM_FUTURES; i++)
        promises[i] = new_promise(&futures[i]);
    while (number < early)
        complete(promises, number++);
    CHECK_OK(cohort_when_each(futures, NUM_FUTURES, each, indices));
    for (;; complete(promises, number++)) {
        for (size_t i = 0; i < NUM_FUTURES; i++)
            CHECK_INT(cohort_future_ready(each[i]), i < number);
        if (number == NUM_FUTURES)
            break;
    }
    for (size_t i = NUM_FUTURES; i-- > 0;) {
        if (i >= early)
            CHECK_INT((long long)indices[i], (long long)order[i]);
        else
            CHECK(i == 0 || indices[i - 1] < indices[i]);
        check_result(each[i], indices[i]);
    }
}

TEST(order)
{
    for (size_t early = 0; early <= NUM_FUTURES; early++)
        for (int in_place = 0; in_place <= 1; in_place++)
            check_order(early, in_place);
}

/* Completes another future of the same call from inside the notification of one. */
struct chain {
    struct cohort__waiter waiter;
    cohort_promise *next;
    cohort_future *own;   /* of this call */
    cohort_future *later; /* not complete yet, since this notification is not over */
};

static void complete_next(struct cohort__waiter *waiter)
{
    struct chain *chain = COHORT_CONTAINER_OF(waiter, struct chain, waiter);
    cohort_promise_fulfil(chain->next, &values[1]);
    CHECK(cohort_future_ready(chain->own));
    CHECK(!cohort_future_ready(chain->later));
}

TEST(nested)
{
    cohort_promise *promises[2];
    cohort_future *futures[2], *each[2];
    for (int i = 0; i < 2; i++)
        promises[i] = new_promise(&futures[i]);
    CHECK_OK(cohort_when_each(futures, 2, each, NULL));
    struct chain chain = {
        .waiter.notify = complete_next, .next = promises[1], .own = each[0], .later = each[1]};
    CHECK(cohort__future_wait_with(each[0], &chain.waiter));
    cohort_promise_fulfil(promises[0], &values[0]);
    for (size_t i = 0; i < 2; i++) {
        void *got = NULL;
        CHECK_OK(cohort_await_value(each[i], &got));
        CHECK(got == &values[i]);
    }
}

/* References are given back one by one, and results that nobody wants are thrown away. */
TEST(references)
{
    cohort_promise *promises[2];
    cohort_future *futures[2], *kept[2], *each[2];
    for (int i = 0; i < 2; i++) {
        promises[i] = new_promise(&futures[i]);
        kept[i] = cohort_future_ref(futures[i]);
    }
    CHECK_OK(cohort_when_each(futures, 2, each, NULL));
    cohort_future_unref(each[1]);
    cohort_future_unref(each[0]);
    cohort_promise_fulfil(promises[1], NULL);
    CHECK_INT(atomic_load(&kept[1]->refs), 1);
    CHECK_INT(atomic_load(&kept[0]->refs), 3);
    cohort_promise_fulfil(promises[0], NULL);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(atomic_load(&kept[i]->refs), 1);
        cohort_future_unref(kept[i]);
    }
}

TEST(mistakes)
{
    cohort_future *futures[2] = {cohort_future_of_value(&values[0]), NULL};
    cohort_future *kept = cohort_future_ref(futures[0]), *each[2] = {kept, kept};
    CHECK_FAILS(cohort_when_each(futures, 2, each, NULL), COHORT_ERR_BAD_PARAMETER,
                "future 1 of 2");
    CHECK_INT(atomic_load(&kept->refs), 1);
    futures[0] = cohort_future_ref(kept);
    CHECK_FAILS(cohort_when_each(futures, 1, NULL, NULL), COHORT_ERR_BAD_PARAMETER, "ret_each");
    CHECK_INT(atomic_load(&kept->refs), 1);
    CHECK_INT(cohort_when_each(NULL, 2, each, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK(each[0] == kept && each[1] == kept);
    CHECK_OK(cohort_when_each(NULL, 0, NULL, NULL));
    cohort_future_unref(kept);
}

static cohort_status yield_often(void *times)
{
    for (uintptr_t i = 0; i < (uintptr_t)times; i++)
        cohort_yield();
    return COHORT_OK;
}

/* The sum of all indices is right, and they come one after the other. */
TEST_TASK(tasks, run_on(1, 3, task, NULL))
{
    enum { NUM_TASKS = 50 };
    for (int round = 0; round < 50; round++) {
        cohort_future *futures[NUM_TASKS];
        size_t indices[NUM_TASKS], sum = 0;
        for (uintptr_t i = 0; i < NUM_TASKS; i++)
            futures[i] = cohort_async(yield_often, (void *)(i * (uintptr_t)round % 7));
        CHECK_OK(cohort_when_each(futures, NUM_TASKS, futures, indices));
        for (size_t i = 0; i < NUM_TASKS; i++) {
            if (i + 1 < NUM_TASKS && cohort_future_ready(futures[i + 1]))
                CHECK(cohort_future_ready(futures[i]));
            CHECK_OK(cohort_await(futures[i]));
            sum += indices[i];
        }
        CHECK_INT((long long)sum, NUM_TASKS * (NUM_TASKS - 1) / 2);
    }
}
