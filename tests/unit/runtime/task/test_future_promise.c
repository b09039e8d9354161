/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/future.h"

#include "tests/support/test.h"

TEST(fulfil_and_fail)
{
    cohort_promise *promise = NULL;
    cohort_future *future = NULL;
    int value;
    void *got = NULL;
    CHECK_OK(cohort_promise_create(&promise, &future));
    CHECK(!cohort_future_ready(future));
    cohort_promise_fulfil(promise, &value);
    CHECK_OK(cohort_await_value(future, &got));
    CHECK(got == &value);

    CHECK_OK(cohort_promise_create(&promise, &future));
    cohort_promise_fail(promise, COHORT_ERR_NETWORK, "cable %d", 3);
    CHECK_INT(cohort_await(future), COHORT_ERR_NETWORK);
    CHECK_TEXT(cohort_error_message(), "cable 3");

    CHECK_OK(cohort_promise_create(&promise, &future));
    cohort_future_unref(future);
    cohort_promise_fulfil(promise, NULL);
}

TEST(mistakes)
{
    cohort_promise *promise = NULL;
    cohort_future *future = NULL;
    CHECK_INT(cohort_promise_create(NULL, &future), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_promise_create(&promise, NULL), COHORT_ERR_BAD_PARAMETER, "ret_future");
    CHECK(!promise && !future);
    cohort_promise_fulfil(NULL, NULL);
    cohort_promise_fail(NULL, COHORT_ERR_FAILED, "x");
    CHECK_OK(cohort_promise_create(&promise, &future));
    cohort_promise_fail(promise, COHORT_OK, "not an error");
    CHECK_INT(cohort_await(future), COHORT_ERR_FAILED);
}
