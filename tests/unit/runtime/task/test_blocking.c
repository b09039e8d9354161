/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "runtime/task/blocking.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_CALLS = 500, LIMIT = 3 };

/* The linker puts this before pthread_create (--wrap). */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *arg);
static atomic_bool has_no_threads;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *arg)
{
    return has_no_threads ? EAGAIN : __real_pthread_create(thread, attributes, function, arg);
}

static sem_t has_begun, may_end;
static _Atomic int num_calls, num_inside, most_inside;

static cohort_status block(void *arg)
{
    sigset_t blocked;
    CHECK_INT(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    CHECK(sigismember(&blocked, SIGTERM) == 0); /* as in the task */
    CHECK_INT(cohort_worker_index(), -1);
    CHECK(!cohort_cancelled());
    sem_post(&has_begun);
    while (sem_wait(&may_end) != 0)
        CHECK_INT(errno, EINTR);
    return arg ? cohort_fail(COHORT_ERR_FAILED, "%s", (const char *)arg) : COHORT_OK;
}

static cohort_status call(void *arg)
{
    return cohort_blocking(block, arg);
}

/* While the function blocks, the only worker goes on with the task that lets it end. */
static cohort_status goes_on(void *arg)
{
    cohort_future *good = cohort_async(call, NULL);
    cohort_future *bad = cohort_async(call, "out of paper");
    cohort_yield();
    CHECK(!cohort_future_ready(good));
    CHECK(!cohort_future_ready(bad));
    sem_post(&may_end);
    sem_post(&may_end);
    CHECK_OK(cohort_await(good));
    CHECK_INT(cohort_await(bad), COHORT_ERR_FAILED);
    CHECK_TEXT(cohort_error_message(), "out of paper");
    CHECK_FAILS(cohort_blocking(NULL, NULL), COHORT_ERR_BAD_PARAMETER,
                "cohort_blocking: function is NULL");
    return COHORT_OK;
}

TEST(goes_on)
{
    CHECK_OK(run_tasks(1, goes_on, NULL));
    CHECK_OK(run_tasks(2, goes_on, NULL)); /* a scheduler has threads of its own */
}

static cohort_status count(void *arg)
{
    int inside = ++num_inside, most = most_inside;
    while (inside > most && !atomic_compare_exchange_weak(&most_inside, &most, inside))
        ;
    num_calls++;
    sched_yield();
    num_inside--;
    return (uintptr_t)arg % 7 == 0 ? COHORT_ERR_TIMEOUT : COHORT_OK; /* without a message */
}

static cohort_status call_count(void *arg)
{
    cohort_status status = cohort_blocking(count, arg);
    if (status)
        CHECK_TEXT(cohort_error_message(),
                   "cohort_blocking: the function returned COHORT_ERR_TIMEOUT");
    CHECK_INT(status, (uintptr_t)arg % 7 == 0 ? COHORT_ERR_TIMEOUT : COHORT_OK);
    return COHORT_OK;
}

static cohort_status calls(void *arg)
{
    cohort_future *futures[NUM_CALLS];
    for (uintptr_t i = 0; i < NUM_CALLS; i++)
        futures[i] = cohort_async(call_count, (void *)(i + 1));
    return cohort_await(cohort_when_all(futures, NUM_CALLS));
}

TEST(many)
{
    for (unsigned num_workers = 1; num_workers <= 4; num_workers++) {
        struct cohort__scheduler_options options;
        cohort__scheduler_options_init(&options);
        options.num_workers = num_workers;
        options.blocking_threads = LIMIT;
        num_calls = most_inside = 0;
        CHECK_OK(run_tasks_with(&options, calls, NULL));
        CHECK_INT(num_calls, NUM_CALLS);
        CHECK(most_inside >= 1 && most_inside <= LIMIT);
    }
}

/* Functions begin in the order of the calls: with one thread, in exactly that one. */
static cohort_status in_order(void *arg)
{
    CHECK_INT(num_calls++, (long long)(uintptr_t)arg);
    return COHORT_OK;
}

static cohort_status call_in_order(void *arg)
{
    return cohort_blocking(in_order, arg);
}

static cohort_status fail(void *text)
{
    return text ? cohort_fail(COHORT_ERR_FAILED, "%s", (const char *)text) : COHORT_ERR_FAILED;
}

static cohort_status line_up(void *arg)
{
    enum { NUM = 20 };
    CHECK_INT(cohort_blocking(fail, "the first"), COHORT_ERR_FAILED);
    CHECK_TEXT(cohort_error_message(), "the first");
    CHECK_INT(cohort_blocking(fail, NULL), COHORT_ERR_FAILED); /* and not in its words */
    CHECK_TEXT(cohort_error_message(), "cohort_blocking: the function returned COHORT_ERR_FAILED");
    cohort_future *futures[NUM];
    for (uintptr_t i = 0; i < NUM; i++) {
        futures[i] = cohort_async(call_in_order, (void *)i);
        cohort_yield(); /* it has called */
    }
    return cohort_await(cohort_when_all(futures, NUM));
}

TEST(order)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.blocking_threads = 1;
    num_calls = 0;
    CHECK_OK(run_tasks_with(&options, line_up, NULL));
}

/* What has begun ends, what has not is not called. */
static atomic_bool has_ended;

static cohort_status call_and_end(void *arg)
{
    CHECK_OK(cohort_blocking(block, arg));
    has_ended = true;
    return COHORT_OK;
}

static cohort_status cancel(void *arg)
{
    has_ended = false;
    cohort_scope *scope = new_scope();
    while (sem_trywait(&has_begun) == 0)
        ; /* of the cases before */
    CHECK_OK(cohort_scope_async(scope, call_and_end, NULL));
    cohort_yield();
    while (sem_wait(&has_begun) != 0)
        CHECK_INT(errno, EINTR);
    cohort_scope_cancel(scope);
    cohort_yield();
    CHECK(!has_ended);
    sem_post(&may_end);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK(has_ended);
    return COHORT_OK;
}

static cohort_status call_cancelled(void *scope)
{
    cohort_scope_cancel(scope);
    CHECK_FAILS(cohort_blocking(count, NULL), COHORT_ERR_CANCELLED,
                "cohort_blocking: the scope is cancelled");
    has_ended = true;
    return COHORT_OK;
}

static cohort_status cancel_before(void *arg)
{
    has_ended = false;
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, call_cancelled, scope));
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK(has_ended);
    return COHORT_OK;
}

/* The only thread is busy when the scope is cancelled in which another call waits for it. The scope
 * ends before that thread is free. */
static cohort_status call_queued(void *arg)
{
    CHECK_INT(cohort_blocking(count, arg), COHORT_ERR_CANCELLED);
    CHECK_TEXT(cohort_error_message(), "cohort_blocking: the scope is cancelled");
    return COHORT_OK;
}

static cohort_status cancel_queued(void *arg)
{
    cohort_future *busy = cohort_async(call, NULL), *next = cohort_async(call, NULL);
    cohort_yield();
    cohort_scope *scope = new_scope();
    for (int i = 0; i < 3; i++)
        CHECK_OK(cohort_scope_async(scope, call_queued, NULL));
    cohort_yield();
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK(!cohort_future_ready(busy));
    sem_post(&may_end);
    sem_post(&may_end);
    CHECK_OK(cohort_await(busy));
    CHECK_OK(cohort_await(next));
    return COHORT_OK;
}

/* --- the function is in the scope of its task --- */

static cohort_scope *scope_of_task;
static atomic_bool has_waited;

static cohort_status late(void *arg)
{
    for (int i = 0; i < 100; i++)
        cohort_yield();
    num_calls++;
    return COHORT_OK;
}

static cohort_status late_then(cohort_future *future, void *arg)
{
    cohort_future_unref(future);
    return late(arg);
}

static cohort_status late_index(size_t index, void *arg)
{
    return late(arg);
}

static cohort_status late_flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    return late(arg);
}

static cohort_status start_some(void *arg)
{
    cohort_future *done = cohort_future_of_value(NULL);
    CHECK(cohort_scope_current() == scope_of_task);
    CHECK(!cohort_cancelled());
    cohort_future_unref(cohort_async(late, arg));
    cohort_future_unref(cohort_then(cohort_future_ref(done), late_then, arg));
    cohort_future_unref(cohort_dataflow(&done, 1, late_flow, arg));
    cohort_future_unref(cohort_parallel_for(0, 10, NULL, late_index, arg));
    CHECK_OK(cohort_scope_async(scope_of_task, late, arg));
    CHECK_INT(cohort_scope_await(scope_of_task), COHORT_ERR_STATE);
    cohort_scope *inside = new_scope();
    CHECK_OK(cohort_scope_async(inside, late, arg));
    CHECK_OK(cohort_scope_await(inside));
    return COHORT_OK;
}

static cohort_status call_starting(void *arg)
{
    return cohort_blocking(start_some, arg);
}

static cohort_status holds_all(void *arg)
{
    scope_of_task = new_scope();
    CHECK_OK(cohort_scope_async(scope_of_task, call_starting, arg));
    CHECK_OK(cohort_scope_await(scope_of_task));
    CHECK_INT(num_calls, 15);
    CHECK(!cohort_scope_current());
    return COHORT_OK;
}

/* It waits for what never comes, by a function that ends as cancelled, and then looks. */
static cohort_status wait_there(void *never)
{
    enum cohort_wait_end end;
    sem_post(&has_begun);
    CHECK_OK(cohort_wait(never, COHORT_NO_LIMIT, &end));
    CHECK_INT(end, COHORT_WAIT_CANCELLED);
    CHECK(cohort_cancelled());
    CHECK_INT(cohort_await(cohort_async(late, NULL)), COHORT_ERR_CANCELLED);
    has_waited = true;
    return COHORT_OK;
}

static cohort_status call_waiting(void *never)
{
    return cohort_blocking(wait_there, never);
}

static cohort_status is_cancelled_there(void *arg)
{
    cohort_promise *promise;
    cohort_future *never;
    for (int has_limit = 0; has_limit < 2; has_limit++) {
        promise = new_promise(&never);
        CHECK_OK(cohort_scope_create(
            &(cohort_scope_options){.limit_nanoseconds = has_limit ? 10000000 : 0},
            &scope_of_task));
        has_waited = false;
        while (sem_trywait(&has_begun) == 0)
            ; /* of the cases before */
        cohort_status status = cohort_scope_async(scope_of_task, call_waiting, never);
        CHECK(status == COHORT_OK || (has_limit && status == COHORT_ERR_CANCELLED));
        cohort_yield();
        if (!has_limit) {
            while (sem_wait(&has_begun) != 0)
                CHECK_INT(errno, EINTR);
            cohort_scope_cancel(scope_of_task);
        }
        CHECK_INT(cohort_scope_await(scope_of_task),
                  has_limit ? COHORT_ERR_TIMEOUT : COHORT_ERR_CANCELLED);
        CHECK(has_waited || has_limit);
        cohort_promise_fulfil(promise, NULL);
        CHECK_OK(cohort_await(never));
    }
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(scope)
{
    for (unsigned num_workers = 1; num_workers <= 2; num_workers++) {
        num_calls = 0;
        CHECK_OK(run_tasks(num_workers, holds_all, NULL));
        CHECK_OK(run_tasks(num_workers, is_cancelled_there, NULL));
    }
}

TEST(cancel)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.blocking_threads = 1;
    num_calls = 0;
    CHECK_OK(run_tasks_with(&options, cancel_queued, NULL));
    CHECK_OK(run_tasks(1, cancel, NULL));
    CHECK_OK(run_tasks(1, cancel_before, NULL));
    CHECK_INT(num_calls, 0);
}

static cohort_status without_threads(void *arg)
{
    has_no_threads = true;
    CHECK_FAILS(cohort_blocking(count, (void *)1), COHORT_ERR_NO_MEMORY,
                "cohort_blocking: no thread: ");
    has_no_threads = false;
    CHECK_OK(cohort_blocking(count, (void *)1));
    has_no_threads = true; /* the one that there is does it */
    cohort_status status = calls(NULL);
    has_no_threads = false;
    return status;
}

TEST(no_threads)
{
    num_calls = most_inside = 0;
    CHECK_OK(run_tasks(1, without_threads, NULL));
    CHECK_INT(num_calls, NUM_CALLS + 1);
    CHECK_INT(most_inside, 1);
}

TEST(options)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.blocking_threads = 0;
    CHECK_INT(cohort__scheduler_start(&options, NULL), COHORT_ERR_BAD_PARAMETER);
    options.blocking_threads = COHORT__MAX_BLOCKING_THREADS + 1;
    CHECK_FAILS(cohort__scheduler_start(&options, NULL), COHORT_ERR_BAD_PARAMETER,
                "scheduler: 1025 blocking threads, not 1 to 1024");
}

/* What the runtime calls outside of tasks has nothing that could suspend. */
static void block_in_work(struct cohort__work *work)
{
    int before = num_calls;
    CHECK_INT(cohort_worker_index(), 0);
    CHECK_OK(cohort_blocking(count, (void *)1));
    CHECK_INT(num_calls, before + 1);
}

static cohort_status post_work(void *arg)
{
    static struct cohort__work work = {.run = block_in_work};
    cohort__work_post(&work);
    cohort_yield();
    return COHORT_OK;
}

TEST(outside)
{
    num_calls = 0;
    CHECK_OK(cohort_blocking(count, (void *)1));
    CHECK_INT(num_calls, 1);
    CHECK_OK(run_tasks(1, post_work, NULL));
    CHECK_INT(num_calls, 2);
}

int main(int argc, char **argv)
{
    CHECK_INT(sem_init(&has_begun, 0, 0), 0);
    CHECK_INT(sem_init(&may_end, 0, 0), 0);
    return tests_run(argc, argv);
}
