/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `suspended`: many tasks that wait at the same time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/bench/bench.h"
#include "tools/bench/burden.h"

enum {
    DEFAULT_STACK_BYTES = 256 * 1024, /* of COHORT_STACK */
    LOOK_NS = 10 * 1000 * 1000,       /* so often the memory is looked at */
    SETTLE_NS = 200 * 1000 * 1000,    /* if it falls no more for so long, no more comes back */
};
static const uint64_t give_back_most_ns = UINT64_C(60000000000);

/* Tasks that wait for the same promise. */
struct crowd {
    uint32_t num_tasks;
    uint32_t num_waiting;
    cohort_future *gate;
    cohort_future **tasks;
};

/* What is measured, a value for each round. */
enum subject { TOUCH, START, RATIO, MEMORY, RESUME, GIVE_BACK, NUM_SUBJECTS };

static const struct {
    const char *name;
    const char *unit;
} subjects[NUM_SUBJECTS] = {
    [TOUCH] = {"touch_page", "ns"},   [START] = {"start_suspend", "ns"},
    [RATIO] = {"start_suspend", "x"}, [MEMORY] = {"suspended_memory", "KiB"},
    [RESUME] = {"resume_end", "ns"},  [GIVE_BACK] = {"give_back", "s"},
};

/* In KiB, with the tables of the pages. */
static double memory_now(void)
{
    return bench_burden_counted("VmRSS") + bench_burden_counted("VmPTE");
}

/* From the start of a stack to that of the next one. */
static size_t stack_distance(void)
{
    const char *text = getenv("COHORT_STACK"); /* cohort_main has checked it */
    size_t bytes = text && *text ? strtoul(text, NULL, 10) : DEFAULT_STACK_BYTES;
    return bytes + (size_t)sysconf(_SC_PAGESIZE);
}

/* Writes a byte to each of NUM_PAGES pages of a fresh mapping, as far apart as stacks. */
static cohort_status touch(uint32_t num_pages, double *ret_ns)
{
    size_t distance = stack_distance(), bytes = num_pages * distance;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "suspended: %zu bytes of address space: mmap: %s",
                           bytes, strerror(errno));
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    uint64_t start = bench_now();
    for (uint32_t i = 0; i < num_pages; i++)
        *(volatile char *)(memory + i * distance) = 1;
    *ret_ns = (double)(bench_now() - start) / num_pages;
    munmap(memory, bytes);
    return COHORT_OK;
}

/* All that it uses of its stack is in the page that has the stack's fiber, too. */
static cohort_status wait_at_gate(void *arg)
{
    struct crowd *crowd = arg;
    crowd->num_waiting++;
    return cohort_await(cohort_future_ref(crowd->gate));
}

/* Starts the tasks, and yields until all of them wait. Since there is one worker, which is busy
 * here, a task that is ready at once has failed to start. */
static cohort_status start(struct crowd *crowd)
{
    uint32_t num_started = 0;
    crowd->num_waiting = 0;
    cohort_status status = COHORT_OK;
    for (; status == COHORT_OK && num_started < crowd->num_tasks; num_started++) {
        crowd->tasks[num_started] = cohort_async(wait_at_gate, crowd);
        if (cohort_future_ready(crowd->tasks[num_started]))
            status = cohort_await(cohort_future_ref(crowd->tasks[num_started]));
    }
    crowd->num_tasks = num_started;
    while (status == COHORT_OK && crowd->num_waiting < num_started)
        cohort_yield();
    return status;
}

/* Waits until at most LIMIT of this process's memory is left. */
static cohort_status wait_for_memory(double limit)
{
    cohort_status status = COHORT_OK;
    uint64_t end = bench_now() + give_back_most_ns;
    while (status == COHORT_OK && memory_now() > limit) {
        if (bench_now() > end)
            return cohort_fail(COHORT_ERR_TIMEOUT,
                               "suspended: after %u s this process has %.0f KiB of memory, not at "
                               "most %.0f",
                               (unsigned)(give_back_most_ns / 1000000000), memory_now(), limit);
        status = cohort_await(cohort_sleep(LOOK_NS));
    }
    return status;
}

/* Stacks that are still there would make the next round cheaper. */
static cohort_status settle(void)
{
    cohort_status status = COHORT_OK;
    double last, memory = memory_now();
    do {
        last = memory;
        status = cohort_await(cohort_sleep(SETTLE_NS));
        memory = memory_now();
    } while (status == COHORT_OK && memory < last);
    return status;
}

/* From the first task's start to the last one's end. VALUES are those of the round. */
static cohort_status run_tasks(struct crowd *crowd, cohort_promise *promise,
                               double values[NUM_SUBJECTS], uint64_t *ret_end)
{
    double before = memory_now();
    uint64_t begin = bench_now();
    cohort_status status = start(crowd);
    values[START] = (double)(bench_now() - begin) / crowd->num_tasks;
    values[MEMORY] = (memory_now() - before) / crowd->num_tasks;
    cohort_future *all = cohort_when_all(crowd->tasks, crowd->num_tasks);
    begin = bench_now();
    cohort_promise_fulfil(promise, NULL);
    cohort_status all_status = cohort_await(all);
    *ret_end = bench_now();
    values[RESUME] = (double)(*ret_end - begin) / crowd->num_tasks;
    return status != COHORT_OK ? status : all_status;
}

static cohort_status measure_tasks(uint32_t num_tasks, cohort_future **tasks,
                                   double values[NUM_SUBJECTS])
{
    struct crowd crowd = {.num_tasks = num_tasks, .tasks = tasks};
    cohort_promise *promise = NULL;
    double before = memory_now();
    uint64_t end = 0;
    cohort_status status = cohort_promise_create(&promise, &crowd.gate);
    if (status != COHORT_OK)
        return status;
    status = run_tasks(&crowd, promise, values, &end);
    cohort_future_unref(crowd.gate);
    if (status == COHORT_OK)
        status = wait_for_memory(before + values[MEMORY] * num_tasks / 4);
    values[GIVE_BACK] = (double)(bench_now() - end) / 1e9;
    return status == COHORT_OK ? settle() : status;
}

static cohort_status add(const struct bench *bench, enum subject subject,
                         struct bench_series *series)
{
    struct bench_result result = {.localities = 1, .workers = 1, .sites = bench->options->tasks};
    snprintf(result.name, sizeof(result.name), "%s", subjects[subject].name);
    bench_result_set(&result, bench_series_spread(series), subjects[subject].unit,
                     series->num_rounds);
    return bench_report_add(bench->report, &result);
}

static cohort_status measure(const struct bench *bench, cohort_future **tasks)
{
    struct bench_series series[NUM_SUBJECTS] = {0};
    cohort_status status = COHORT_OK;
    uint32_t num_tasks = bench->options->tasks;
    /* The first round warms up: it may be the first to touch this memory in a virtual machine. */
    for (unsigned round = 0; status == COHORT_OK && round <= bench->options->rounds; round++) {
        double values[NUM_SUBJECTS] = {0};
        status = touch(num_tasks, &values[TOUCH]);
        if (status == COHORT_OK)
            status = measure_tasks(num_tasks, tasks, values);
        values[RATIO] = values[START] / values[TOUCH];
        for (int i = 0; round > 0 && i < NUM_SUBJECTS; i++)
            series[i].ns_per_call[series[i].num_rounds++] = values[i];
    }
    for (int i = 0; status == COHORT_OK && i < NUM_SUBJECTS; i++)
        status = add(bench, i, &series[i]);
    return status;
}

cohort_status bench_suspended(const struct bench *bench)
{
    if (cohort_num_workers() > 1)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "suspended measures one worker, and COHORT_WORKERS is %u",
                           cohort_num_workers());
    size_t bytes = bench->options->tasks * sizeof(cohort_future *);
    cohort_future **tasks = malloc(bytes);
    if (!tasks)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "suspended: no memory for %u futures",
                           bench->options->tasks);
    memset(tasks, 0, bytes); /* so that its pages are there before they are counted */
    cohort_status status = measure(bench, tasks);
    free(tasks);
    return status;
}
