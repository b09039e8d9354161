/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks`: spawning, awaiting, switching, yielding and locking. */
#include <pthread.h>
#include <stdio.h>

#include "tools/bench/bench.h"
#include "tools/bench/turns.h"

enum { NUM_SPAWNED = 1000 };

static cohort_status empty(void *arg)
{
    (void)arg;
    return COHORT_OK;
}

/* Spawns a task and awaits it: to await it is to run it, like a call of a function. */
static cohort_status spawn_await(uint64_t calls)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; status == COHORT_OK && i < calls; i++)
        status = cohort_await(cohort_async(empty, NULL));
    return status;
}

/* Spawns many tasks and awaits them together. */
static cohort_status spawn_when_all(uint64_t calls)
{
    cohort_future *futures[NUM_SPAWNED];
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; status == COHORT_OK && i < calls; i++) {
        for (size_t task = 0; task < NUM_SPAWNED; task++)
            futures[task] = cohort_async(empty, NULL);
        status = cohort_await(cohort_when_all(futures, NUM_SPAWNED));
    }
    return status;
}

static cohort_status suspend_resume(uint64_t calls)
{
    uint64_t ns;
    return turns_take(calls, false, &ns);
}

static cohort_status yield_often(void *arg)
{
    for (uint64_t i = *(uint64_t *)arg; i > 0; i--)
        cohort_yield();
    return COHORT_OK;
}

/* Two tasks yield to each other. */
static cohort_status yield(uint64_t calls)
{
    cohort_future *second = cohort_async(yield_often, &calls);
    yield_often(&calls);
    return cohort_await(second);
}

/* Like spawn_when_all, in a scope. */
static cohort_status spawn_in_scope(uint64_t calls)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; status == COHORT_OK && i < calls; i++) {
        cohort_scope *scope;
        status = cohort_scope_create(NULL, &scope);
        for (size_t task = 0; status == COHORT_OK && task < NUM_SPAWNED; task++)
            status = cohort_scope_async(scope, empty, NULL);
        if (status == COHORT_OK)
            status = cohort_scope_await(scope);
    }
    return status;
}

static cohort_status lock_often(cohort_mutex *mutex, uint64_t calls)
{
    cohort_status status = COHORT_OK;
    for (uint64_t i = 0; status == COHORT_OK && i < calls; i++) {
        status = cohort_mutex_lock(mutex, COHORT_NO_LIMIT);
        if (status == COHORT_OK)
            status = cohort_mutex_unlock(mutex);
    }
    return status;
}

/* Nobody else wants it. */
static cohort_status mutex(uint64_t calls)
{
    cohort_mutex *mutex;
    cohort_status status = cohort_mutex_create(&mutex);
    if (status != COHORT_OK)
        return status;
    status = lock_often(mutex, calls);
    cohort_mutex_unref(mutex);
    return status;
}

/* The same with one of pthreads, to compare. */
static cohort_status pthread_mutex(uint64_t calls)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (uint64_t i = 0; i < calls; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return COHORT_OK;
}

struct hand_over {
    cohort_mutex *mutex;
    uint64_t calls;
};

static cohort_status take_over(void *arg)
{
    const struct hand_over *hand_over = arg;
    return lock_often(hand_over->mutex, hand_over->calls);
}

/* Two tasks of one worker want it: each unlock hands it on, and each lock has to wait. */
static cohort_status mutex_hand_over(uint64_t calls)
{
    struct hand_over hand_over = {.calls = calls};
    cohort_status status = cohort_mutex_create(&hand_over.mutex);
    if (status != COHORT_OK)
        return status;
    status = cohort_mutex_lock(hand_over.mutex, COHORT_NO_LIMIT);
    cohort_future *other = cohort_async(take_over, &hand_over);
    cohort_yield(); /* it waits now */
    if (status == COHORT_OK)
        status = cohort_mutex_unlock(hand_over.mutex);
    if (status == COHORT_OK)
        status = take_over(&hand_over);
    cohort_status others = cohort_await(other);
    cohort_mutex_unref(hand_over.mutex);
    return status == COHORT_OK ? others : status;
}

static const struct measurement {
    const char *name;
    cohort_status (*run)(uint64_t calls);
    unsigned num_in_call; /* how many times a call does what the name says */
    bool of_one_worker;   /* with several, threads would wake each other up */
} measurements[] = {
    {"spawn_await", spawn_await, 1, false},
    {"spawn_when_all", spawn_when_all, NUM_SPAWNED, false},
    {"suspend_resume", suspend_resume, 2, false},
    {"yield", yield, 2, false},
    {"spawn_in_scope", spawn_in_scope, NUM_SPAWNED, false},
    {"mutex", mutex, 1, false},
    {"pthread_mutex", pthread_mutex, 1, false},
    {"mutex_hand_over", mutex_hand_over, 2, true},
};

static cohort_status measure(const struct bench *bench, const struct measurement *measurement)
{
    struct bench_series series;
    struct bench_result result = {.localities = 1, .workers = cohort_num_workers()};
    bench_series_init(&series, bench->options);
    for (uint64_t calls; (calls = bench_series_next(&series)) > 0;) {
        uint64_t start = bench_now();
        cohort_status status = measurement->run(calls);
        if (status != COHORT_OK)
            return status;
        bench_series_add(&series, bench_now() - start);
    }
    struct bench_spread spread = bench_series_spread(&series);
    bench_spread_divide(&spread, measurement->num_in_call);
    snprintf(result.name, sizeof(result.name), "%s", measurement->name);
    bench_result_set(&result, spread, "ns", series.num_rounds);
    return bench_report_add(bench->report, &result);
}

cohort_status bench_tasks(const struct bench *bench)
{
    cohort_status status = COHORT_OK;
    for (size_t i = 0; status == COHORT_OK && i < sizeof(measurements) / sizeof(measurements[0]);
         i++)
        if (!measurements[i].of_one_worker || cohort_num_workers() == 1)
            status = measure(bench, &measurements[i]);
    return status;
}
