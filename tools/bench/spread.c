/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: how well computing comes to all workers, in one run. */
#include "tools/bench/task_works.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tools/bench/bench.h"
#include "tools/bench/problems.h"

/* Computing whose work is given, not its time. If something else has the core meanwhile, or takes a
 * part of it, it lasts longer. */
struct computing {
    double ns_per_step; /* with a core of its own */
};

/* Each step waits for the one before, so nothing but the core's frequency counts. Nobody needs the
 * result, which the compiler is not to know. */
static void take_steps(uint64_t num)
{
    volatile uint64_t result;
    uint64_t state = num;
    for (; num > 0; num--)
        state = state * 6364136223846793005 + 1442695040888963407;
    result = state;
    (void)result;
}

/* The least of several times: in the others something else had the core. */
static void computing_init(struct computing *computing)
{
    enum { NUM_TRIES = 20, NUM_STEPS = 300 * 1000 };
    computing->ns_per_step = 0;
    for (int i = 0; i < NUM_TRIES; i++) {
        uint64_t start = bench_now();
        take_steps(NUM_STEPS);
        double ns_per_step = (double)(bench_now() - start) / NUM_STEPS;
        if (i == 0 || ns_per_step < computing->ns_per_step)
            computing->ns_per_step = ns_per_step;
    }
}

static void computing_run(const struct computing *computing, double ns)
{
    take_steps((uint64_t)(ns / computing->ns_per_step));
}

enum {
    NUM_TASKS = 64,
    NUM_ROUNDS = 5,
    BURST_NS = 2 * 1000 * 1000, /* that each task of a burst computes */
    LEAST_NS = 500 * 1000,      /* and of a round, */
    MOST_NS = 4 * 1000 * 1000,
    SHORT_NS = 100 * 1000,      /* that a task sleeps after a round */
    LONG_NS = 20 * 1000 * 1000, /* after which idle workers sleep */
    QUICK_PART = 20,            /* with --quick all that computes is so many times shorter */
};

/* A task, which is a site of the communicator. */
struct member {
    struct spread_run *run;
    uint32_t index;
    cohort_comm *comm;
    uint64_t generation;
    double ns[NUM_ROUNDS]; /* that it computes */
};

struct spread_run {
    struct computing computing;
    unsigned num_cores; /* that compute at the same time */
    unsigned part;      /* 1, or QUICK_PART */
    uint64_t number;    /* which run it is */
    cohort_status (*wait)(struct member *member);
    struct member members[NUM_TASKS];
};

/* Waits for all others. */
static cohort_status wait_for_all(struct member *member)
{
    const uint64_t wanted = NUM_TASKS * (NUM_TASKS - 1) / 2;
    uint64_t in = member->index, sum = 0;
    cohort_status status = cohort_await(cohort_all_reduce(member->comm, &in, &sum, 1, COHORT_UINT64,
                                                          COHORT_SUM, ++member->generation));
    if (status == COHORT_OK && sum != wanted)
        return cohort_fail(COHORT_ERR_FAILED, "spread: wrong result of all_reduce: %llu, not %llu",
                           (unsigned long long)sum, (unsigned long long)wanted);
    return status;
}

static cohort_status wait_alone(struct member *member)
{
    (void)member;
    return cohort_await(cohort_sleep(SHORT_NS));
}

static cohort_status burst_task(void *arg)
{
    struct member *member = arg;
    cohort_status status = wait_for_all(member);
    computing_run(&member->run->computing, member->ns[0]);
    return status;
}

static cohort_status rounds_task(void *arg)
{
    struct member *member = arg;
    cohort_status status = COHORT_OK;
    for (int round = 0; status == COHORT_OK && round < NUM_ROUNDS; round++) {
        computing_run(&member->run->computing, member->ns[round]);
        status = member->run->wait(member);
    }
    return status;
}

static cohort_status create_sites(struct spread_run *run)
{
    cohort_future *created[NUM_TASKS];
    for (uint32_t i = 0; i < NUM_TASKS; i++) {
        cohort_comm_options options = {.num_sites = NUM_TASKS, .this_site = i};
        created[i] = cohort_comm_create(&run->members[i].comm, "spread", &options);
    }
    return cohort_await(cohort_when_all(created, NUM_TASKS));
}

/* From the start of the first task to the end of the last one. Before that the other workers have
 * nothing to do for so long that they sleep. */
static cohort_status time_tasks(struct spread_run *run, cohort_task_function *task, double *ret_ns)
{
    cohort_future *tasks[NUM_TASKS];
    cohort_status status = create_sites(run);
    if (status == COHORT_OK)
        status = cohort_await(cohort_sleep(LONG_NS));
    if (status == COHORT_OK) {
        uint64_t start = bench_now();
        for (uint32_t i = 0; i < NUM_TASKS; i++)
            tasks[i] = cohort_async(task, &run->members[i]);
        status = cohort_await(cohort_when_all(tasks, NUM_TASKS));
        *ret_ns = (double)(bench_now() - start);
    }
    for (uint32_t i = 0; i < NUM_TASKS; i++)
        cohort_comm_unref(run->members[i].comm);
    return status;
}

static cohort_status run_burst(struct spread_run *run, double *ret_ns, double *ret_ideal_ns)
{
    double ns = (double)BURST_NS / run->part;
    for (uint32_t i = 0; i < NUM_TASKS; i++)
        run->members[i].ns[0] = ns;
    *ret_ideal_ns = ns * NUM_TASKS / run->num_cores;
    return time_tasks(run, burst_task, ret_ns);
}

/* The same in each run of the same number. */
static void draw(struct spread_run *run)
{
    uint64_t seed = run->number * NUM_TASKS * NUM_ROUNDS;
    for (uint32_t i = 0; i < NUM_TASKS; i++)
        for (uint32_t round = 0; round < NUM_ROUNDS; round++) {
            uint64_t number = problem_hash(seed + i * NUM_ROUNDS + round) % (MOST_NS - LEAST_NS);
            run->members[i].ns[round] = (double)(LEAST_NS + number) / run->part;
        }
}

/* If all wait for each other after each round, none of them is over before its longest task. */
static double ideal_rounds(const struct spread_run *run, bool are_together)
{
    double sum = 0;
    for (int round = 0; round < NUM_ROUNDS; round++) {
        double all = 0, longest = 0;
        for (uint32_t i = 0; i < NUM_TASKS; i++) {
            double ns = run->members[i].ns[round];
            all += ns;
            longest = ns > longest ? ns : longest;
        }
        double shared = all / run->num_cores;
        sum += are_together && longest > shared ? longest : shared;
    }
    return sum;
}

static cohort_status run_sleeps(struct spread_run *run, double *ret_ns, double *ret_ideal_ns)
{
    draw(run);
    run->wait = wait_alone;
    *ret_ideal_ns = ideal_rounds(run, false);
    return time_tasks(run, rounds_task, ret_ns);
}

static cohort_status run_reduces(struct spread_run *run, double *ret_ns, double *ret_ideal_ns)
{
    draw(run);
    run->wait = wait_for_all;
    *ret_ideal_ns = ideal_rounds(run, true);
    return time_tasks(run, rounds_task, ret_ns);
}

static void *compute_share(void *arg)
{
    const struct spread_run *run = arg;
    computing_run(&run->computing, (double)BURST_NS / run->part * NUM_TASKS / run->num_cores);
    return NULL;
}

/* A burst's computing by as many threads as there are cores for it, without any task: what the
 * machine gives. */
static cohort_status run_threads(struct spread_run *run, double *ret_ns, double *ret_ideal_ns)
{
    pthread_t threads[NUM_TASKS];
    unsigned num = 0;
    int error = 0;
    uint64_t start = bench_now();
    while (num < run->num_cores && error == 0) {
        error = pthread_create(&threads[num], NULL, compute_share, run);
        num += error == 0;
    }
    for (unsigned i = 0; i < num; i++)
        pthread_join(threads[i], NULL);
    *ret_ns = (double)(bench_now() - start);
    *ret_ideal_ns = (double)BURST_NS / run->part * NUM_TASKS / run->num_cores;
    return error == 0
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_SYSTEM, "spread: pthread_create: %s", strerror(error));
}

static const struct spread_case {
    const char *name;
    /* Runs it. RET_NS: how long it took. RET_IDEAL_NS: how long it would have taken had all cores
     * computed all the time, as far as the tasks need not wait for each other. */
    cohort_status (*run)(struct spread_run *run, double *ret_ns, double *ret_ideal_ns);
} cases[] = {
    {"burst", run_burst},
    {"sleep", run_sleeps},
    {"reduce", run_reduces},
    {"threads", run_threads},
};

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static cohort_status measure(const struct bench *bench, const struct spread_case *one,
                             uint64_t number)
{
    static struct spread_run run; /* too large for a stack */
    struct bench_result result = {
        .localities = 1, .workers = cohort_num_workers(), .sites = NUM_TASKS};
    double ns = 0, ideal_ns = 1;
    run.num_cores = min(min(bench_machine().cores, cohort_num_workers()), NUM_TASKS);
    run.part = bench->options->quick ? QUICK_PART : 1;
    run.number = number;
    for (uint32_t i = 0; i < NUM_TASKS; i++)
        run.members[i] = (struct member){.run = &run, .index = i};
    computing_init(&run.computing);
    cohort_status status = one->run(&run, &ns, &ideal_ns);
    if (status != COHORT_OK)
        return status;
    double ratio = ns / ideal_ns;
    snprintf(result.name, sizeof(result.name), "%s", one->name);
    bench_result_set(&result, (struct bench_spread){ratio, ratio, ratio}, "x", 1);
    return bench_report_add(bench->report, &result);
}

cohort_status spread_measure(const struct bench *bench, const struct bench_work *work)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(cases[i].name, work->name) == 0)
            return measure(bench, &cases[i], work->size);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no such work", work->name);
}
