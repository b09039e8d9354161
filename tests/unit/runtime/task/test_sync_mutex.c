/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "runtime/base/random.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_TASKS = 20, NUM_ROUNDS = 500, NUM_THREADS = 2, MICROSECOND = 1000 };

static cohort_mutex *create(void)
{
    cohort_mutex *mutex = NULL;
    CHECK_OK(cohort_mutex_create(&mutex));
    return mutex;
}

/* --- one at a time --- */

struct guarded {
    cohort_mutex *mutex;
    int num; /* guarded by the mutex */
    bool is_in;
    _Atomic int num_expired;
};

/* Holds the mutex across awaits; some do not wait for long. */
static void use(struct guarded *guarded, struct cohort__random *random)
{
    uint64_t limit = cohort__random_below(random, 4) == 0
                         ? cohort__random_below(random, 50) * MICROSECOND
                         : COHORT_NO_LIMIT;
    cohort_status status = cohort_mutex_lock(guarded->mutex, limit);
    if (status == COHORT_ERR_TIMEOUT) {
        guarded->num_expired++;
        return;
    }
    CHECK_OK(status);
    CHECK(!guarded->is_in);
    guarded->is_in = true;
    guarded->num++;
    if (cohort__random_below(random, 3) == 0)
        cohort_yield();
    guarded->is_in = false;
    CHECK_OK(cohort_mutex_unlock(guarded->mutex));
}

static cohort_status use_often(void *arg)
{
    struct cohort__random random = cohort__random_seeded((uint64_t)(uintptr_t)&random);
    for (int i = 0; i < NUM_ROUNDS; i++)
        use(arg, &random);
    return COHORT_OK;
}

static void *use_in_thread(void *arg)
{
    use_often(arg);
    return NULL;
}

TEST_TASK(one_at_a_time, run_on(1, 3, task, NULL))
{
    struct guarded guarded = {.mutex = create()};
    cohort_future *futures[NUM_TASKS];
    pthread_t threads[NUM_THREADS];
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(use_in_thread, &guarded);
    for (int i = 0; i < NUM_TASKS; i++)
        futures[i] = cohort_async(use_often, &guarded);
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    CHECK_INT(guarded.num + guarded.num_expired, (NUM_TASKS + NUM_THREADS) * NUM_ROUNDS);
    CHECK_OK(cohort_mutex_lock(guarded.mutex, 0));
    CHECK_OK(cohort_mutex_unlock(guarded.mutex));
    cohort_mutex_unref(guarded.mutex);
}

/* --- first come, first served --- */

struct turn {
    cohort_mutex *mutex;
    int number;
    int *next;
};

static cohort_status take_turn(void *arg)
{
    struct turn *turn = arg;
    CHECK_OK(cohort_mutex_lock(turn->mutex, COHORT_NO_LIMIT));
    CHECK_INT(*turn->next, turn->number);
    ++*turn->next;
    CHECK_OK(cohort_mutex_unlock(turn->mutex));
    /* Who has just had it comes after all who wait. */
    CHECK_OK(cohort_mutex_lock(turn->mutex, COHORT_NO_LIMIT));
    CHECK_INT(*turn->next, NUM_TASKS + turn->number);
    ++*turn->next;
    CHECK_OK(cohort_mutex_unlock(turn->mutex));
    return COHORT_OK;
}

/* With one worker, which of the tasks comes first is known. */
TEST_TASK(in_order, run_on(1, 1, task, NULL))
{
    int next = 0;
    cohort_mutex *mutex = create();
    cohort_future *futures[NUM_TASKS];
    struct turn turns[NUM_TASKS];
    CHECK_OK(cohort_mutex_lock(mutex, 0));
    for (int i = 0; i < NUM_TASKS; i++) {
        turns[i] = (struct turn){mutex, i, &next};
        futures[i] = cohort_async(take_turn, &turns[i]);
        cohort_yield();
        CHECK_INT(next, 0);
    }
    CHECK_OK(cohort_mutex_unlock(mutex));
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
    CHECK_INT(next, 2 * NUM_TASKS);
    cohort_mutex_unref(mutex);
}

/* --- mistakes --- */

static cohort_status not_mine(void *mutex)
{
    CHECK_INT(cohort_mutex_unlock(mutex), COHORT_ERR_STATE);
    CHECK_CONTAINS(
        cohort_error_message(),
        "cohort_mutex_unlock: the caller does not hold the mutex, another task or thread");
    CHECK_INT(cohort_mutex_lock(mutex, 0), COHORT_ERR_TIMEOUT);
    return COHORT_OK;
}

static cohort_status mistakes(void *arg)
{
    cohort_mutex *mutex = create();
    CHECK_FAILS(cohort_mutex_unlock(mutex), COHORT_ERR_STATE,
                "does not hold the mutex, nobody does");
    CHECK_OK(cohort_mutex_lock(mutex, COHORT_NO_LIMIT));
    CHECK_FAILS(cohort_mutex_lock(mutex, COHORT_NO_LIMIT), COHORT_ERR_STATE,
                "cohort_mutex_lock: the caller holds the mutex already");
    CHECK_OK(cohort_await(cohort_async(not_mine, mutex)));
    CHECK_OK(cohort_mutex_unlock(mutex));
    CHECK(cohort_mutex_ref(mutex) == mutex);
    cohort_mutex_unref(mutex);
    cohort_mutex_unref(mutex);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(mistakes, CHECK_OK(run_tasks(1, mistakes, NULL)))
