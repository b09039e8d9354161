/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench_group.h"

/* Enough for a bytes column of 1 MiB: the blocks of all_to_all are then the share of each pair. */
static const struct bench_case cases[] = {
    {.operation = &bench_operation_barrier},
    {.operation = &bench_operation_all_reduce, .bytes = 8},
    {.operation = &bench_operation_all_reduce, .bytes = 4096},
    {.operation = &bench_operation_all_reduce, .bytes = 1 << 20},
    {.operation = &bench_operation_all_to_all, .bytes = 8},
    {.operation = &bench_operation_all_to_all, .bytes = 4096},
    {.operation = &bench_operation_all_to_all, .bytes = 1 << 20, .is_total = true},
};

static cohort_status run(const struct bench *bench, const char *name, uint32_t arity,
                         uint32_t flat_fallback_threshold)
{
    const struct bench_options *options = bench->options;
    return bench_group_run(&(struct bench_group){
        .bench = bench,
        .name = name,
        .sites_per_locality =
            cohort_num_localities() > 1 ? options->sites_per_locality : options->sites,
        .arity = arity,
        .flat_fallback_threshold = flat_fallback_threshold,
        .cases = cases,
        .num_cases = sizeof(cases) / sizeof(cases[0]),
    });
}

/* Barrier, all_reduce and all_to_all over all localities of the job, flat, then over the tree,
 * where so many sites make one. */
cohort_status bench_coll(const struct bench *bench)
{
    const struct bench_options *options = bench->options;
    uint32_t num_localities = cohort_num_localities();
    uint64_t num_sites = num_localities > 1 ? (uint64_t)num_localities * options->sites_per_locality
                                            : options->sites;
    uint32_t arity = options->arity;
    if (!arity)
        arity = num_sites > COHORT_DEFAULT_ARITY ? COHORT_DEFAULT_ARITY : 2;
    if (num_sites > INT32_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%llu sites are too many",
                           (unsigned long long)num_sites);
    cohort_status status = run(bench, "flat", arity, COHORT_FORCE_TREE - 1);
    if (status == COHORT_OK && num_sites > arity)
        status = run(bench, "tree", arity, COHORT_FORCE_TREE);
    return status;
}
