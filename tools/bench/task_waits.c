/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: what waits: then, suspend, ping_pong, when_any, sleeps, spread. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tools/bench/burden.h"
#include "tools/bench/task_works.h"
#include "tools/bench/turns.h"

/* The links of a chain follow each other, so they need no lock to count. */
static cohort_status follow(cohort_future *future, void *arg)
{
    ++*(uint64_t *)arg;
    return cohort_await(future);
}

/* A chain that is made first, and then runs. */
cohort_status task_then(const struct problem *problem, struct problem_time *ret_time)
{
    cohort_promise *promise;
    cohort_future *future;
    uint64_t count = 0, start = bench_now();
    cohort_status status = cohort_promise_create(&promise, &future);
    if (status != COHORT_OK)
        return status;
    for (uint64_t i = 0; i < problem->size; i++)
        future = cohort_then(future, follow, &count);
    cohort_promise_fulfil(promise, NULL);
    status = cohort_await(future);
    *ret_time = (struct problem_time){bench_now() - start, problem->size};
    return status == COHORT_OK && count != problem->size ? task_wrong("a link is missing") : status;
}

cohort_status task_suspend(const struct problem *problem, struct problem_time *ret_time)
{
    ret_time->items = problem->size;
    return turns_take(problem->size, false, &ret_time->ns);
}

cohort_status task_ping_pong(const struct problem *problem, struct problem_time *ret_time)
{
    if (problem->workers < 2)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "this needs 2 workers");
    ret_time->items = problem->size;
    return turns_take(problem->size, true, &ret_time->ns);
}

/* Several races, each between a promise of its own and STOP, which all have in common. */
struct races {
    cohort_promise **promises;
    cohort_future **results;
    cohort_promise *stop_promise;
    cohort_future *stop;
};

static cohort_status races_begin(struct races *races, uint64_t num)
{
    cohort_status status = cohort_promise_create(&races->stop_promise, &races->stop);
    for (uint64_t i = 0; status == COHORT_OK && i < num; i++) {
        cohort_future *own;
        status = cohort_promise_create(&races->promises[i], &own);
        if (status == COHORT_OK)
            races->results[i] = cohort_when_any(
                (cohort_future *const[]){own, cohort_future_ref(races->stop)}, 2, NULL);
    }
    return status;
}

/* Timed is what it takes to decide a race, the oldest one first, while the younger ones wait. */
cohort_status task_when_any(const struct problem *problem, struct problem_time *ret_time)
{
    uint64_t num = problem->size;
    struct races races = {.promises = calloc(num, sizeof(cohort_promise *)),
                          .results = calloc(num, sizeof(cohort_future *))};
    cohort_status status =
        races.promises && races.results ? races_begin(&races, num) : task_no_memory(num, "futures");
    uint64_t start = bench_now(), num_ready = 0;
    for (uint64_t i = 0; status == COHORT_OK && i < num; i++)
        cohort_promise_fulfil(races.promises[i], NULL);
    *ret_time = (struct problem_time){bench_now() - start, num};
    for (uint64_t i = 0; status == COHORT_OK && i < num; i++) {
        num_ready += cohort_future_ready(races.results[i]);
        status = cohort_await(races.results[i]);
    }
    if (status == COHORT_OK) {
        cohort_promise_fulfil(races.stop_promise, NULL);
        status = cohort_await(races.stop);
    }
    free(races.results);
    free(races.promises);
    return status == COHORT_OK && num_ready != num ? task_wrong("a race was not over") : status;
}

cohort_status task_sleeps(const struct problem *problem, struct problem_time *ret_time)
{
    uint64_t num = problem->size, longest_ms = 0, start = bench_now();
    cohort_future **sleeps = calloc(num, sizeof(cohort_future *));
    cohort_status status = COHORT_OK;
    if (!sleeps)
        return task_no_memory(num, "futures");
    for (uint64_t i = 0; i < num; i++) {
        uint64_t ms = problem_sleep_ms(i);
        longest_ms = ms > longest_ms ? ms : longest_ms;
        sleeps[i] = cohort_sleep(ms * 1000000);
    }
    for (uint64_t i = 0; i < num; i++) {
        cohort_status one = cohort_await(sleeps[i]);
        status = status != COHORT_OK ? status : one;
    }
    *ret_time = (struct problem_time){bench_now() - start, num};
    free(sleeps);
    if (status == COHORT_OK && ret_time->ns < longest_ms * 1000000)
        return task_wrong("a sleep was too short");
    return status;
}

struct spread {
    cohort_future *gate;
    atomic_uint_fast64_t num_waiting;
    atomic_uint_fast64_t num_done;
};

static cohort_status await_and_compute(void *arg)
{
    struct spread *spread = arg;
    atomic_fetch_add(&spread->num_waiting, 1);
    cohort_status status = cohort_await(cohort_future_ref(spread->gate));
    bench_burden_compute(TASK_SPREAD_NS);
    atomic_fetch_add(&spread->num_done, 1);
    return status;
}

/* The other workers sleep when the tasks are spawned. Timed is from when all of them wait. */
cohort_status task_spread(const struct problem *problem, struct problem_time *ret_time)
{
    enum { LONG_NS = 20000000 };
    struct spread spread = {0};
    cohort_promise *promise;
    cohort_future **tasks = calloc(problem->size, sizeof(cohort_future *));
    cohort_status status = tasks ? cohort_promise_create(&promise, &spread.gate)
                                 : task_no_memory(problem->size, "futures");
    if (status != COHORT_OK)
        goto end;
    status = cohort_await(cohort_sleep(LONG_NS));
    for (uint64_t i = 0; i < problem->size; i++)
        tasks[i] = cohort_async(await_and_compute, &spread);
    cohort_future *all = cohort_when_all(tasks, problem->size);
    while (atomic_load(&spread.num_waiting) < problem->size && !cohort_future_ready(all))
        cohort_yield();
    uint64_t start = bench_now();
    cohort_promise_fulfil(promise, NULL);
    cohort_status all_status = cohort_await(all);
    *ret_time = (struct problem_time){bench_now() - start, problem->size};
    status = status != COHORT_OK ? status : all_status;
    cohort_future_unref(spread.gate);
    if (status == COHORT_OK && atomic_load(&spread.num_done) != problem->size)
        status = task_wrong("a task did not compute");
end:
    free(tasks);
    return status;
}
