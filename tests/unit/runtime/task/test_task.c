/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdatomic.h>

#include "runtime/base/error.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

static atomic_int num_runs;

static cohort_status count(void *arg)
{
    atomic_fetch_add(&num_runs, 1);
    return arg ? cohort_fail(COHORT_ERR_FAILED, "%s", (char *)arg) : COHORT_OK;
}

TEST_TASK(statuses_and_messages, run_on(1, 2, task, NULL))
{
    CHECK_OK(cohort_await(cohort_async(count, NULL)));
    CHECK_TEXT(cohort_error_message(), "");
    CHECK_INT(cohort_await(cohort_async(count, "why")), COHORT_ERR_FAILED);
    CHECK_TEXT(cohort_error_message(), "why");
    CHECK_INT(cohort_await(cohort_async(NULL, NULL)), COHORT_ERR_BAD_PARAMETER);
}

static cohort_status fail_with_another(void *arg)
{
    cohort_fail(COHORT_ERR_NETWORK, "%s", (char *)arg);
    return COHORT_ERR_GONE;
}

static cohort_status message_of_another_status(void *arg)
{
    CHECK_INT(cohort_await(cohort_async(fail_with_another, arg)), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), cohort_status_text(COHORT_ERR_GONE));
    return COHORT_OK;
}

TEST(message_of_another_status_stays_behind)
{
    CHECK_OK(run_tasks(1, message_of_another_status, "x"));
}

/* Awaited in every order, also with twice the first capacity of the deque. */
static cohort_status orders(void *arg)
{
    enum { NUM_TASKS = 3000 };
    cohort_future **tasks = arg;
    for (int order = 0; order < 4; order++) {
        atomic_store(&num_runs, 0);
        for (int i = 0; i < NUM_TASKS; i++)
            tasks[i] = cohort_async(count, NULL);
        for (int i = 0; i < NUM_TASKS; i++) {
            int which = order == 0   ? i
                        : order == 1 ? NUM_TASKS - 1 - i
                        : order == 2 ? (i * 1009) % NUM_TASKS
                                     : (i % 2 ? i / 2 : NUM_TASKS - 1 - i / 2);
            CHECK_OK(cohort_await(tasks[which]));
        }
        CHECK_INT(atomic_load(&num_runs), NUM_TASKS);
    }
    return COHORT_OK;
}

TEST(orders)
{
    static cohort_future *tasks[3000];
    run_on(1, 3, orders, tasks);
}

/* Tasks that an await has run out of turn don't accumulate in the deque. */
static cohort_status pairs(void *arg)
{
    for (int i = 0; i < 100000; i++) {
        cohort_future *first = cohort_async(count, arg);
        cohort_future *second = cohort_async(count, arg);
        CHECK_OK(cohort_await(first));
        CHECK_OK(cohort_await(second));
    }
    return COHORT_OK;
}

TEST(pairs)
{
    atomic_store(&num_runs, 0);
    run_on(1, 2, pairs, NULL);
    CHECK_INT(atomic_load(&num_runs), 400000);
}

static cohort_status dropped(void *arg)
{
    for (int i = 0; i < 1000; i++)
        cohort_future_unref(cohort_async(count, arg));
    return COHORT_OK;
}

TEST(dropped_tasks_still_run)
{
    atomic_store(&num_runs, 0);
    CHECK_OK(run_tasks(1, dropped, NULL));
    CHECK_INT(atomic_load(&num_runs), 1000);
    CHECK_OK(run_tasks(2, dropped, NULL));
    CHECK_INT(atomic_load(&num_runs), 2000);
}

static bool flag;

static cohort_status set_flag(void *arg)
{
    flag = true;
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status yield_until_flag(void *arg)
{
    int worker = cohort_worker_index();
    CHECK(cohort__scheduler_in_task());
    flag = false;
    cohort_future *task = cohort_async(set_flag, arg);
    YIELD_WHILE(!flag);
    CHECK_INT(cohort_worker_index(), worker);
    return cohort_await(task);
}

TEST(yield_lets_others_run)
{
    CHECK_OK(run_tasks(1, yield_until_flag, NULL));
    cohort_yield();
}

static cohort_status respawn(void *arg)
{
    if (flag)
        return COHORT_OK;
    cohort_future_unref(cohort_async(respawn, arg));
    return COHORT_OK;
}

/* A task that always starts another one does not starve the older tasks, nor those that have
 * yielded. */
static cohort_status fair(void *arg)
{
    flag = false;
    cohort_future *old = cohort_async(set_flag, arg);
    cohort_future_unref(cohort_async(respawn, arg));
    cohort_yield();
    flag = true; /* also ends respawn, should it go on for ever */
    return cohort_await(old);
}

TEST_CALL(fair, CHECK_OK(run_tasks(1, fair, NULL)))

static void *spawn_on_a_thread(void *arg)
{
    for (int i = 0; i < 100; i++) {
        CHECK_INT(cohort_await(cohort_async(count, arg)), COHORT_ERR_FAILED);
        CHECK_TEXT(cohort_error_message(), arg);
    }
    return NULL;
}

static cohort_status spawn_from_threads(void *arg)
{
    pthread_t *threads = arg;
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    for (int i = 0; i < 3; i++)
        threads[i] = new_thread(spawn_on_a_thread, "from outside");
    YIELD_WHILE(atomic_load(&num_runs) < 300);
    cohort_promise_fulfil(promise, NULL);
    return cohort_await(future);
}

TEST(spawned_by_foreign_threads)
{
    pthread_t threads[3];
    for (unsigned num_workers = 1; num_workers <= 2; num_workers++) {
        atomic_store(&num_runs, 0);
        CHECK_OK(run_tasks(num_workers, spawn_from_threads, threads));
        for (int i = 0; i < 3; i++)
            end_thread(threads[i]);
    }
}

/* --- the plain call of a task that nobody else knows of, and of one that others do --- */

struct known {
    cohort_future *own;
    cohort_future *all;
};

static cohort_status tell_others(void *arg)
{
    struct known *known = arg;
    cohort_future *own = cohort_future_ref(known->own);
    known->all = cohort_when_all(&own, 1);
    return COHORT_OK;
}

static cohort_status fail_alone(void *arg)
{
    return cohort_fail(COHORT_ERR_GONE, "alone");
}

/* With several workers it may begin at any time. */
static cohort_status fail_when_told(void *arg)
{
    const atomic_bool *is_told = arg;
    while (!atomic_load(is_told))
        sched_yield();
    return cohort_fail(COHORT_ERR_GONE, "alone");
}

TEST_TASK(known_tasks, run_on(1, 2, task, NULL))
{
    struct known known;
    known.own = cohort_async(tell_others, &known);
    CHECK_OK(cohort_await(known.own));
    CHECK_OK(cohort_await(known.all));
    CHECK_INT(cohort_await(cohort_async(fail_alone, NULL)), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "alone");
    /* A waiter of this one has been forgotten, and is notified nevertheless. */
    cohort_future *pair[2];
    cohort_promise *promise = new_promise(&pair[0]);
    atomic_bool is_decided = false;
    cohort_future *task = cohort_async(fail_when_told, &is_decided);
    pair[1] = cohort_future_ref(task);
    cohort_future *any = cohort_when_any(pair, 2, NULL);
    cohort_promise_fulfil(promise, NULL);
    CHECK(cohort_future_ready(any));
    atomic_store(&is_decided, true);
    CHECK_OK(cohort_await(any));
    CHECK_INT(cohort_await(task), COHORT_ERR_GONE);
}

/* Awaited as the newest, as the oldest, and as one between; some by two that know them. */
TEST_TASK(orders_of_awaits, run_on(1, 3, task, NULL))
{
    enum { NUM = 40 };
    cohort_future *tasks[NUM];
    static const unsigned steps[] = {1, 3, 7, 39}; /* have no divisor in common with 40 */
    for (size_t s = 0; s < NUM_OF(steps); s++) {
        for (unsigned i = 0; i < NUM; i++)
            tasks[i] = cohort_async(fail_alone, NULL);
        for (unsigned i = 0; i < NUM; i++) {
            unsigned index = i * steps[s] % NUM;
            cohort_future *task = cohort_future_ref(tasks[index]);
            if (index % 2)
                cohort_future_unref(task);
            CHECK_INT(cohort_await(tasks[index]), COHORT_ERR_GONE);
            CHECK_TEXT(cohort_error_message(), "alone");
            if (index % 2 == 0) {
                CHECK(cohort_future_ready(task));
                CHECK_INT(cohort_await(task), COHORT_ERR_GONE);
            }
        }
    }
}

/* --- without memory --- */

static struct {
    atomic_int num_objects;  /* allocated and not freed */
    unsigned fails_of_three; /* so many of three allocations; one thread */
    unsigned num;
} memory;

void *__real_cohort__slab_alloc(size_t bytes);
void __real_cohort__slab_free(void *object);

void *__wrap_cohort__slab_alloc(size_t bytes)
{
    if (memory.fails_of_three > 0 && memory.fails_of_three > memory.num++ % 3)
        return NULL;
    void *object = __real_cohort__slab_alloc(bytes);
    atomic_fetch_add(&memory.num_objects, object != NULL);
    return object;
}

void __wrap_cohort__slab_free(void *object)
{
    atomic_fetch_sub(&memory.num_objects, object != NULL);
    __real_cohort__slab_free(object);
}

static cohort_status count_after(cohort_future *source, void *arg)
{
    cohort_future_unref(source);
    return count(arg);
}

static cohort_future *spawn_after(void)
{
    unsigned fails = memory.fails_of_three;
    memory.fails_of_three = 0;
    cohort_future *source = cohort_future_of_value(&num_runs);
    memory.fails_of_three = fails;
    return cohort_then(source, count_after, NULL);
}

static cohort_future *spawn(int way)
{
    cohort_task_options options = {.stack_bytes = 64 * 1024};
    switch (way) {
    case 0:
        return cohort_async(count, NULL);
    case 1:
        return cohort_async_with(count, NULL, &options);
    default:
        return spawn_after();
    }
}

/* A task for which there is no memory fails, and does not run. It is not counted, so the scheduler
 * ends, and nothing of it is left. The others run. */
static cohort_status spawn_without_memory(void *arg)
{
    enum { NUM = 30 };
    cohort_future *tasks[NUM];
    unsigned fails = *(unsigned *)arg;
    for (int way = 0; way < 3; way++) {
        int num_failed = 0, num_ready = 0;
        atomic_store(&num_runs, 0);
        memory.num = 0;
        memory.fails_of_three = fails;
        for (int i = 0; i < NUM; i++)
            tasks[i] = spawn(way);
        memory.fails_of_three = 0;
        for (int i = 0; i < NUM; i++)
            num_ready += cohort_future_ready(tasks[i]);
        CHECK_INT(num_ready, (int)fails * NUM / 3);
        for (int i = 0; i < NUM; i++) {
            cohort_status status = cohort_await(tasks[i]);
            CHECK(status == COHORT_OK || status == COHORT_ERR_NO_MEMORY);
            if (status == COHORT_ERR_NO_MEMORY)
                CHECK(cohort_error_message()[0]);
            num_failed += status == COHORT_ERR_NO_MEMORY;
        }
        CHECK_INT(num_failed, (int)fails * NUM / 3);
        CHECK_INT(atomic_load(&num_runs), NUM - num_failed);
    }
    return COHORT_OK;
}

TEST(without_memory)
{
    for (unsigned fails = 1; fails <= 3; fails++) {
        int before = atomic_load(&memory.num_objects);
        CHECK_OK(run_tasks(1, spawn_without_memory, &fails));
        CHECK_INT(atomic_load(&memory.num_objects), before);
    }
}
