/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the same cases flat, over the tree, and as the library chooses. */
#include "tools/bench/group.h"

/* SHAPE: for the report. NULL: what the communicator is. */
static cohort_status run(const struct bench *bench, const char *name, const char *shape,
                         uint32_t arity, uint32_t flat_fallback_threshold,
                         const struct bench_case *cases, size_t num_cases)
{
    const struct bench_options *options = bench->options;
    return bench_group_run(&(struct bench_group){
        .bench = bench,
        .name = name,
        .shape = shape,
        .sites_per_locality =
            cohort_num_localities() > 1 ? options->sites_per_locality : options->sites,
        .arity = arity,
        .flat_fallback_threshold = flat_fallback_threshold,
        .cases = cases,
        .num_cases = num_cases,
    });
}

cohort_status bench_shapes(const struct bench *bench, const struct bench_case *cases,
                           size_t num_cases)
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
    cohort_status status = run(bench, "flat", NULL, arity, COHORT_FORCE_TREE - 1, cases, num_cases);
    if (status == COHORT_OK && num_sites > arity)
        status = run(bench, "tree", NULL, arity, COHORT_FORCE_TREE, cases, num_cases);
    return status;
}

cohort_status bench_chosen(const struct bench *bench, const struct bench_case *cases,
                           size_t num_cases)
{
    return run(bench, "chosen", "chosen", 0, 0, cases, num_cases);
}
