/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "runtime/base/random.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_PERMITS = 3, NUM_TASKS = 20, NUM_ROUNDS = 300, NUM_THREADS = 2, MICROSECOND = 1000 };

struct pool {
    cohort_semaphore *semaphore;
    _Atomic int num_inside;
};

static cohort_status use_often(void *arg)
{
    struct pool *pool = arg;
    struct cohort__random random = cohort__random_seeded((uint64_t)(uintptr_t)&random);
    for (int i = 0; i < NUM_ROUNDS; i++) {
        uint64_t limit = cohort__random_below(&random, 3) == 0
                             ? cohort__random_below(&random, 50) * MICROSECOND
                             : COHORT_NO_LIMIT;
        cohort_status status = cohort_semaphore_acquire(pool->semaphore, limit);
        CHECK(status == COHORT_OK || status == COHORT_ERR_TIMEOUT);
        if (status != COHORT_OK)
            continue;
        CHECK(atomic_fetch_add(&pool->num_inside, 1) < NUM_PERMITS);
        cohort_yield();
        atomic_fetch_sub(&pool->num_inside, 1);
        CHECK_OK(cohort_semaphore_release(pool->semaphore, 1));
    }
    return COHORT_OK;
}

static void *use_in_thread(void *arg)
{
    use_often(arg);
    return NULL;
}

/* At the end all permits are there: none is lost to those whose time has passed. */
static cohort_status permits(void *arg)
{
    struct pool pool = {0};
    cohort_future *futures[NUM_TASKS];
    pthread_t threads[NUM_THREADS];
    CHECK_OK(cohort_semaphore_create(0, &pool.semaphore));
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(use_in_thread, &pool);
    for (int i = 0; i < NUM_TASKS; i++)
        futures[i] = cohort_async(use_often, &pool);
    CHECK_OK(cohort_semaphore_release(pool.semaphore, NUM_PERMITS));
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    for (int i = 0; i < NUM_PERMITS; i++)
        CHECK_OK(cohort_semaphore_acquire(pool.semaphore, 0));
    CHECK_INT(cohort_semaphore_acquire(pool.semaphore, 0), COHORT_ERR_TIMEOUT);
    cohort_semaphore_unref(pool.semaphore);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(permits, run_on(1, 3, permits, NULL))

/* First come, first served. */

enum { NUM_WAITERS = 5 };

static struct {
    cohort_semaphore *semaphore;
    int num_waiting, num_served;
} line;

static cohort_status wait_in_line(void *arg)
{
    int place = line.num_waiting++;
    CHECK_OK(cohort_semaphore_acquire(line.semaphore, COHORT_NO_LIMIT));
    CHECK_INT(line.num_served++, place);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_TASK(in_order, run_on(1, 1, task, NULL))
{
    cohort_future *futures[NUM_WAITERS];
    CHECK_OK(cohort_semaphore_create(0, &line.semaphore));
    line.num_waiting = line.num_served = 0;
    for (int i = 0; i < NUM_WAITERS; i++)
        futures[i] = cohort_async(wait_in_line, NULL);
    YIELD_WHILE(line.num_waiting < NUM_WAITERS);
    for (int i = 0; i < NUM_WAITERS; i += 2)
        CHECK_OK(cohort_semaphore_release(line.semaphore, 2));
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_WAITERS)));
    CHECK_OK(cohort_semaphore_acquire(line.semaphore, 0));
    cohort_semaphore_unref(line.semaphore);
}

/* Scopes are cancelled while permits are given to those who wait in them: none is lost. */

static cohort_status use_until_cancelled(void *arg)
{
    struct pool *pool = arg;
    while (!cohort_cancelled()) {
        cohort_status status = cohort_semaphore_acquire(pool->semaphore, COHORT_NO_LIMIT);
        if (status)
            return status;
        cohort_yield();
        CHECK_OK(cohort_semaphore_release(pool->semaphore, 1));
    }
    return COHORT_OK;
}

TEST_TASK(cancelled, run_on(1, 3, task, NULL))
{
    struct pool pool = {0};
    CHECK_OK(cohort_semaphore_create(NUM_PERMITS, &pool.semaphore));
    for (int round = 0; round < NUM_ROUNDS; round++) {
        cohort_scope *scope = new_scope();
        for (int i = 0; i < NUM_TASKS / 2; i++)
            CHECK_OK(cohort_scope_async(scope, use_until_cancelled, &pool));
        for (int i = 0; i < round % 40; i++)
            cohort_yield();
        cohort_scope_cancel(scope);
        CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    }
    for (int i = 0; i < NUM_PERMITS; i++)
        CHECK_OK(cohort_semaphore_acquire(pool.semaphore, 0));
    CHECK_INT(cohort_semaphore_acquire(pool.semaphore, 0), COHORT_ERR_TIMEOUT);
    cohort_semaphore_unref(pool.semaphore);
}

TEST(too_many)
{
    cohort_semaphore *semaphore;
    CHECK_OK(cohort_semaphore_create(UINT64_MAX - 1, &semaphore));
    CHECK_INT(cohort_semaphore_release(semaphore, 2), COHORT_ERR_BAD_PARAMETER);
    CHECK_OK(cohort_semaphore_release(semaphore, 1));
    cohort_semaphore_unref(semaphore);
}
