/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: measures what a list on the command line names. */
#include "tools/bench/task_works.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct named {
    const char *name;
    task_solve_function *solve;
    const char *unit;
} named[] = {
    {"fib", task_fib, "ns"},
    {"empty", task_empty, "ns"},
    {"halves", task_halves, "ns"},
    {"tree", task_tree, "ns"},
    {"when_all", task_when_all, "ns"},
    {"then", task_then, "ns"},
    {"suspend", task_suspend, "ns"},
    {"ping_pong", task_ping_pong, "ns"},
    {"when_any", task_when_any, "ns"},
    {"sleeps", task_sleeps, "ns"},
    {"spread", task_spread, "x"},
    {"foreign", task_foreign, "ns"},
    {"wake", task_wake, "ns"},
    {"range_one", task_range, "ns"},
    {"range", task_range, "ns"},
    {"range_one_us", task_range_us, "ns"},
    {"range_us", task_range_us, "ns"},
    {"graph_stencil", task_graph, "ns"},
    {"graph_nearest", task_graph, "ns"},
    {"graph_fft", task_graph, "ns"},
    {"graph_tree", task_graph, "ns"},
    {"graph_random", task_graph, "ns"},
    {"graph_all_to_all", task_graph, "ns"},
};
enum { NUM_NAMED = sizeof(named) / sizeof(named[0]) };

cohort_status task_no_memory(uint64_t num, const char *what)
{
    return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %" PRIu64 " %s", num, what);
}

cohort_status task_wrong(const char *wrong)
{
    return cohort_fail(COHORT_ERR_FAILED, "wrong result: %s", wrong);
}

static cohort_status add_result(const struct bench *bench, const struct named *one,
                                struct bench_spread spread, unsigned rounds)
{
    struct bench_result result = {.localities = 1, .workers = cohort_num_workers()};
    snprintf(result.name, sizeof(result.name), "%s", one->name);
    bench_result_set(&result, spread, one->unit, rounds);
    return bench_report_add(bench->report, &result);
}

/* Solves it as often as fills the rounds. The unit x: so many times what computing takes that is
 * shared out to all workers. */
static cohort_status measure(const struct bench *bench, const struct named *one,
                             const struct problem *problem)
{
    struct bench_series series;
    struct problem_time time = {0};
    bench_series_init(&series, bench->options);
    for (uint64_t calls; (calls = bench_series_next(&series)) > 0;) {
        uint64_t start = bench_now(), part_ns = 0;
        for (uint64_t i = 0; i < calls; i++) {
            cohort_status status = one->solve(problem, &time);
            if (status != COHORT_OK)
                return status;
            part_ns += time.ns;
        }
        bench_series_add_part(&series, bench_now() - start, part_ns);
    }
    struct bench_spread spread = bench_series_spread(&series);
    bool is_ratio = strcmp(one->unit, "x") == 0;
    double scale = is_ratio ? (double)TASK_SPREAD_NS / problem->workers : 1;
    bench_spread_divide(&spread, (double)(time.items ? time.items : 1) * scale);
    return add_result(bench, one, spread, series.num_rounds);
}

static cohort_status measure_work(const struct bench *bench, const struct bench_work *work)
{
    const struct problem problem = {work->size, cohort_num_workers(), work->name};
    if (work->size == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: its size is at least 1", work->name);
    for (size_t i = 0; i < NUM_NAMED; i++) {
        if (strcmp(named[i].name, work->name) != 0)
            continue;
        cohort_status status = measure(bench, &named[i], &problem);
        return status ? cohort_fail(status, "%s of %" PRIu64 ": %s", work->name, work->size,
                                    cohort_error_message())
                      : COHORT_OK;
    }
    return spread_measure(bench, work);
}

/* A work that hangs is ended. */
cohort_status bench_task_works(const struct bench *bench)
{
    const struct bench_works *works = &bench->options->works;
    cohort_status status = COHORT_OK;
    for (size_t i = 0; status == COHORT_OK && i < works->num; i++) {
        alarm(PROBLEM_TIMEOUT);
        status = measure_work(bench, &works->list[i]);
    }
    alarm(0);
    return status;
}
