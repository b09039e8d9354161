/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "runtime/base/container.h"
#include "runtime/task/future.h"
#include "runtime/task/worker.h"
#include "tests/unit/runtime/task/run_tasks.h"

static cohort_status add_one(cohort_future *future, void *arg)
{
    CHECK(cohort_future_ready(future));
    void *value = NULL;
    cohort_status status = cohort_await_value(future, &value);
    ++*(int *)arg;
    return status != COHORT_OK ? cohort_fail(status, "then: %s", cohort_error_message()) : status;
}

static cohort_status chains(void *arg)
{
    cohort_future *future;
    int *count = arg;
    cohort_promise *promise = new_promise(&future);
    for (int i = 0; i < 100; i++)
        future = cohort_then(future, add_one, count);
    CHECK_INT(*count, 0);
    CHECK_INT((long long)cohort__scheduler_live_tasks(), 101);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(future));
    CHECK_INT(*count, 100);

    future = cohort_future_of_error(COHORT_ERR_GONE, "source");
    CHECK_INT(cohort_await(cohort_then(future, add_one, count)), COHORT_ERR_GONE);
    CHECK_TEXT(cohort_error_message(), "then: source");
    return COHORT_OK;
}

TEST(chains)
{
    for (unsigned num_workers = 1; num_workers <= 2; num_workers++) {
        int count = 0;
        CHECK_OK(run_tasks(num_workers, chains, &count));
    }
}

/* Is told after the task that follows has been made available. */
struct look {
    struct cohort__waiter waiter;
    bool is_hidden;
};

static void look_for_it(struct cohort__waiter *waiter)
{
    struct look *look = COHORT_CONTAINER_OF(waiter, struct look, waiter);
    look->is_hidden = cohort__deque_is_empty(&cohort__worker_self->deque);
}

static cohort_status end_at_once(void *arg)
{
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* What the end of a task starts is no prey of thieves, unless the worker goes on with another one:
 * here with the one that has awaited the task in place. */
static cohort_status follow_the_end(void *arg)
{
    for (int in_place = 0; in_place <= 1; in_place++) {
        struct look look = {.waiter = {.notify = look_for_it}};
        int num = 0;
        cohort_future *task = cohort_async(end_at_once, arg);
        cohort_future *then = cohort_then(cohort_future_ref(task), add_one, &num);
        CHECK(cohort__future_wait_with(task, &look.waiter));
        if (in_place)
            CHECK_OK(await_here(task));
        CHECK_OK(cohort_await(then));
        if (!in_place)
            CHECK_OK(cohort_await(task));
        CHECK_INT(look.is_hidden, !in_place);
        CHECK_INT(num, 1);
    }
    return COHORT_OK;
}

TEST_CALL(follower, CHECK_OK(run_tasks(1, follow_the_end, NULL)))

/* Several follow the end of one task, and wait for each other: none is kept from the others. */
struct group {
    cohort_promise *promises[8];
    cohort_future *futures[8];
    atomic_int num;
};

static cohort_status meet_others(cohort_future *future, void *arg)
{
    struct group *group = arg;
    int rank = atomic_fetch_add(&group->num, 1);
    cohort_promise_fulfil(group->promises[rank], NULL);
    for (int i = 0; i < 8; i++)
        CHECK_OK(cohort_await(cohort_future_ref(group->futures[i])));
    return cohort_await(future);
}

static cohort_status followers(void *arg)
{
    struct group group = {0};
    cohort_future *task = cohort_async(end_at_once, arg), *all[8];
    for (int i = 0; i < 8; i++)
        group.promises[i] = new_promise(&group.futures[i]);
    for (int i = 0; i < 8; i++)
        all[i] = cohort_then(cohort_future_ref(task), meet_others, &group);
    CHECK_OK(cohort_await(cohort_when_all(all, 8)));
    for (int i = 0; i < 8; i++)
        cohort_future_unref(group.futures[i]);
    return cohort_await(task);
}

TEST_CALL(several_follow, run_on(1, 3, followers, NULL))

/* What a thread outside does after the workers have ended and before the runtime has. */
static cohort_future *late_source, *late_then;

int __real_pthread_join(pthread_t thread, void **ret_result);

int __wrap_pthread_join(pthread_t thread, void **ret_result)
{
    int error = __real_pthread_join(thread, ret_result);
    if (late_source)
        late_then = cohort_then(cohort_future_ref(late_source), add_one, NULL);
    return error;
}

static cohort_status make_source(void *arg)
{
    static char value;
    late_source = cohort_future_of_value(&value);
    return COHORT_OK;
}

TEST(cancelled)
{
    CHECK_OK(run_tasks(2, make_source, NULL));
    CHECK(late_then && cohort_future_ready(late_then));
    CHECK_INT(cohort_await(late_then), COHORT_ERR_CANCELLED);
    CHECK_INT(atomic_load(&late_source->refs), 1);
    cohort_future_unref(late_source);
    late_source = NULL;
}

TEST(mistakes)
{
    CHECK_INT(cohort_await(cohort_then(NULL, add_one, NULL)), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_then(cohort_future_of_value(NULL), NULL, NULL)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_then(cohort_future_of_value(NULL), add_one, NULL)),
              COHORT_ERR_STATE);
}
