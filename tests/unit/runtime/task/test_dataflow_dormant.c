/* SPDX-License-Identifier: Apache-2.0 */

#include "cohort/cohort.h"
#include "runtime/base/sanitizer.h"
#include "runtime/task/future.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* Tasks in a scope that wait for inputs, the last of which is `open`. */

enum { NUM_INPUTS = 3, DEEP = 10000, NUM_ROUNDS = COHORT__TSAN ? 200 : 2000, NUM_LEFT = 1000 };

static _Atomic int num_calls;

static cohort_status count_then(cohort_future *future, void *arg)
{
    num_calls++;
    return cohort_await(future);
}

static cohort_status count_flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    *ret_value = NULL;
    num_calls++;
    return COHORT_OK;
}

/* One that waits for FUTURE. */
typedef cohort_future *begin_function(cohort_future *future);

static cohort_future *begin_then(cohort_future *future)
{
    return cohort_then(future, count_then, NULL);
}

static cohort_future *begin_flow(cohort_future *future)
{
    return cohort_dataflow(&future, 1, count_flow, NULL);
}

static cohort_future *begin_wide_flow(cohort_future *future)
{
    cohort_future *inputs[NUM_INPUTS] = {cohort_future_of_value(NULL), future,
                                         cohort_future_ref(future)};
    return cohort_dataflow(inputs, NUM_INPUTS, count_flow, NULL);
}

static begin_function *const begins[] = {begin_then, begin_flow, begin_wide_flow};
enum { NUM_KINDS = NUM_OF(begins) };

struct round {
    begin_function *begin;
    cohort_promise *promise;
    cohort_future *open;
    cohort_future *result;
    cohort_scope *scope;
    size_t depth;
};

static cohort_status begin(void *arg)
{
    struct round *round = arg;
    cohort_future *future = cohort_future_ref(round->open);
    for (size_t i = 0; i < round->depth; i++)
        future = round->begin(future);
    __atomic_store_n(&round->result, future, __ATOMIC_RELEASE);
    return COHORT_OK;
}

static bool is_begun(struct round *round)
{
    return __atomic_load_n(&round->result, __ATOMIC_ACQUIRE) != NULL;
}

/* FUNCTION calls begin, unless LIMIT has come already. */
static void start(struct round *round, cohort_task_function *function, uint64_t limit)
{
    num_calls = 0;
    round->result = NULL;
    if (!round->open)
        round->promise = new_promise(&round->open);
    CHECK_OK(
        cohort_scope_create(&(cohort_scope_options){.limit_nanoseconds = limit}, &round->scope));
    cohort_status status = cohort_scope_async(round->scope, function, round);
    CHECK(status == COHORT_OK || (limit > 0 && status == COHORT_ERR_CANCELLED));
}

/* What began no more has given its references back: those of the test and of the promise stay. */
static void finish_open(struct round *round)
{
    CHECK(!cohort_future_ready(round->open));
    CHECK_INT(atomic_load(&round->open->refs), 2);
    cohort_promise_fulfil(round->promise, NULL);
    CHECK_OK(cohort_await(round->open));
}

TEST_TASK(called, run_on(1, 2, task, NULL))
{
    for (int i = 0; i < NUM_KINDS; i++)
        for (size_t depth = 1; depth <= 100; depth *= 100) {
            struct round round = {.begin = begins[i], .depth = depth};
            start(&round, begin, 0);
            cohort_promise_fulfil(round.promise, NULL);
            CHECK_OK(cohort_scope_await(round.scope));
            CHECK_INT(num_calls, (long long)depth);
            CHECK_OK(cohort_await(round.result));
            CHECK_OK(cohort_await(round.open));
        }
}

/* The inputs stay open: what ends the scope is its cancelling, or its limit. */
TEST_TASK(given_up, run_on(1, 2, task, NULL))
{
    for (int i = 0; i < NUM_KINDS; i++)
        for (size_t depth = 1; depth <= DEEP; depth *= DEEP)
            for (int has_limit = 0; has_limit < 2; has_limit++) {
                struct round round = {.begin = begins[i], .depth = depth};
                start(&round, begin, has_limit ? 1000000 : 0);
                if (!has_limit) {
                    YIELD_WHILE(!is_begun(&round));
                    cohort_scope_cancel(round.scope);
                }
                CHECK_INT(cohort_scope_await(round.scope),
                          has_limit ? COHORT_ERR_TIMEOUT : COHORT_ERR_CANCELLED);
                CHECK_INT(num_calls, 0);
                if (round.result) { /* the limit may have come before */
                    CHECK_FAILS(cohort_await(round.result), COHORT_ERR_CANCELLED,
                                "task: its scope was cancelled: ");
                }
                finish_open(&round);
            }
}

static cohort_status cancel_here(void *arg)
{
    struct round *round = arg;
    cohort_scope_cancel(round->scope);
    return begin(round);
}

/* It begins in a scope that is cancelled already. */
TEST_TASK(late, run_on(1, 1, task, NULL))
{
    for (int i = 0; i < NUM_KINDS; i++) {
        struct round round = {.begin = begins[i], .depth = 1};
        start(&round, cancel_here, 0);
        CHECK_INT(cohort_scope_await(round.scope), COHORT_ERR_CANCELLED);
        CHECK_INT(num_calls, 0);
        CHECK_INT(cohort_await(round.result), COHORT_ERR_CANCELLED);
        finish_open(&round);
    }
}

static void *fulfil(void *arg)
{
    struct round *round = arg;
    while (!is_begun(round))
        sched_yield();
    cohort_promise_fulfil(round->promise, NULL);
    return NULL;
}

/* The inputs complete while the scope is cancelled: it is called, or given up. */
TEST_TASK(race, run_on(2, 2, task, NULL))
{
    pthread_t thread;
    for (int i = 0; i < NUM_ROUNDS; i++) {
        struct round round = {.begin = begins[i % NUM_KINDS], .depth = 1};
        start(&round, begin, 0);
        thread = new_thread(fulfil, &round);
        for (int yields = i % 7; yields > 0 || !is_begun(&round); yields--)
            cohort_yield();
        cohort_scope_cancel(round.scope);
        CHECK_INT(cohort_scope_await(round.scope), COHORT_ERR_CANCELLED);
        cohort_status status = cohort_await(round.result);
        CHECK_INT(status, num_calls == 1 ? COHORT_OK : COHORT_ERR_CANCELLED);
        end_thread(thread);
        CHECK_INT(atomic_load(&round.open->refs), 1);
        CHECK_OK(cohort_await(round.open));
    }
}

/* Nobody else uses FUTURE. */
static size_t num_waiters(cohort_future *future)
{
    size_t num = 0;
    uintptr_t state = (uintptr_t)atomic_load(&future->state);
    for (struct cohort__waiter *waiter = (void *)(state & ~(uintptr_t)3); waiter;
         waiter = waiter->next)
        num++;
    return num;
}

/* What one long-lived input was waited for by leaves nothing behind. */
TEST_TASK(leaves_nothing, run_on(1, 1, task, NULL))
{
    struct round round = {.depth = 1};
    for (int i = 0; i < NUM_LEFT; i++) {
        round.begin = begins[i % NUM_KINDS];
        start(&round, cancel_here, 0);
        CHECK_INT(cohort_scope_await(round.scope), COHORT_ERR_CANCELLED);
        CHECK_INT(cohort_await(round.result), COHORT_ERR_CANCELLED);
        CHECK(num_waiters(round.open) <= 32);
    }
    finish_open(&round);
}
