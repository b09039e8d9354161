/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { MILLISECOND = 1000000 };

static void create(cohort_promise **ret_promise, cohort_future **ret_future)
{
    CHECK_INT(cohort_promise_create(ret_promise, ret_future), COHORT_OK);
}

static cohort_status fulfil(void *promise)
{
    cohort_promise_fulfil(promise, promise);
    return COHORT_OK;
}

static cohort_status suspend_until_fulfilled(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        cohort_promise *promise;
        cohort_future *future;
        void *value = NULL;
        create(&promise, &future);
        errno = i;
        cohort_fail(COHORT_ERR_FAILED, "%d", i);
        cohort_future_unref(cohort_async(fulfil, promise));
        CHECK_INT(cohort_await_value(future, &value), COHORT_OK);
        CHECK(value == promise);
        CHECK_INT(errno, i);
        /* A success leaves the message unchanged, and so does the other task. */
        CHECK_INT(cohort__error_slot()->status, COHORT_ERR_FAILED);
    }
    return cohort_fail(COHORT_ERR_GONE, "the end %s", (char *)arg);
}

static void test_suspends(void)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        CHECK_INT(run_tasks(num_workers, suspend_until_fulfilled, "x"), COHORT_ERR_GONE);
        CHECK_TEXT(cohort_error_message(), "the end x");
    }
}

static cohort_status wait_for(void *future)
{
    return cohort_await(future);
}

static cohort_status many_wait_for_one(void *arg)
{
    enum { NUM_TASKS = 200 };
    cohort_promise *promise;
    cohort_future *future;
    cohort_future *tasks[NUM_TASKS];
    create(&promise, &future);
    for (int i = 0; i < NUM_TASKS; i++)
        tasks[i] = cohort_async(wait_for, cohort_future_ref(future));
    cohort_future_unref(future);
    for (int i = 0; i < 3; i++)
        cohort_yield();
    cohort_promise_fail(promise, COHORT_ERR_NETWORK, "the one");
    for (int i = 0; i < NUM_TASKS; i++) {
        CHECK_INT(cohort_await(tasks[i]), COHORT_ERR_NETWORK);
        CHECK_TEXT(cohort_error_message(), "the one");
    }
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void test_many_wait_for_one(void)
{
    CHECK_INT(run_tasks(1, many_wait_for_one, NULL), COHORT_OK);
    CHECK_INT(run_tasks(3, many_wait_for_one, NULL), COHORT_OK);
}

/* Deeper than any stack: when there is no more room, the rest suspends. */
static cohort_status recurse(void *depth)
{
    volatile char frame[2000];
    frame[0] = frame[sizeof(frame) - 1] = 1;
    uintptr_t left = (uintptr_t)depth;
    if (left == 0)
        return cohort_fail(COHORT_ERR_FAILED, "the bottom");
    cohort_status status = cohort_await(cohort_async(recurse, (void *)(left - 1)));
    CHECK_INT(frame[0] + frame[sizeof(frame) - 1], 2);
    return status;
}

static void test_recursion_takes_more_stacks(void)
{
    for (unsigned num_workers = 1; num_workers <= 2; num_workers++) {
        CHECK_INT(run_tasks(num_workers, recurse, (void *)(uintptr_t)20000), COHORT_ERR_FAILED);
        CHECK_TEXT(cohort_error_message(), "the bottom");
    }
}

static void *await_on_a_thread(void *future)
{
    CHECK(!cohort__scheduler_in_task());
    CHECK_INT(cohort_worker_index(), -1);
    CHECK_INT(cohort_await(cohort_future_ref(future)), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "left");
    CHECK_INT(cohort_await_for(future, 10000 * (uint64_t)MILLISECOND), COHORT_ERR_GONE);
    return NULL;
}

static cohort_status foreign_threads_wait(void *arg)
{
    pthread_t threads[3];
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, await_on_a_thread, cohort_future_ref(future)),
                  0);
    cohort_future_unref(future);
    cohort_yield();
    cohort_promise_fail(promise, COHORT_ERR_GONE, "left");
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void test_foreign_threads_wait(void)
{
    CHECK_INT(run_tasks(1, foreign_threads_wait, NULL), COHORT_OK);
}

static cohort_status deadlines(void *arg)
{
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    CHECK_INT(cohort_await_for(future, 0), COHORT_ERR_TIMEOUT);
    for (int i = 0; i < 3; i++) {
        uint64_t start = cohort__clock_now();
        CHECK_INT(cohort_await_for(future, 2 * MILLISECOND), COHORT_ERR_TIMEOUT);
        CHECK(cohort__clock_now() - start >= 2 * MILLISECOND);
        CHECK_CONTAINS(cohort_error_message(), "2.000 milliseconds");
    }
    cohort_future_unref(cohort_async(fulfil, promise));
    CHECK_INT(cohort_await_for(future, UINT64_MAX), COHORT_OK);
    CHECK_INT(cohort_await_for(cohort_future_of_value(NULL), 0), COHORT_OK);
    CHECK_INT(cohort_await_for(NULL, 0), COHORT_ERR_BAD_PARAMETER);
    /* A wait with a deadline never runs a task as a call. The task still runs. */
    create(&promise, &future);
    CHECK_INT(cohort_await_for(cohort_async(fulfil, promise), UINT64_MAX), COHORT_OK);
    CHECK_INT(cohort_await(future), COHORT_OK);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void test_deadlines(void)
{
    for (unsigned num_workers = 1; num_workers <= 2; num_workers++)
        CHECK_INT(run_tasks(num_workers, deadlines, NULL), COHORT_OK);
}

static void *thread_deadline(void *future)
{
    CHECK_INT(cohort_await_for(future, MILLISECOND), COHORT_ERR_TIMEOUT);
    CHECK_INT(cohort_await_for(future, MILLISECOND), COHORT_ERR_TIMEOUT);
    return NULL;
}

static cohort_status deadline_of_a_thread(void *arg)
{
    pthread_t thread;
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    CHECK_INT(pthread_create(&thread, NULL, thread_deadline, future), 0);
    pthread_join(thread, NULL);
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(future);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void test_deadline_of_a_thread(void)
{
    CHECK_INT(run_tasks(1, deadline_of_a_thread, NULL), COHORT_OK);
}

static void test_without_the_runtime(void)
{
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    CHECK_INT(cohort_await(cohort_future_ref(future)), COHORT_ERR_STATE);
    CHECK_CONTAINS(cohort_error_message(), "not up");
    CHECK_INT(cohort_await_for(cohort_future_ref(future), 1), COHORT_ERR_STATE);
    CHECK_INT(cohort_await_for(cohort_future_ref(future), 0), COHORT_ERR_TIMEOUT);
    cohort_future_unref(future);
    cohort_promise_fulfil(promise, NULL);
    CHECK_INT(cohort_await(future), COHORT_OK);
    CHECK_INT(cohort_await(NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_async(fulfil, NULL)), COHORT_ERR_STATE);
}

static cohort_future *outside_future;
static atomic_int outside_status;

static void await_in_work(struct cohort__work *work)
{
    (void)work;
    atomic_store(&outside_status, (int)cohort_await(outside_future));
    cohort__scheduler_stop();
}

static void test_works_must_not_wait(void)
{
    struct cohort__scheduler_options options;
    struct cohort__work work = {.run = await_in_work};
    cohort_promise *promise;
    cohort__scheduler_options_init(&options);
    CHECK_INT(cohort__scheduler_start(&options, NULL), COHORT_OK);
    create(&promise, &outside_future);
    cohort__work_post(&work);
    CHECK_INT(cohort__scheduler_run(), COHORT_OK);
    CHECK_INT(atomic_load(&outside_status), COHORT_ERR_STATE);
    cohort_promise_fulfil(promise, NULL);
}

static void *fulfil_on_a_thread(void *promise)
{
    fulfil(promise);
    return NULL;
}

/* A stack larger than the address space. The wait blocks the worker, and the message says so. */
static cohort_status wait_without_a_stack(void *arg)
{
    pthread_t thread;
    cohort_promise *promise;
    cohort_future *future;
    create(&promise, &future);
    CHECK_INT(pthread_create(&thread, NULL, fulfil_on_a_thread, promise), 0);
    while (!cohort_future_ready(future))
        CHECK_INT(cohort_await(cohort_future_ref(future)), COHORT_OK);
    cohort_future_unref(future);
    pthread_join(thread, NULL);
    create(&promise, &future);
    CHECK_INT(cohort_await_for(future, MILLISECOND), COHORT_ERR_TIMEOUT);
    CHECK_INT(pthread_create(&thread, NULL, fulfil_on_a_thread, promise), 0);
    CHECK_INT(cohort_await(future), COHORT_OK);
    pthread_join(thread, NULL);
    cohort_yield();
    CHECK_CONTAINS(cohort_error_message(), "no stack of");
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void test_without_a_stack(void)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.stack_bytes = (size_t)1 << 60;
    CHECK_INT(run_tasks_with(&options, wait_without_a_stack, NULL), COHORT_OK);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"without the runtime", test_without_the_runtime},
        {"suspends", test_suspends},
        {"many wait for one", test_many_wait_for_one},
        {"recursion takes more stacks", test_recursion_takes_more_stacks},
        {"foreign threads wait", test_foreign_threads_wait},
        {"deadlines", test_deadlines},
        {"deadline of a thread", test_deadline_of_a_thread},
        {"works must not wait", test_works_must_not_wait},
        {"without a stack", test_without_a_stack},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
