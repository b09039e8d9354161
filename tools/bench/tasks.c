/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks`: spawning, awaiting, switching and yielding. */
#include <stdio.h>

#include "tools/bench/bench.h"

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

/* One of two tasks that take turns; it waits for its promise. */
struct side {
    cohort_promise *promise;
    cohort_future *future;
    struct side *other; /* is waiting, or about to, whenever this side runs */
    uint64_t turns;
};

static cohort_status hand_over(struct side *side)
{
    cohort_status status = cohort_promise_create(&side->promise, &side->future);
    if (status != COHORT_OK) {
        cohort_promise_fail(side->other->promise, status, "%s", cohort_error_message());
        return status;
    }
    cohort_promise_fulfil(side->other->promise, NULL);
    return cohort_await(side->future);
}

static cohort_status second_side(void *arg)
{
    struct side *side = arg;
    cohort_status status = cohort_await(side->future);
    for (uint64_t i = 1; status == COHORT_OK && i < side->turns; i++)
        status = hand_over(side);
    if (status == COHORT_OK)
        cohort_promise_fulfil(side->other->promise, NULL);
    return status;
}

/* Two tasks hand over to each other through promises. With one worker, each time one suspends and
 * the other resumes. */
static cohort_status suspend_resume(uint64_t calls)
{
    struct side sides[2];
    sides[0] = (struct side){.other = &sides[1], .turns = calls};
    sides[1] = (struct side){.other = &sides[0], .turns = calls};
    cohort_status status = cohort_promise_create(&sides[1].promise, &sides[1].future);
    if (status != COHORT_OK)
        return status;
    cohort_future *second = cohort_async(second_side, &sides[1]);
    for (uint64_t i = 0; status == COHORT_OK && i < calls; i++)
        status = hand_over(&sides[0]);
    cohort_status second_status = cohort_await(second);
    return status != COHORT_OK ? status : second_status;
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
