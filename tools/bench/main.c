/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: where it begins: which subcommand. */
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
    if (status == COHORT_OK && !bench_report_end(&program->report))
        status = cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
    bench_report_fini(&program->report);
    return status;
}

static cohort_status select_program(void *arg)
{
    const struct bench_options *options = arg;
    struct select_report report = {.json = options->json};
    if (cohort_locality() > 0)
        return bench_select(options, NULL);
    select_report_begin(&report);
    cohort_status status = bench_select(options, &report);
    if (status == COHORT_OK && !select_report_end(&report))
        status = cohort_fail(COHORT_ERR_SYSTEM, "standard output can't be written");
    return status;
}

/* Errors within the job are printed by cohort_main, or by the launcher for the whole job. */
static int run_job(int argc, char **argv, struct bench_options *options)
{
    struct program program = {.options = options};
    /* Figures are those of one worker, unless others are asked for. */
    if (setenv("COHORT_WORKERS", "1", 0))
        return 1;
    if (options->subcommands & BENCH_SELECT)
        return cohort_main(argc, argv, select_program, options);
    if (options->list && bench_pairs_register() != COHORT_OK) {
        fprintf(stderr, "cohort-bench: %s\n", cohort_error_message());
        return 1;
    }
    return cohort_main(argc, argv, run, &program);
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
    if (options.subcommands & BENCH_DESCRIBE)
        return cohort_main(argc, argv, describe_program, &options);
    return run_job(argc, argv, &options);
}
