/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of tasks on more workers than cores: spawning, stealing, running a task as a call,
 * suspending, going to sleep and waking up. */
#include <stdatomic.h>
#include <stdio.h>

#include "runtime/base/random.h"
#include "runtime/base/sanitizer.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum {
    NUM_LEAVES = COHORT__TSAN || COHORT__ASAN ? 16000 : 200000,
    NUM_WORKERS = 8,
    SEED = 20240,
};

static _Atomic uint64_t num_leaves;

/* Splits NUMBER into two halves, down to single leaves. */
static cohort_status halve(void *number)
{
    uintptr_t count = (uintptr_t)number;
    if (count <= 1) {
        atomic_fetch_add_explicit(&num_leaves, count, memory_order_relaxed);
        return COHORT_OK;
    }
    cohort_future *left = cohort_async(halve, (void *)(count / 2));
    cohort_future *right = cohort_async(halve, (void *)(count - count / 2));
    if (count % 3 == 0) {
        CHECK_OK(cohort_await(left));
        return cohort_await(right);
    }
    if (count % 3 == 1) {
        CHECK_OK(cohort_await(right));
        return cohort_await(left);
    }
    return cohort_await(cohort_when_all((cohort_future *[]){left, right}, 2));
}

TEST(tree)
{
    uintptr_t count = (uintptr_t)test_rounds(NUM_LEAVES, 2000);
    for (unsigned num_workers = 1; num_workers <= NUM_WORKERS; num_workers *= 2) {
        atomic_store(&num_leaves, 0);
        CHECK_OK(run_tasks(num_workers, halve, (void *)count));
        CHECK_INT((long long)atomic_load(&num_leaves), (long long)count);
    }
}

/* Bursts of work with pauses, so that workers often go to sleep and are woken. */
static cohort_status work_a_little(void *seed)
{
    struct cohort__random random = cohort__random_seeded((uintptr_t)seed);
    for (uint64_t i = cohort__random_below(&random, 4); i > 0; i--)
        cohort_yield();
    atomic_fetch_add_explicit(&num_leaves, 1, memory_order_relaxed);
    return COHORT_OK;
}

static cohort_status bursts(void *arg)
{
    enum { LARGEST = 40 };
    cohort_future *futures[LARGEST];
    uint64_t num_spawned = 0, num_rounds = test_rounds(20000, 600);
    struct cohort__random random = cohort__random_seeded(SEED);
    for (uint64_t round = 0; round < num_rounds; round++) {
        size_t count = 1 + cohort__random_below(&random, LARGEST);
        for (size_t i = 0; i < count; i++)
            futures[i] = cohort_async(work_a_little, (void *)(uintptr_t)num_spawned++);
        CHECK_OK(cohort_await(cohort_when_all(futures, count)));
    }
    CHECK_INT((long long)atomic_load(&num_leaves), (long long)num_spawned);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(bursts)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    fprintf(stderr, "seed %d\n", SEED);
    for (unsigned spins = 0; spins <= 2; spins++) {
        options.num_workers = NUM_WORKERS;
        options.spin_ns = spins * 1000;
        options.yield_polls = spins;
        atomic_store(&num_leaves, 0);
        CHECK_OK(run_tasks_with(&options, bursts, NULL));
    }
}

/* A scheduler is started and stopped again and again. */
TEST(starts_and_stops)
{
    uint64_t num_starts = test_rounds(1500, 60);
    for (uint64_t i = 0; i < num_starts; i++) {
        atomic_store(&num_leaves, 0);
        CHECK_OK(run_tasks(1 + (unsigned)(i % 6), halve, (void *)(uintptr_t)(i % 50)));
        CHECK_INT((long long)atomic_load(&num_leaves), (long long)(i % 50));
    }
}
