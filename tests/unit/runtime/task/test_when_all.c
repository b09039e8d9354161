/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/task/run_tasks.h"

static cohort_status fail_as_told(void *arg)
{
    cohort_yield();
    return arg ? cohort_fail(COHORT_ERR_FAILED, "%s", (char *)arg) : COHORT_OK;
}

TEST_TASK(tasks, run_on(1, 3, task, NULL))
{
    enum { NUM_TASKS = 100 };
    cohort_future *futures[NUM_TASKS];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < NUM_TASKS; i++)
            futures[i] = cohort_async(fail_as_told, NULL);
        CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
        for (int i = 0; i < NUM_TASKS; i++)
            futures[i] = cohort_async(fail_as_told, i == 30 ? "thirty" : i > 70 ? "late" : NULL);
        CHECK_INT(cohort_await(cohort_when_all(futures, NUM_TASKS)), COHORT_ERR_FAILED);
        CHECK_TEXT(cohort_error_message(), "thirty");
    }
}

TEST(waits_for_the_last)
{
    cohort_promise *promises[3];
    cohort_future *futures[3];
    for (int i = 0; i < 3; i++)
        promises[i] = new_promise(&futures[i]);
    cohort_future *all = cohort_when_all(futures, 3);
    cohort_promise_fail(promises[2], COHORT_ERR_GONE, "two");
    cohort_promise_fulfil(promises[0], NULL);
    CHECK(!cohort_future_ready(all));
    cohort_promise_fail(promises[1], COHORT_ERR_NETWORK, "one");
    CHECK_INT(cohort_await(all), COHORT_ERR_NETWORK);
    CHECK_TEXT(cohort_error_message(), "one");
}

TEST(complete_at_once)
{
    cohort_future *futures[2] = {cohort_future_of_value(NULL), cohort_future_of_value(NULL)};
    CHECK(cohort_await(cohort_when_all(futures, 2)) == COHORT_OK);
    CHECK_OK(cohort_await(cohort_when_all(NULL, 0)));
    futures[0] = cohort_future_of_value(NULL);
    futures[1] = NULL;
    CHECK_FAILS(cohort_await(cohort_when_all(futures, 2)), COHORT_ERR_BAD_PARAMETER,
                "future 1 of 2");
    CHECK_INT(cohort_await(cohort_when_all(NULL, 2)), COHORT_ERR_BAD_PARAMETER);
}
