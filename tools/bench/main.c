/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: where it begins: which subcommand, in a job or as the start of jobs. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/bench.h"
#include "tools/bench/operation.h"
#include "tools/bench/select.h"

/* Within cohort_main. */
struct program {
    const struct bench_options *options;
    struct bench_report report;
};

static cohort_status run_all(const struct bench *bench)
{
    unsigned subcommands = bench->options->subcommands;
    cohort_status status = COHORT_OK;
    if (subcommands == BENCH_HIERARCHY)
        return bench_hierarchy(bench);
    if (subcommands == BENCH_SPREAD)
        return bench_spread(bench);
    if (cohort_num_localities() > 1 &&
        subcommands & (BENCH_TASKS | BENCH_BARRIER | BENCH_KERNELS | BENCH_SUSPENDED))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "tasks, barrier, kernels and suspended measure one locality: run them "
                           "without cohortrun");
    if (subcommands & BENCH_TASKS)
        status = bench->options->list ? bench_task_works(bench) : bench_tasks(bench);
    if (status == COHORT_OK && subcommands & BENCH_BARRIER)
        status = bench_barrier(bench);
    if (status == COHORT_OK && subcommands & BENCH_COLL)
        status = bench->options->list ? bench_listed(bench) : bench_coll(bench);
    if (status == COHORT_OK && subcommands & BENCH_CHECK)
        status = bench_check(bench);
    if (status == COHORT_OK && subcommands & BENCH_KERNELS)
        status = bench_kernels(bench);
    if (status == COHORT_OK && subcommands & BENCH_SUSPENDED)
        status = bench_suspended(bench);
    return status;
}

static cohort_status run(void *arg)
{
    struct program *program = arg;
    if (cohort_locality() > 0)
        return run_all(&(struct bench){.options = program->options});
    bench_report_init(&program->report, program->options);
    cohort_status status = run_all(&(struct bench){program->options, &program->report});
    if (status == COHORT_OK && !bench_report_end(&program->report, NULL, 0))
        status = cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
    bench_report_fini(&program->report);
    return status;
}

/* Errors within the job are printed by cohort_main, or by the launcher for the whole job. */
static int run_job(int argc, char **argv, const struct bench_options *options)
{
    struct program program = {.options = options};
    /* Figures are those of one worker, unless others are asked for. */
    if (!(options->subcommands & BENCH_SPREAD) && setenv("COHORT_WORKERS", "1", 0))
        return 1;
    if (options->list && bench_pairs_register() != COHORT_OK) {
        fprintf(stderr, "cohort-bench: %s\n", cohort_error_message());
        return 1;
    }
    return cohort_main(argc, argv, run, &program);
}

/* figures, hierarchy and spread, which start jobs of their own. */
static int run_jobs(const struct bench_options *options)
{
    struct bench_report report;
    int status;
    if (getenv("COHORT_LOCALITY")) {
        fprintf(stderr, "cohort-bench: %s starts its own jobs: run it without cohortrun\n",
                options->subcommands & BENCH_SPREAD ? "spread" : "figures");
        return 1;
    }
    bench_report_init(&report, options);
    if (options->subcommands & BENCH_FIGURES)
        status = bench_figures(options, &report);
    else if (options->subcommands & BENCH_SPREAD)
        status = bench_spread_jobs(options, &report);
    else
        status = bench_hierarchy_jobs(options, &report);
    bench_report_fini(&report);
    return status;
}

static cohort_status select_program(void *arg)
{
    const struct bench_options *options = arg;
    struct select_report report = {.json = options->json};
    if (cohort_locality() > 0)
        return bench_select(options, NULL);
    select_report_begin(&report, options->by_call);
    cohort_status status = bench_select(options, &report);
    if (status == COHORT_OK && !select_report_end(&report))
        status = cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
    select_report_fini(&report);
    return status;
}

/* The part that needs no other job is measured in this process. */
static int run_select(int argc, char **argv, struct bench_options *options)
{
    if (!getenv("COHORT_LOCALITY") && options->placement != BENCH_PLACED_TASKS)
        return bench_select_jobs(options);
    return setenv("COHORT_WORKERS", "1", 0) ? 1 : cohort_main(argc, argv, select_program, options);
}

static cohort_status describe_program(void *arg)
{
    return bench_describe(arg);
}

int main(int argc, char **argv)
{
    struct bench_options options;
    int status = bench_options_read(argc, argv, &options);
    if (status >= 0)
        return status;
    bool is_in_job = getenv("COHORT_LOCALITY") || getenv("COHORT_BENCH_PART");
    if (options.subcommands & BENCH_SELECT)
        return run_select(argc, argv, &options);
    if (options.subcommands & BENCH_DESCRIBE)
        return cohort_main(argc, argv, describe_program, &options);
    if (options.subcommands & BENCH_FIGURES ||
        (options.subcommands & BENCH_HIERARCHY && !is_in_job) ||
        (options.subcommands & BENCH_SPREAD && !getenv("COHORT_BENCH_PART")))
        return run_jobs(&options);
    return run_job(argc, argv, &options);
}
