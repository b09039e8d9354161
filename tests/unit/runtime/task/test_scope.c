/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "cohort/cohort.h"
#include "runtime/base/clock.h"
#include "runtime/base/random.h"
#include "runtime/base/sanitizer.h"
#include "runtime/task/scope.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum {
    MILLISECOND = 1000000,
    MANY = COHORT__TSAN ? 50 : 200,
    NUM_ROUNDS = COHORT__TSAN ? 3 : 20,
};

static _Atomic int num_run, num_cancelled;

static cohort_scope *create(uint64_t limit)
{
    cohort_scope *scope = NULL;
    CHECK_OK(cohort_scope_create(&(cohort_scope_options){.limit_nanoseconds = limit}, &scope));
    return scope;
}

static void start(cohort_scope *scope, cohort_task_function *function, void *arg)
{
    CHECK_OK(cohort_scope_async(scope, function, arg));
}

static void run(cohort_task_function *function, void *arg)
{
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        num_run = num_cancelled = 0;
        CHECK_OK(run_tasks(num_workers, function, arg));
    }
}

/* --- waits for all --- */

static cohort_status count(void *arg)
{
    cohort_yield();
    num_run++;
    return COHORT_OK;
}

static cohort_status count_then(cohort_future *future, void *arg)
{
    cohort_future_unref(future);
    return count(arg);
}

static cohort_status count_index(size_t index, void *arg)
{
    return count(arg);
}

/* Starts tasks in every way, and leaves them. */
static cohort_status spawner(void *arg)
{
    cohort_future_unref(cohort_async(count, arg));
    cohort_future_unref(cohort_then(cohort_async(count, arg), count_then, arg));
    cohort_future_unref(cohort_parallel_for(0, 10, NULL, count_index, arg));
    cohort_future_unref(
        cohort_async_with(count, arg, &(cohort_task_options){.stack_bytes = 65536}));
    start(arg, count, arg);
    return COHORT_OK;
}

TEST_TASK(all_are_awaited, run(task, NULL))
{
    for (int i = 0; i < NUM_ROUNDS; i++) {
        num_run = 0;
        cohort_scope *scope = create(0);
        for (int j = 0; j < MANY; j++)
            start(scope, spawner, scope);
        CHECK_OK(cohort_scope_await(scope));
        CHECK_INT(num_run, MANY * 15);
    }
    CHECK_OK(cohort_scope_await(create(0)));
}

/* --- the first error --- */

static cohort_status wait_for_ever(void *never)
{
    enum cohort_wait_end end;
    CHECK_OK(cohort_wait(never, COHORT_NO_LIMIT, &end));
    CHECK_INT(end, COHORT_WAIT_CANCELLED);
    CHECK(cohort_cancelled());
    /* And so does each later one. */
    CHECK_OK(cohort_wait(never, 3600 * (uint64_t)1000 * MILLISECOND, &end));
    CHECK_INT(end, COHORT_WAIT_CANCELLED);
    CHECK_OK(cohort_wait(never, 0, &end));
    CHECK_INT(end, COHORT_WAIT_CANCELLED);
    num_cancelled++;
    return cohort_fail(COHORT_ERR_GONE, "a later error");
}

static cohort_status fail(void *arg)
{
    YIELD_WHILE(num_run < MANY);
    return cohort_fail(COHORT_ERR_FAILED, "it broke");
}

static cohort_status count_and_wait(void *never)
{
    num_run++;
    return wait_for_ever(never);
}

TEST_TASK(first_error, run(task, NULL))
{
    cohort_future *never;
    num_run = num_cancelled = 0;
    cohort_promise *promise = new_promise(&never);
    cohort_scope *scope = create(0);
    for (int i = 0; i < MANY; i++)
        start(scope, count_and_wait, never);
    start(scope, fail, NULL);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_FAILED);
    CHECK_TEXT(cohort_error_message(), "it broke");
    CHECK_INT(num_cancelled, MANY);
    CHECK(!cohort_cancelled());
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(never));
}

/* --- what has not started never runs --- */

static cohort_status must_not_run(void *arg)
{
    CHECK(!"this runs");
    return COHORT_OK;
}

static cohort_status must_not_follow(cohort_future *future, void *arg)
{
    cohort_future_unref(future);
    return must_not_run(arg);
}

static cohort_status must_not_run_index(size_t index, void *arg)
{
    return must_not_run(arg);
}

static cohort_status one_status(cohort_future *future, cohort_status status, const char *what)
{
    CHECK_FAILS(cohort_await(future), status, what);
    return COHORT_OK;
}

/* With one worker, so what it starts has not begun when it cancels. */
static cohort_status cancel_then_start(void *arg)
{
    cohort_scope *scope = arg;
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    start(scope, must_not_run, NULL);
    cohort_future *task = cohort_async(must_not_run, NULL);
    cohort_future *then = cohort_then(cohort_future_ref(future), must_not_follow, NULL);
    cohort_future *range = cohort_parallel_for(0, 10, NULL, must_not_run_index, NULL);
    cohort_scope_cancel(scope);
    CHECK(cohort_cancelled());
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(future));
    CHECK_FAILS(cohort_scope_async(scope, must_not_run, NULL), COHORT_ERR_CANCELLED,
                "cohort_scope_cancel was called");
    one_status(task, COHORT_ERR_CANCELLED, "its scope was cancelled: cohort_scope_cancel");
    one_status(then, COHORT_ERR_CANCELLED, "its scope was cancelled");
    one_status(range, COHORT_ERR_CANCELLED, "its scope was cancelled");
    return COHORT_OK;
}

TEST_TASK(not_started, run_on(1, 1, task, NULL))
{
    cohort_scope *scope = create(0);
    start(scope, cancel_then_start, scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK_TEXT(cohort_error_message(), "cohort_scope_cancel was called");
}

/* A range of which some indices have run. */
static cohort_status cancel_at_5(size_t index, void *arg)
{
    num_run++;
    if (index == 5)
        cohort_scope_cancel(arg);
    cohort_yield(); /* so that what is left goes to another part */
    return COHORT_OK;
}

static cohort_status range_in(void *scope)
{
    return one_status(cohort_parallel_for(0, 1000000, NULL, cancel_at_5, scope),
                      COHORT_ERR_CANCELLED, "cohort_parallel_for: not all indices have begun");
}

TEST_TASK(range, run(task, NULL))
{
    cohort_scope *scope = create(0);
    start(scope, range_in, scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK(num_run >= 6 && num_run < 1000000);
}

/* --- limits --- */

static cohort_status limit(void *arg)
{
    cohort_future *never;
    cohort_promise *promise = new_promise(&never);
    cohort_scope *scope = create(2 * MILLISECOND);
    cohort_status status = cohort_scope_async(scope, wait_for_ever, never);
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED); /* the limit has come already */
    CHECK_FAILS(cohort_scope_await(scope), COHORT_ERR_TIMEOUT, "limit of 2.000 milliseconds");
    scope = create(3600 * (uint64_t)1000 * MILLISECOND);
    start(scope, count, NULL);
    CHECK_OK(cohort_scope_await(scope));
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(never);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(limit, run(limit, NULL))

/* --- nesting --- */

struct nested {
    cohort_future *never;
    int depth;
};

static cohort_status nest(void *arg)
{
    struct nested *nested = arg, inner = {nested->never, nested->depth - 1};
    cohort_scope *scope = create(0);
    if (inner.depth == 0) {
        num_run++;
        start(scope, wait_for_ever, nested->never);
    } else {
        start(scope, nest, &inner);
    }
    cohort_status status = cohort_scope_await(scope);
    CHECK_FAILS(status, COHORT_ERR_CANCELLED, "the scope around it was cancelled: ");
    return status;
}

static cohort_status nesting(void *arg)
{
    struct nested nested = {.depth = 50};
    cohort_promise *promise = new_promise(&nested.never);
    num_run = 0;
    cohort_scope *scope = create(0);
    start(scope, nest, &nested);
    YIELD_WHILE(num_run == 0);
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK_TEXT(cohort_error_message(), "cohort_scope_cancel was called");
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(nested.never);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(nesting, run(nesting, NULL))

/* One that is created in a cancelled scope is cancelled. */
static cohort_status create_late(void *arg)
{
    cohort_scope_cancel(arg);
    cohort_scope *scope = create(0);
    CHECK_INT(cohort_scope_async(scope, must_not_run, NULL), COHORT_ERR_CANCELLED);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    return COHORT_OK;
}

static cohort_status leave_scopes(void *arg)
{
    for (int i = 0; i < 3; i++) {
        cohort_scope *scope = create(0);
        start(scope, wait_for_ever, arg);
        start(scope, count, NULL);
    }
    return COHORT_OK;
}

static cohort_status say_why(void *scope)
{
    CHECK_INT(cohort_scope_fail(scope, COHORT_ERR_NETWORK, "the %s broke", "line"),
              COHORT_ERR_NETWORK);
    CHECK_TEXT(cohort_error_message(), "the line broke");
    CHECK(cohort_cancelled());
    CHECK_INT(cohort_scope_fail(scope, COHORT_ERR_GONE, "too late"), COHORT_ERR_GONE);
    return COHORT_OK;
}

TEST_TASK(fails_by_call, run(task, NULL))
{
    cohort_scope *scope = create(0);
    start(scope, say_why, scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_NETWORK);
    CHECK_TEXT(cohort_error_message(), "the line broke");
}

TEST_TASK(left, run(task, NULL))
{
    cohort_future *never;
    cohort_scope *scope = create(0);
    start(scope, create_late, scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);

    cohort_promise *promise = new_promise(&never);
    scope = create(0);
    start(scope, leave_scopes, never);
    CHECK_FAILS(cohort_scope_await(scope), COHORT_ERR_STATE,
                "has created another scope, and nobody has awaited");
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(never);
}

/* --- nested deeply, without a stack for each --- */

struct deep {
    size_t depth, num_created;
    cohort_promise *promise; /* fulfilled in the innermost one */
};

/* Creates the scopes one inside of the other. The tasks end, but for the first one, so that none of
 * the scopes does. */
static cohort_status go_deeper(void *arg)
{
    struct deep *deep = arg;
    cohort_future *done = NULL;
    if (deep->num_created == 0)
        deep->promise = new_promise(&done);
    if (deep->num_created++ < deep->depth)
        start(create(0), go_deeper, deep);
    else
        cohort_promise_fulfil(deep->promise, NULL);
    return done ? cohort_await(done) : COHORT_OK;
}

static cohort_status leave_deep(void *arg)
{
    struct deep deep = {.depth = *(size_t *)arg};
    cohort_scope *scope = create(0);
    start(scope, go_deeper, &deep);
    CHECK_FAILS(cohort_scope_await(scope), COHORT_ERR_STATE,
                "has created another scope, and nobody has awaited");
    return COHORT_OK;
}

/* As deep as what a stack had no room for, and 10 and 100 times as deep. */
TEST(left_and_nested_deeply)
{
    enum { DEEP = 3000 };
    for (size_t depth = DEEP; depth <= test_rounds(100, 10) * DEEP; depth *= 10)
        run(leave_deep, &depth);
}

enum { NUM_AROUND = 1000 };
static cohort_scope *around[NUM_AROUND];

/* Creates them one inside of the other. The innermost task knows which it is in, and which not. */
static cohort_status know_around(void *arg)
{
    size_t depth = (size_t)(uintptr_t)arg;
    cohort_scope *beside = create(0), *inside;
    cohort_status status;
    around[depth] = cohort_scope_current();
    if (depth + 1 < NUM_AROUND) {
        inside = create(0);
        start(inside, know_around, (void *)(uintptr_t)(depth + 1));
        CHECK_OK(cohort_scope_await(inside));
    } else {
        for (size_t i = 0; i < NUM_AROUND; i++) {
            status = cohort_scope_await(around[i]);
            CHECK_FAILS(status, COHORT_ERR_STATE, "called by a task in the scope");
        }
    }
    CHECK_OK(cohort_scope_await(beside));
    return COHORT_OK;
}

static cohort_status around_are_known(void *arg)
{
    cohort_scope *scope = create(0);
    start(scope, know_around, arg);
    CHECK_OK(cohort_scope_await(scope));
    return COHORT_OK;
}

TEST_CALL(knows_those_around, run(around_are_known, NULL))

/* --- nobody awaits it --- */

static cohort_scope *lost_scope;

static cohort_status disk_is_full(void *arg)
{
    cohort_yield();
    return cohort_fail(COHORT_ERR_FAILED, "disk is full");
}

static cohort_status lose(void *arg)
{
    lost_scope = create(0);
    start(lost_scope, arg ? disk_is_full : count, NULL);
    return COHORT_OK;
}

static cohort_status lose_inside(void *arg)
{
    cohort_scope *scope = create(0);
    start(scope, disk_is_full, arg);
    YIELD_WHILE(!cohort__scope_is_cancelled(scope));
    return COHORT_OK;
}

static cohort_status lose_in_scope(void *arg)
{
    cohort_scope *scope = create(0);
    start(scope, lose_inside, arg);
    CHECK_FAILS(cohort_scope_await(scope), COHORT_ERR_STATE,
                "nobody has awaited that, which has failed: disk is");
    return COHORT_OK;
}

/* Neither the scope nor the one inside is awaited; only that one has failed. */
static cohort_status lose_two(void *arg)
{
    lost_scope = create(0);
    start(lost_scope, lose_inside, arg);
    return COHORT_OK;
}

/* What is said on standard error while FUNCTION(ARG) runs as the first task. */
static void run_telling(cohort_task_function *function, void *arg, char *text, size_t capacity)
{
    int ends[2], real_stderr = dup(STDERR_FILENO);
    CHECK_INT(pipe(ends), 0);
    CHECK(dup2(ends[1], STDERR_FILENO) >= 0);
    cohort_status status = run_tasks(1, function, arg);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    close(ends[1]);
    ssize_t bytes = read(ends[0], text, capacity - 1);
    close(ends[0]);
    CHECK(bytes >= 0);
    text[bytes] = 0;
    CHECK_OK(status);
}

TEST(lost)
{
    char text[2048];
    run_telling(lose, &text, text, sizeof(text));
    CHECK_CONTAINS(text, "cohort: the scope that was created at ");
    CHECK_CONTAINS(text, "test_task_scope"); /* or the one with tasks that move */
    CHECK_CONTAINS(text, "nobody had awaited it when the runtime ended: ");
    CHECK_CONTAINS(text, "COHORT_ERR_FAILED: disk is full\n");
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);

    /* It can still be awaited, and is not told again. */
    cohort_scope *scope = lost_scope;
    run_telling(lose, NULL, text, sizeof(text));
    CHECK_TEXT(text, "");
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_FAILED);
    CHECK_TEXT(cohort_error_message(), "disk is full");
    CHECK_OK(cohort_scope_await(lost_scope));

    run_telling(lose_in_scope, NULL, text, sizeof(text));
    CHECK_TEXT(text, "");

    run_telling(lose_two, NULL, text, sizeof(text));
    CHECK_CONTAINS(text, "COHORT_ERR_FAILED: disk is full\n");
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
    CHECK_FAILS(cohort_scope_await(lost_scope), COHORT_ERR_STATE,
                "nobody has awaited that, which has failed: disk is");
}

/* --- threads outside, many at once --- */

static void *cancel_it(void *scope)
{
    cohort_scope_cancel(scope);
    return NULL;
}

static void *use_scopes(void *never)
{
    struct cohort__random random = cohort__random_seeded(1);
    for (int i = 0; i < 10 * NUM_ROUNDS; i++) {
        pthread_t thread;
        cohort_scope *scope = create(0);
        int num = (int)cohort__random_below(&random, 8);
        bool is_cancelled = cohort__random_below(&random, 2) == 0;
        for (int j = 0; j < num; j++)
            start(scope, is_cancelled ? wait_for_ever : count, never);
        if (is_cancelled)
            thread = new_thread(cancel_it, scope);
        if (is_cancelled && num == 0)
            end_thread(thread);
        CHECK_INT(cohort_scope_await(scope), is_cancelled ? COHORT_ERR_CANCELLED : COHORT_OK);
        if (is_cancelled && num > 0)
            end_thread(thread);
    }
    return NULL;
}

TEST_TASK(threads_outside, run_on(2, 2, task, NULL))
{
    pthread_t threads[2];
    cohort_future *never;
    cohort_promise *promise = new_promise(&never);
    for (int i = 0; i < 2; i++)
        threads[i] = new_thread(use_scopes, never);
    for (int i = 0; i < 2; i++)
        end_thread(threads[i]);
    cohort_promise_fulfil(promise, NULL);
    cohort_future_unref(never);
}

/* --- mistakes --- */

static cohort_status await_own(void *scope)
{
    CHECK_FAILS(cohort_scope_await(scope), COHORT_ERR_STATE,
                "cohort_scope_await: called by a task in the scope");
    cohort_scope *inner = create(0);
    CHECK_OK(cohort_scope_await(inner));
    return COHORT_OK;
}

struct outsider {
    cohort_scope *scope;
    cohort_promise *promise;
};

/* By a task outside, while the scope is being awaited. */
static cohort_status from_outside(void *arg)
{
    struct outsider *outsider = arg;
    CHECK_FAILS(cohort_scope_async(outsider->scope, must_not_run, NULL), COHORT_ERR_STATE,
                "only tasks in it may start more");
    CHECK_FAILS(cohort_scope_await(outsider->scope), COHORT_ERR_STATE, "is being awaited already");
    cohort_promise_fulfil(outsider->promise, NULL);
    return COHORT_OK;
}

static cohort_status await_plainly(void *future)
{
    return cohort_await(future);
}

static cohort_status mistakes(void *arg)
{
    struct outsider outsider;
    cohort_future *future;
    cohort_scope *scope = create(0);
    start(scope, await_own, scope);
    CHECK_OK(cohort_scope_await(scope));
    outsider.promise = new_promise(&future);
    outsider.scope = create(0);
    start(outsider.scope, await_plainly, future);
    cohort_future *other = cohort_async(from_outside, &outsider);
    CHECK_OK(cohort_scope_await(outsider.scope));
    CHECK_OK(cohort_await(other));
    CHECK_INT(cohort_scope_async(NULL, count, NULL), COHORT_ERR_BAD_PARAMETER);
    scope = create(0);
    CHECK_INT(cohort_scope_async(scope, NULL, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_OK(cohort_scope_await(scope));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(mistakes)
{
    cohort_scope *scope = NULL;
    CHECK_INT(cohort_scope_create(NULL, &scope), COHORT_ERR_STATE);
    CHECK(!scope);
    CHECK_INT(cohort_scope_create(NULL, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_scope_await(NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_scope_async(NULL, count, NULL), COHORT_ERR_BAD_PARAMETER);
    cohort_scope_cancel(NULL);
    CHECK(!cohort_cancelled());
    CHECK_OK(run_tasks(1, mistakes, NULL));
}
