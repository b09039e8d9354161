/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* What all objects of cohort/sync.h have in common: each kind is brought into a state in which a
 * call has to wait. */

enum { MILLISECOND = 1000000 };

struct object {
    cohort_mutex *mutex;
    cohort_condition *condition;
    cohort_semaphore *semaphore;
    cohort_latch *latch;
    cohort_local_barrier *barrier;
    cohort_queue *full, *empty;
};

/* In a task that holds the mutex until close. */
static void open_all(struct object *all)
{
    CHECK_OK(cohort_mutex_create(&all->mutex));
    CHECK_OK(cohort_condition_create(&all->condition));
    CHECK_OK(cohort_semaphore_create(0, &all->semaphore));
    CHECK_OK(cohort_latch_create(1, &all->latch));
    CHECK_OK(cohort_local_barrier_create(2, &all->barrier));
    CHECK_OK(cohort_queue_create(1, &all->full));
    CHECK_OK(cohort_queue_create(1, &all->empty));
    CHECK_OK(cohort_queue_put(all->full, all, 0));
    CHECK_OK(cohort_mutex_lock(all->mutex, 0));
}

static void close_all(struct object *all)
{
    CHECK_OK(cohort_mutex_unlock(all->mutex));
    cohort_mutex_unref(all->mutex);
    cohort_condition_unref(all->condition);
    cohort_semaphore_unref(all->semaphore);
    cohort_latch_unref(all->latch);
    cohort_local_barrier_unref(all->barrier);
    cohort_queue_unref(all->full);
    cohort_queue_unref(all->empty);
}

static cohort_status lock(struct object *all, uint64_t limit)
{
    return cohort_mutex_lock(all->mutex, limit);
}

static cohort_status wait_for_signal(struct object *all, uint64_t limit)
{
    cohort_mutex *mutex;
    CHECK_OK(cohort_mutex_create(&mutex));
    CHECK_OK(cohort_mutex_lock(mutex, 0));
    cohort_status status = cohort_condition_wait(all->condition, mutex, limit);
    CHECK_OK(cohort_mutex_unlock(mutex)); /* it is held however that has ended */
    cohort_mutex_unref(mutex);
    return status;
}

static cohort_status acquire(struct object *all, uint64_t limit)
{
    return cohort_semaphore_acquire(all->semaphore, limit);
}

static cohort_status wait_for_latch(struct object *all, uint64_t limit)
{
    return cohort_latch_wait(all->latch, limit);
}

static cohort_status come(struct object *all, uint64_t limit)
{
    bool is_last = true;
    cohort_status status = cohort_local_barrier_wait(all->barrier, limit, &is_last);
    CHECK_INT(is_last, status != COHORT_OK);
    return status;
}

static cohort_status put(struct object *all, uint64_t limit)
{
    return cohort_queue_put(all->full, NULL, limit);
}

static cohort_status get(struct object *all, uint64_t limit)
{
    void *item = all;
    cohort_status status = cohort_queue_get(all->empty, &item, limit);
    CHECK(item == all);
    return status;
}

static const struct kind {
    const char *function;
    cohort_status (*wait)(struct object *all, uint64_t limit);
} kinds[] = {
    {"cohort_mutex_lock", lock},
    {"cohort_condition_wait", wait_for_signal},
    {"cohort_semaphore_acquire", acquire},
    {"cohort_latch_wait", wait_for_latch},
    {"cohort_local_barrier_wait", come},
    {"cohort_queue_put", put},
    {"cohort_queue_get", get},
};
enum { NUM_KINDS = NUM_OF(kinds) };

static void check_failed(const struct kind *kind, cohort_status status, cohort_status expected,
                         const char *what)
{
    CHECK_FAILS(status, expected, kind->function);
    CHECK_CONTAINS(cohort_error_message(), what);
}

/* --- limits --- */

static void expire(struct object *all)
{
    for (int i = 0; i < NUM_KINDS; i++) {
        check_failed(&kinds[i], kinds[i].wait(all, 0), COHORT_ERR_TIMEOUT, "not within 0.000");
        check_failed(&kinds[i], kinds[i].wait(all, MILLISECOND / 2), COHORT_ERR_TIMEOUT,
                     "not within 0.500 milliseconds");
    }
}

static void *expire_in_thread(void *all)
{
    expire(all);
    return NULL;
}

static cohort_status expire_in_task(void *all)
{
    expire(all);
    return COHORT_OK;
}

static cohort_status limits(void *arg)
{
    struct object all;
    open_all(&all);
    CHECK_OK(cohort_await(cohort_async(expire_in_task, &all)));
    pthread_t thread = new_thread(expire_in_thread, &all);
    end_thread(thread);
    close_all(&all);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(limits, run_on(1, 2, limits, NULL))

/* --- cancelling --- */

struct one {
    struct object *all;
    const struct kind *kind;
    uint64_t limit;
    cohort_status expected;
    const char *what;
    _Atomic int *num_ended;
};

static cohort_status wait_as(void *arg)
{
    struct one *one = arg;
    check_failed(one->kind, one->kind->wait(one->all, one->limit), one->expected, one->what);
    /* The next one, too. */
    if (one->expected == COHORT_ERR_CANCELLED)
        check_failed(one->kind, one->kind->wait(one->all, one->limit), one->expected, one->what);
    ++*one->num_ended;
    return COHORT_OK;
}

static cohort_status cancelling(void *arg)
{
    struct object all;
    struct one ones[2 * NUM_KINDS];
    _Atomic int num_ended = 0;
    open_all(&all);
    cohort_scope *scope = new_scope();
    for (int i = 0; i < 2 * NUM_KINDS; i++) {
        ones[i] = (struct one){.all = &all,
                               .kind = &kinds[i % NUM_KINDS],
                               .limit = i < NUM_KINDS ? COHORT_NO_LIMIT
                                                      : 3600 * (uint64_t)1000 * MILLISECOND,
                               .expected = COHORT_ERR_CANCELLED,
                               .what = "its scope was cancelled: cohort_scope_cancel was called",
                               .num_ended = &num_ended};
        if (ones[i].kind->wait == come && i >= NUM_KINDS)
            ones[i].kind = &kinds[0]; /* two would go on */
        CHECK_OK(cohort_scope_async(scope, wait_as, &ones[i]));
    }
    for (int i = 0; i < 100; i++)
        cohort_yield(); /* most of them wait */
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK(num_ended > 0 || arg);
    close_all(&all);
    return COHORT_OK;
}

TEST_CALL(cancelling, run_on(1, 3, cancelling, NULL))

/* --- given back --- */

TEST_TASK(given_back, run_on(1, 1, task, NULL))
{
    struct object all;
    _Atomic int num_ended = 0;
    open_all(&all);
    for (int i = 1; i < NUM_KINDS; i++) {
        struct one one = {.all = &all,
                          .kind = &kinds[i],
                          .limit = COHORT_NO_LIMIT,
                          .expected = COHORT_ERR_GONE,
                          .what = "closed or given back by others",
                          .num_ended = &num_ended};
        cohort_future *future = cohort_async(wait_as, &one);
        for (int j = 0; j < 100; j++)
            cohort_yield();
        if (one.kind->wait == wait_for_signal)
            cohort_condition_unref(all.condition);
        else if (one.kind->wait == acquire)
            cohort_semaphore_unref(all.semaphore);
        else if (one.kind->wait == wait_for_latch)
            cohort_latch_unref(all.latch);
        else if (one.kind->wait == come)
            cohort_local_barrier_unref(all.barrier);
        else if (one.kind->wait == put)
            cohort_queue_unref(all.full);
        else
            cohort_queue_unref(all.empty);
        CHECK_OK(cohort_await(future));
        CHECK_INT(num_ended, i);
    }
    CHECK_OK(cohort_mutex_unlock(all.mutex));
    cohort_mutex_unref(all.mutex);
}

/* --- mistakes, and what needs no runtime --- */

TEST(mistakes)
{
    void *item;
    cohort_queue *queue;
    CHECK_INT(cohort_mutex_create(NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_condition_create(NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_semaphore_create(1, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_latch_create(1, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_local_barrier_create(1, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_queue_create(1, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_queue_create(0, &queue), COHORT_ERR_BAD_PARAMETER);
    if (!COHORT__ASAN && !COHORT__TSAN) /* which end the program */
        CHECK_INT(cohort_queue_create(SIZE_MAX / 8, &queue), COHORT_ERR_NO_MEMORY);
    CHECK_INT(cohort_mutex_lock(NULL, 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_mutex_unlock(NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_condition_wait(NULL, NULL, 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_semaphore_acquire(NULL, 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_semaphore_release(NULL, 1), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_latch_count_down(NULL, 1), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_latch_wait(NULL, 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_local_barrier_wait(NULL, 0, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_queue_put(NULL, NULL, 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_queue_get(NULL, &item, 0), COHORT_ERR_BAD_PARAMETER);
    cohort_condition_signal(NULL);
    cohort_condition_broadcast(NULL);
    cohort_queue_close(NULL);
    cohort_mutex_unref(NULL);
    cohort_condition_unref(NULL);
    cohort_semaphore_unref(NULL);
    cohort_latch_unref(NULL);
    cohort_local_barrier_unref(NULL);
    cohort_queue_unref(NULL);
    CHECK(!cohort_mutex_ref(NULL) && !cohort_condition_ref(NULL) && !cohort_semaphore_ref(NULL));
    CHECK(!cohort_latch_ref(NULL) && !cohort_local_barrier_ref(NULL) && !cohort_queue_ref(NULL));
}
