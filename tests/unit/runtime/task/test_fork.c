/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/fork.h"

#include <sys/wait.h>
#include <unistd.h>

#include "cohort/task_local.h"
#include "tests/support/await_within.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { UNREACHED = 77 };

static void check_child(pid_t child, int exit_status)
{
    int status;
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), exit_status);
}

static cohort_status no_task(void *arg)
{
    return COHORT_OK;
}

static cohort_status no_continuation(cohort_future *future, void *arg)
{
    cohort_future_unref(future);
    return COHORT_OK;
}

static void check_refused(cohort_future *future, const char *message)
{
    CHECK_INT(cohort_await(future), COHORT_ERR_STATE);
    CHECK_TEXT(cohort_error_message(), message);
}

static void be_child(void)
{
    cohort_future *future;
    CHECK(cohort__fork_is_child());
    check_refused(cohort_async(no_task, NULL),
                  "cohort_async: in a process that was forked, which has no runtime");
    check_refused(cohort_then(cohort_future_of_value(NULL), no_continuation, NULL),
                  "cohort_then: in a process that was forked, which has no runtime");
    check_refused(cohort__fork_refused("it"),
                  "it: in a process that was forked, which has no runtime");
    cohort_promise *promise = new_promise(&future);
    CHECK_FAILS(await_within(cohort_future_ref(future), 1), COHORT_ERR_STATE,
                "cohort_wait: in a process that was forked");
    check_refused(future, "cohort_await: in a process that was forked, which has no runtime");
    cohort_promise_fulfil(promise, NULL);
    cohort_yield();
    CHECK_INT(cohort_worker_index(), -1);
}

/* ARG: what the child returns. */
static cohort_status fork_and_return(void *arg)
{
    const cohort_status *status = arg;
    pid_t child = fork();
    if (child == 0) {
        be_child();
        return *status;
    }
    check_child(child, *status ? 1 : 0);
    CHECK(!cohort__fork_is_child());
    return cohort_await(cohort_async(no_task, NULL));
}

/* A child does not run tasks that were started before the fork. */
static cohort_status exit_with_unreached(void *arg)
{
    const pid_t *parent = arg;
    if (getpid() != *parent)
        _exit(UNREACHED);
    return COHORT_OK;
}

static cohort_status fork_beside_others(void *arg)
{
    pid_t parent = getpid();
    cohort_future *others[10];
    for (int i = 0; i < 10; i++)
        others[i] = cohort_async(exit_with_unreached, &parent);
    pid_t child = fork();
    if (child == 0) {
        cohort_yield();
        check_refused(others[9], "cohort_await: in a process that was forked, which has no "
                                 "runtime");
        return COHORT_OK;
    }
    check_child(child, 0);
    for (int i = 0; i < 10; i++)
        CHECK_OK(cohort_await(others[i]));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(task)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers += 2) {
        CHECK_OK(run_tasks(num_workers, fork_and_return, &(cohort_status){COHORT_OK}));
        CHECK_OK(run_tasks(num_workers, fork_and_return, &(cohort_status){COHORT_ERR_FAILED}));
    }
    CHECK_OK(run_tasks(1, fork_beside_others, NULL));
}

static void *fork_outside(void *arg)
{
    pid_t child = fork();
    if (child == 0) {
        be_child();
        _exit(0);
    }
    check_child(child, 0);
    return arg;
}

static cohort_status start_thread(void *arg)
{
    pthread_t thread = new_thread(fork_outside, arg);
    end_thread(thread);
    return COHORT_OK;
}

TEST_CALL(thread_outside, CHECK_OK(run_tasks(2, start_thread, NULL)))

/* In a task's child cohort_blocking is a plain call; a child that is forked in its function ends
 * with that, and has not the values of the task. */
static cohort_task_local *key;

static cohort_status be_called(void *arg)
{
    CHECK(cohort__fork_is_child());
    CHECK_INT(getpid(), *(pid_t *)arg);
    return cohort_fail(COHORT_ERR_GONE, "called");
}

static cohort_status call_in_child(void *arg)
{
    pid_t child = fork();
    if (child == 0) {
        pid_t self = getpid();
        CHECK_INT(cohort_blocking(be_called, &self), COHORT_ERR_GONE);
        CHECK_TEXT(cohort_error_message(), "called");
        return COHORT_OK;
    }
    check_child(child, 0);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status fork_and_leave(void *arg)
{
    const cohort_status *status = arg;
    CHECK(cohort_task_local_get(key) == arg);
    pid_t child = fork();
    if (child == 0) {
        CHECK(!cohort_task_local_get(key));
        be_child();
        return *status;
    }
    check_child(child, *status ? 1 : 0);
    CHECK(cohort_task_local_get(key) == arg);
    return *status;
}

static cohort_status fork_in_function(void *arg)
{
    CHECK_OK(cohort_task_local_create(NULL, &key));
    CHECK_OK(cohort_task_local_set(key, arg));
    CHECK_INT(cohort_blocking(fork_and_leave, arg), *(cohort_status *)arg);
    cohort_task_local_unref(key);
    return COHORT_OK;
}

TEST(blocking)
{
    CHECK_OK(run_tasks(2, call_in_child, NULL));
    CHECK_OK(run_tasks(2, fork_in_function, &(cohort_status){COHORT_OK}));
    CHECK_OK(run_tasks(2, fork_in_function, &(cohort_status){COHORT_ERR_FAILED}));
}

/* A child of a process without a running runtime may start one. */
TEST(not_up)
{
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            CHECK(!cohort__fork_is_child());
            CHECK_INT(cohort_await(cohort_async(no_task, NULL)), COHORT_ERR_STATE);
            CHECK_TEXT(cohort_error_message(), "cohort_async: the runtime is not up");
            CHECK_OK(run_tasks(1, no_task, NULL));
            _exit(0);
        }
        check_child(child, 0);
        CHECK_OK(run_tasks(1, no_task, NULL));
    }
}
