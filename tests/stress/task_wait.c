/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that are ended by another worker or by a thread outside the scheduler, early or late. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "runtime/base/batch_queue.h"
#include "runtime/base/random.h"
#include "tests/support/await_within.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum {
    NUM_WORKERS = 8,
    NUM_TASKS = 30,
    NUM_THREADS = 3,
    SEED = 4711,
};

/* With a sanitizer one of 24. */
static int rounds(int all)
{
    return (int)test_rounds((uint64_t)all, (uint64_t)all / 24);
}

/* Threads outside the scheduler, to which tasks hand promises. */
struct request {
    struct cohort__batch_queue_node node; /* first */
    cohort_promise *promise;
    bool is_failure;
};
static struct cohort__batch_queue requests;
static atomic_bool is_over;

static void *fulfil_requests(void *arg)
{
    while (!atomic_load(&is_over)) {
        struct cohort__batch_queue_node *node = cohort__batch_queue_take(&requests);
        if (!node)
            sched_yield();
        while (node) {
            struct request request = *(struct request *)node; /* its owner may continue now */
            node = node->next;
            if (request.is_failure)
                cohort_promise_fail(request.promise, COHORT_ERR_GONE, "thread %s", (char *)arg);
            else
                cohort_promise_fulfil(request.promise, request.promise);
        }
    }
    return NULL;
}

static cohort_future *request(struct request *request, bool is_failure)
{
    cohort_future *future;
    request->promise = new_promise(&future);
    request->is_failure = is_failure;
    cohort__batch_queue_push(&requests, &request->node);
    return future;
}

static cohort_status ask_threads(void *seed)
{
    int worker = cohort_worker_index();
    struct cohort__random random = cohort__random_seeded((uintptr_t)seed);
    for (int i = 0, num = rounds(20000); i < num; i++) {
        struct request own;
        bool is_failure = cohort__random_below(&random, 4) == 0;
        cohort_status status = cohort_await(request(&own, is_failure));
        CHECK_INT(status, is_failure ? COHORT_ERR_GONE : COHORT_OK);
        if (is_failure)
            CHECK_TEXT(cohort_error_message(), "thread x");
        if (!TASKS_MOVE)
            CHECK_INT(cohort_worker_index(), worker);
    }
    return COHORT_OK;
}

static cohort_status run_all(void *function)
{
    cohort_task_function **task = function;
    cohort_future *futures[NUM_TASKS];
    for (uintptr_t i = 0; i < NUM_TASKS; i++)
        futures[i] = cohort_async(*task, (void *)(SEED + i));
    return cohort_await(cohort_when_all(futures, NUM_TASKS));
}

static void with_threads(void *(*thread_function)(void *), void *arg, cohort_task_function *task)
{
    fprintf(stderr, "seed %d\n", SEED);
    for (unsigned num_workers = 1; num_workers <= NUM_WORKERS; num_workers *= 8) {
        pthread_t threads[NUM_THREADS];
        atomic_store(&is_over, false);
        for (int i = 0; i < NUM_THREADS; i++)
            threads[i] = new_thread(thread_function, arg);
        CHECK_OK(run_tasks(num_workers, run_all, &task));
        atomic_store(&is_over, true);
        for (int i = 0; i < NUM_THREADS; i++)
            end_thread(threads[i]);
    }
}

TEST_CALL(threads_fulfil, with_threads(fulfil_requests, "x", ask_threads))

/* --- threads that use the scheduler while it starts and stops --- */

static cohort_status nothing(void *arg)
{
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

static void *spawn_all_the_time(void *arg)
{
    while (!atomic_load(&is_over)) {
        cohort_status status = cohort_await(cohort_async(nothing, arg));
        CHECK(status == COHORT_OK || status == COHORT_ERR_STATE || status == COHORT_ERR_CANCELLED);
        (void)cohort__scheduler_live_tasks();
        sched_yield();
    }
    return NULL;
}

TEST(threads_spawn_while_it_stops)
{
    pthread_t threads[NUM_THREADS];
    atomic_store(&is_over, false);
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(spawn_all_the_time, NULL);
    for (int i = 0, num = rounds(1500); i < num; i++)
        CHECK_OK(run_tasks(1 + (unsigned)i % 3, nothing, NULL));
    atomic_store(&is_over, true);
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
}

/* --- races between endings --- */

static cohort_status race_deadlines(void *seed)
{
    struct cohort__random random = cohort__random_seeded((uintptr_t)seed);
    for (int i = 0, num = rounds(1000); i < num; i++) {
        struct request own;
        cohort_future *future = request(&own, false);
        cohort_status status;
        do
            status = await_within(future, 1 + cohort__random_below(&random, 60000));
        while (status == COHORT_ERR_TIMEOUT);
        CHECK_OK(status);
    }
    return COHORT_OK;
}

TEST_CALL(deadlines, with_threads(fulfil_requests, "x", race_deadlines))

static cohort_status race_any(void *seed)
{
    enum { LARGEST = 6 };
    struct cohort__random random = cohort__random_seeded((uintptr_t)seed);
    for (int i = 0, num = rounds(6000); i < num; i++) {
        struct request own[LARGEST];
        cohort_future *futures[LARGEST];
        cohort_future *kept[LARGEST];
        size_t count = 1 + cohort__random_below(&random, LARGEST);
        size_t index = LARGEST;
        for (size_t k = 0; k < count; k++) {
            futures[k] = request(&own[k], k % 2 == 1);
            kept[k] = cohort_future_ref(futures[k]);
        }
        cohort_status status = cohort_await(cohort_when_any(futures, count, &index));
        CHECK(index < count);
        CHECK_INT(status, index % 2 == 1 ? COHORT_ERR_GONE : COHORT_OK);
        CHECK(cohort_future_ready(kept[index]));
        status = cohort_await(cohort_when_all(kept, count));
        CHECK_INT(status, count > 1 ? COHORT_ERR_GONE : COHORT_OK);
    }
    return COHORT_OK;
}

TEST_CALL(any, with_threads(fulfil_requests, "x", race_any))

/* The same future takes part in a race for some, in a stream, and as an input. */
static cohort_status take_inputs(void *const *values, size_t count, void **ret_value, void *arg)
{
    for (size_t i = 0; i < count; i++)
        CHECK(values[i] == ((cohort_promise **)arg)[i]);
    *ret_value = arg;
    return COHORT_OK;
}

enum { MOST_COMBINED = 6 };

static void check_stream(cohort_future **each, const size_t *indices, size_t count,
                         cohort_promise **promises, size_t failing)
{
    bool is_there[MOST_COMBINED] = {false};
    for (size_t k = 0; k < count; k++) {
        void *value = NULL;
        if (k + 1 < count && cohort_future_ready(each[k + 1]))
            CHECK(cohort_future_ready(each[k]));
        cohort_status status = cohort_await_value(each[k], &value);
        CHECK(indices[k] < count && !is_there[indices[k]]);
        is_there[indices[k]] = true;
        CHECK_INT(status, indices[k] == failing ? COHORT_ERR_GONE : COHORT_OK);
        CHECK(value == (indices[k] == failing ? NULL : (void *)promises[indices[k]]));
    }
}

static cohort_status race_combined(void *seed)
{
    struct cohort__random random = cohort__random_seeded((uintptr_t)seed);
    for (int i = 0, num = rounds(3000); i < num; i++) {
        struct request own[MOST_COMBINED];
        cohort_promise *promises[MOST_COMBINED];
        cohort_future *futures[3][MOST_COMBINED], *kept[MOST_COMBINED];
        size_t count = 1 + cohort__random_below(&random, MOST_COMBINED);
        size_t wanted = 1 + cohort__random_below(&random, (uint32_t)count);
        size_t failing = cohort__random_below(&random, 2 * MOST_COMBINED);
        size_t some_indices[MOST_COMBINED], each_indices[MOST_COMBINED];
        for (size_t k = 0; k < count; k++) {
            kept[k] = request(&own[k], k == failing);
            promises[k] = own[k].promise;
            for (size_t use = 0; use < 3; use++)
                futures[use][k] = cohort_future_ref(kept[k]);
        }
        cohort_future *some = cohort_when_some(futures[0], count, wanted, some_indices);
        CHECK_OK(cohort_when_each(futures[1], count, futures[1], each_indices));
        cohort_future *flow = cohort_dataflow(futures[2], count, take_inputs, promises);
        CHECK_OK(cohort_await(some));
        for (size_t k = 0; k < wanted; k++)
            CHECK(some_indices[k] < count && cohort_future_ready(kept[some_indices[k]]));
        check_stream(futures[1], each_indices, count, promises, failing);
        CHECK_INT(cohort_await(flow), failing < count ? COHORT_ERR_GONE : COHORT_OK);
        for (size_t k = 0; k < count; k++)
            cohort_future_unref(kept[k]);
    }
    return COHORT_OK;
}

TEST_CALL(combined, with_threads(fulfil_requests, "x", race_combined))

/* Two tasks hand a token to each other. Each resumption is on another worker, and the workers go to
 * sleep in between. */
struct pair {
    cohort_promise *promises[2];
    cohort_future *futures[2];
    atomic_int num_passes;
};

struct side {
    struct pair *pair;
    int number;
};

static cohort_status pass(void *arg)
{
    struct side *side = arg;
    struct pair *pair = side->pair;
    for (int i = 0, num = rounds(10000); i < num; i++) {
        CHECK_OK(cohort_await(pair->futures[side->number]));
        cohort_promise *other = pair->promises[!side->number];
        CHECK_OK(
            cohort_promise_create(&pair->promises[side->number], &pair->futures[side->number]));
        atomic_fetch_add(&pair->num_passes, 1);
        cohort_promise_fulfil(other, NULL);
    }
    return COHORT_OK;
}

static cohort_status pass_in_pairs(void *arg)
{
    enum { NUM_PAIRS = 6 };
    struct pair pairs[NUM_PAIRS];
    struct side sides[NUM_PAIRS][2];
    cohort_future *futures[2 * NUM_PAIRS];
    for (int p = 0; p < NUM_PAIRS; p++) {
        atomic_init(&pairs[p].num_passes, 0);
        for (int s = 0; s < 2; s++) {
            pairs[p].promises[s] = new_promise(&pairs[p].futures[s]);
            sides[p][s] = (struct side){&pairs[p], s};
        }
        for (int s = 0; s < 2; s++)
            futures[2 * p + s] = cohort_async(pass, &sides[p][s]);
    }
    for (int p = 0; p < NUM_PAIRS; p++)
        cohort_promise_fulfil(pairs[p].promises[0], NULL);
    CHECK_OK(cohort_await(cohort_when_all(futures, 2 * NUM_PAIRS)));
    for (int p = 0; p < NUM_PAIRS; p++) {
        CHECK_INT(atomic_load(&pairs[p].num_passes), 2 * rounds(10000));
        /* Side 1 has passed the token back once more than it was taken. */
        cohort_promise_fulfil(pairs[p].promises[1], NULL);
        for (int s = 0; s < 2; s++)
            CHECK_OK(cohort_await(pairs[p].futures[s]));
    }
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(pairs)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    for (unsigned spins = 0; spins <= 2; spins++) {
        options.num_workers = 4;
        options.spin_ns = spins * 1000;
        options.yield_polls = spins;
        CHECK_OK(run_tasks_with(&options, pass_in_pairs, NULL));
    }
}
