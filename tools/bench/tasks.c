/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks`: spawning, awaiting, switching and yielding. */
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

static const struct measurement {
    const char *name;
    cohort_status (*run)(uint64_t calls);
    unsigned num_in_call; /* how many times a call does what the name says */
} measurements[] = {
    {"spawn_await", spawn_await, 1},
    {"spawn_when_all", spawn_when_all, NUM_SPAWNED},
    {"suspend_resume", suspend_resume, 2},
    {"yield", yield, 2},
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
        status = measure(bench, &measurements[i]);
    return status;
}
