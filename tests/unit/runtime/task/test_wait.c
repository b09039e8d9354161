/* SPDX-License-Identifier: Apache-2.0 */

#include "cohort/scope.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { MILLISECOND = 1000000 };

static void check_end(cohort_future *future, uint64_t limit, enum cohort_wait_end want)
{
    enum cohort_wait_end end = (enum cohort_wait_end)77;
    CHECK_OK(cohort_wait(future, limit, &end));
    CHECK_INT(end, want);
}

/* A future that has failed with COHORT_ERR_TIMEOUT is complete, and not late: whoever waits keeps
 * the reference in both cases. */
static void look_at_failed(void)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    check_end(future, 0, COHORT_WAIT_EXPIRED);
    check_end(future, MILLISECOND, COHORT_WAIT_EXPIRED);
    cohort_promise_fail(promise, COHORT_ERR_TIMEOUT, "too slow");
    check_end(future, 0, COHORT_WAIT_COMPLETE);
    check_end(future, COHORT_NO_LIMIT, COHORT_WAIT_COMPLETE);
    CHECK_INT(cohort_await(future), COHORT_ERR_TIMEOUT);
    CHECK_TEXT(cohort_error_message(), "too slow");
}

static cohort_status failed(void *arg)
{
    look_at_failed();
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void *failed_in_thread(void *arg)
{
    look_at_failed();
    return arg;
}

static cohort_status failed_and_thread(void *arg)
{
    cohort_status status = failed(arg);
    pthread_t thread = new_thread(failed_in_thread, NULL);
    end_thread(thread);
    return status;
}

TEST_CALL(fails_late, run_on(1, 3, failed_and_thread, NULL))

/* What is complete, in a scope that is cancelled, with a limit that is over, is complete; else it
 * is cancelled. */
static cohort_status ask_in_scope(void *arg)
{
    cohort_future **futures = arg; /* one that is complete, and one that never is */
    cohort_scope_cancel(cohort_scope_current());
    check_end(futures[0], 0, COHORT_WAIT_COMPLETE);
    check_end(futures[0], COHORT_NO_LIMIT, COHORT_WAIT_COMPLETE);
    check_end(futures[1], 0, COHORT_WAIT_CANCELLED);
    check_end(futures[1], MILLISECOND, COHORT_WAIT_CANCELLED);
    return COHORT_OK;
}

TEST_TASK(order, run_on(1, 3, task, NULL))
{
    cohort_promise *promises[2];
    cohort_future *futures[2];
    for (int i = 0; i < 2; i++)
        promises[i] = new_promise(&futures[i]);
    cohort_promise_fulfil(promises[0], NULL);
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, ask_in_scope, futures));
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    cohort_promise_fulfil(promises[1], NULL);
    for (int i = 0; i < 2; i++)
        CHECK_OK(cohort_await(futures[i]));
}

TEST_TASK(wrong, run_on(1, 1, task, NULL))
{
    enum cohort_wait_end end = (enum cohort_wait_end)77;
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    cohort_promise_fulfil(promise, NULL);
    CHECK_INT(cohort_wait(NULL, 0, &end), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_wait(future, 0, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(end, 77);
    CHECK_OK(cohort_await(future));
}
