/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of tasks with priorities and with workers of their own, on more workers than cores, and
 * threads outside that start such tasks while the scheduler starts and stops. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "runtime/base/random.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum {
    IS_SLOW = COHORT__TSAN || COHORT__ASAN,
    NUM_LEAVES = IS_SLOW ? 6000 : 60000,
    NUM_STARTS = IS_SLOW ? 100 : 1000,
    NUM_WORKERS = 8,
    NUM_THREADS = 3,
    SEED = 815,
};

struct part {
    uint64_t seed;
    uintptr_t num;   /* of leaves */
    unsigned worker; /* 0: any */
};

static _Atomic uint64_t num_leaves;

static cohort_task_options choose(struct cohort__random *random, unsigned num_workers)
{
    cohort_task_options options = {.priority = cohort__random_below(random, 3)};
    if (cohort__random_below(random, 3) == 0)
        options.worker = 1 + (unsigned)cohort__random_below(random, num_workers);
    if (cohort__random_below(random, 50) == 0)
        options.stack_bytes = 1 << 20;
    return options;
}

static void check_place(const struct part *part)
{
    if (part->worker > 0)
        CHECK_INT(cohort_worker_index(), part->worker - 1);
}

static cohort_status halve(void *arg)
{
    const struct part *part = arg;
    struct part halves[2];
    cohort_future *futures[2];
    check_place(part);
    if (part->num == 1) {
        atomic_fetch_add_explicit(&num_leaves, 1, memory_order_relaxed);
        return COHORT_OK;
    }
    struct cohort__random random = cohort__random_seeded(part->seed);
    for (int i = 0; i < 2; i++) {
        cohort_task_options options = choose(&random, cohort__scheduler_num_workers());
        halves[i].seed = 2 * part->seed + (unsigned)i;
        halves[i].num = i == 0 ? part->num / 2 : part->num - part->num / 2;
        halves[i].worker = options.worker;
        futures[i] = cohort_async_with(halve, &halves[i], &options);
    }
    if (cohort__random_below(&random, 4) == 0)
        cohort_yield();
    check_place(part);
    cohort_status status;
    if (cohort__random_below(&random, 2) == 0) {
        status = cohort_await(cohort_when_all(futures, 2));
    } else {
        status = cohort_await(futures[1]);
        CHECK_OK(cohort_await(futures[0]));
    }
    check_place(part);
    return status;
}

TEST(tree)
{
    fprintf(stderr, "seed %d\n", SEED);
    for (unsigned num_workers = 1; num_workers <= NUM_WORKERS; num_workers *= 2) {
        struct part all = {.seed = SEED, .num = (uintptr_t)test_rounds(NUM_LEAVES, 1500)};
        atomic_store(&num_leaves, 0);
        CHECK_OK(run_tasks(num_workers, halve, &all));
        CHECK_INT((long long)atomic_load(&num_leaves), (long long)all.num);
    }
}

static atomic_bool is_over;

static cohort_status nothing(void *arg)
{
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* A worker may be gone that the scheduler before had. */
static void *start_all_the_time(void *arg)
{
    struct cohort__random random = cohort__random_seeded((uintptr_t)arg);
    while (!atomic_load(&is_over)) {
        cohort_task_options options = choose(&random, 3);
        cohort_status status = cohort_await(cohort_async_with(nothing, NULL, &options));
        CHECK(status == COHORT_OK || status == COHORT_ERR_STATE || status == COHORT_ERR_CANCELLED ||
              (options.worker > 1 && status == COHORT_ERR_BAD_PARAMETER));
        sched_yield();
    }
    return NULL;
}

TEST(starts_and_stops)
{
    pthread_t threads[NUM_THREADS];
    uint64_t num_starts = test_rounds(NUM_STARTS, 25);
    atomic_store(&is_over, false);
    for (uintptr_t i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(start_all_the_time, (void *)(SEED + i));
    for (uint64_t i = 0; i < num_starts; i++) {
        struct part all = {.seed = i, .num = 1 + (uintptr_t)i % 20};
        CHECK_OK(run_tasks(1 + (unsigned)(i % 3), halve, &all));
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
}
