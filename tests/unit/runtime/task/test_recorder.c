/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/recorder.h"

#include "runtime/task/worker.h"
#include "tests/unit/runtime/task/run_tasks.h"

static void run(cohort_task_function *function)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    run_tasks_with(&options, function, NULL);
}

/* The record BEFORE the one that is to be written next. */
static const struct cohort__record *last(int before)
{
    const struct cohort__recorder *recorder = &cohort__worker_self->recorder;
    return &recorder->next[-before];
}

static int num_written(void)
{
    const struct cohort__recorder *recorder = &cohort__worker_self->recorder;
    return (int)(recorder->next - recorder->records);
}

static cohort_status fulfil(void *arg)
{
    cohort_promise_fulfil(arg, NULL);
    return COHORT_OK;
}

/* Returns the future that it has awaited, whose memory is given back already. */
__attribute__((noinline)) static const cohort_future *suspend(void)
{
    cohort_promise *promise;
    cohort_future *future;
    CHECK_INT(cohort_promise_create(&promise, &future), COHORT_OK);
    const cohort_future *awaited = future;
    cohort_future *task = cohort_async(fulfil, promise);
    CHECK_INT(cohort_await(future), COHORT_OK);
    CHECK_INT(cohort_await(task), COHORT_OK);
    return awaited;
}

/* Whether CALLER is in FUNCTION, which is short. */
static bool is_in(const void *caller, const cohort_future *(*function)(void))
{
    return (uintptr_t)caller > (uintptr_t)function &&
           (uintptr_t)caller < (uintptr_t)function + 4096;
}

static cohort_status records(void *arg)
{
    (void)arg;
    CHECK_INT(num_written(), 0);
    const cohort_future *first = suspend(), *second = suspend();
    CHECK_INT(num_written(), 2);
    CHECK(last(2)->future == first && last(1)->future == second);
    CHECK(last(2)->at > 0 && last(2)->at < last(1)->at);
    CHECK(last(1)->caller == last(2)->caller && is_in(last(1)->caller, suspend));
    return COHORT_OK;
}

static void test_records(void)
{
    run(records);
}

static cohort_status nothing(void *arg)
{
    (void)arg;
    return COHORT_OK;
}

static cohort_status without_suspending(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        CHECK_INT(cohort_await(cohort_future_of_value(NULL)), COHORT_OK);
    CHECK_INT(num_written(), 0);
    return COHORT_OK;
}

static void test_without_suspending(void)
{
    run(without_suspending);
}

static cohort_status wrap(void *arg)
{
    (void)arg;
    const cohort_future *awaited = NULL;
    for (int i = 0; i < COHORT__NUM_RECORDS + 1; i++)
        awaited = suspend();
    CHECK_INT(num_written(), 1);
    CHECK(last(1)->future == awaited);
    for (int i = 1; i < COHORT__NUM_RECORDS; i++)
        CHECK(cohort__worker_self->recorder.records[i].caller == last(1)->caller);
    return COHORT_OK;
}

static void test_wraps(void)
{
    run(wrap);
}

static cohort_status yield(void *arg)
{
    (void)arg;
    cohort_future *task = cohort_async(nothing, NULL);
    cohort_yield();
    CHECK_INT(num_written(), 1);
    CHECK(!last(1)->future && last(1)->caller);
    return cohort_await(task);
}

static void test_yield(void)
{
    run(yield);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"records", test_records},
        {"without suspending", test_without_suspending},
        {"wraps", test_wraps},
        {"yield", test_yield},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
