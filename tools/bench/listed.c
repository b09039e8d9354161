/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `coll --works`: measures what a list on the command line names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/burden.h"
#include "tools/bench/group.h"
#include "tools/bench/pairs.h"
#include "tools/share/trial.h"

/* What a list can name, besides memory and nothing. */
static const struct listed {
    const struct bench_operation *operation;
    bool is_for_two;
} operations[] = {
    {&bench_operation_barrier, false},     {&bench_operation_all_reduce, false},
    {&bench_operation_all_to_all, false},  {&bench_operation_broadcast, false},
    {&bench_operation_all_gather, false},  {&bench_operation_reduce_scatter, false},
    {&bench_operation_ping_pong, true},    {&bench_operation_stream, true},
    {&bench_operation_exchange, true},     {&bench_operation_overlap, true},
    {&bench_operation_gather, false},      {&bench_operation_gatherv, false},
    {&bench_operation_all_to_allv, false}, {&bench_operation_checked_gather, false},
    {&bench_operation_check, false},       {&bench_operation_remote, true},
    {&bench_operation_rate, true},         {&bench_operation_communicators, true},
    {&bench_operation_sparse, false},      {&bench_operation_counted, false},
    {&bench_operation_halo, true},         {&bench_operation_get, true},
    {&bench_operation_put, true},          {&bench_operation_add, true},
};

static cohort_status measure(const struct bench *bench, const struct bench_work *work)
{
    const struct listed *one = operations;
    while (strcmp(one->operation->name, work->name) != 0)
        one++;
    uint32_t num_tasks = bench->options->sites_per_locality;
    if (one->is_for_two && (cohort_num_localities() != 2 || num_tasks != 1))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s needs a job of 2 localities with a site each, not %u with %u",
                           work->name, (unsigned)cohort_num_localities(), (unsigned)num_tasks);
    const struct bench_case single = {.operation = one->operation, .bytes = work->size};
    char name[64];
    snprintf(name, sizeof(name), "%s of %llu", work->name, (unsigned long long)work->size);
    return bench_group_run(&(struct bench_group){
        .bench = bench,
        .name = name,
        .shape = bench->options->algorithms ? "forced" : "chosen",
        .algorithms = bench->options->algorithms,
        .sites_per_locality = num_tasks,
        .arity = bench->options->arity,
        .cases = &single,
        .num_cases = 1,
    });
}

static cohort_status add_memory(const struct bench *bench, const char *name, double *values)
{
    uint32_t num = cohort_num_localities();
    struct bench_result result = {
        .localities = num, .workers = cohort_num_workers(), .sites = num, .shape = "chosen"};
    double median = trial_median(values, num); /* sorts them */
    snprintf(result.name, sizeof(result.name), "%s", name);
    bench_result_set(&result, (struct bench_spread){median, values[0], values[num - 1]}, "MiB", 1);
    return bench_report_add(bench->report, &result);
}

/* MIB is this locality's. */
static cohort_status gather_memory(const struct bench *bench, const char *name, double mib)
{
    uint32_t num = cohort_num_localities();
    bool is_root = cohort_locality() == 0;
    const cohort_comm_options options = {.num_sites = num, .this_site = cohort_locality()};
    cohort_comm *comm = NULL;
    double *values = calloc(num, sizeof(*values));
    cohort_status status =
        values ? cohort_await(cohort_comm_create(&comm, name, &options))
               : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u numbers", (unsigned)num);
    if (!status)
        status = cohort_await(is_root ? cohort_gather_here(comm, &mib, values, 1, COHORT_DOUBLE, 1)
                                      : cohort_gather_there(comm, &mib, 1, COHORT_DOUBLE, 1));
    if (!status && is_root)
        status = add_memory(bench, name, values);
    cohort_comm_unref(comm);
    free(values);
    return status;
}

/* Reads it while this process is idle, and before it has sent anything to another locality. */
static cohort_status read_memory(const struct bench_works *works, double *ret_rss, double *ret_pss)
{
    bool is_wanted = false;
    for (size_t i = 0; i < works->num; i++)
        is_wanted = is_wanted || strncmp(works->list[i].name, "memory_", 7) == 0;
    if (!is_wanted)
        return COHORT_OK;
    cohort_status status = cohort_await(cohort_sleep(BENCH_IDLE_NS));
    *ret_rss = bench_burden_memory("Rss");
    *ret_pss = bench_burden_memory("Pss");
    return status;
}

cohort_status bench_listed(const struct bench *bench)
{
    const struct bench_works *works = &bench->options->works;
    double rss = 0, pss = 0;
    cohort_status status = read_memory(works, &rss, &pss);
    for (size_t i = 0; status == COHORT_OK && i < works->num; i++) {
        const struct bench_work *work = &works->list[i];
        if (strcmp(work->name, "memory_rss") == 0)
            status = gather_memory(bench, work->name, rss);
        else if (strcmp(work->name, "memory_pss") == 0)
            status = gather_memory(bench, work->name, pss);
        else if (strcmp(work->name, "nothing") != 0)
            status = measure(bench, work);
    }
    return status;
}
