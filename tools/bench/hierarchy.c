/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `hierarchy`: all_to_all flat and over trees. */
#include <stdio.h>
#include <string.h>

#include "tools/bench/group.h"
#include "tools/bench/phases.h"

/* Section 13 of the hierarchical design: all_to_all flat, over trees of several arities whatever
 * the number of sites, and as the library chooses. Blocks are from one number to large. */
static const struct bench_case cases[] = {
    {.operation = &bench_operation_all_to_all, .bytes = 8},
    {.operation = &bench_operation_all_to_all, .bytes = 64},
    {.operation = &bench_operation_all_to_all, .bytes = 512},
    {.operation = &bench_operation_all_to_all, .bytes = 4096},
    {.operation = &bench_operation_all_to_all, .bytes = 32768},
};
static const uint32_t arities[] = {2, 4, 8};
enum {
    NUM_CASES = sizeof(cases) / sizeof(cases[0]),
    NUM_ARITIES = sizeof(arities) / sizeof(arities[0]),
};

static uint32_t sites_per_locality(const struct bench_options *options)
{
    return cohort_num_localities() > 1 ? options->sites_per_locality : options->sites;
}

static cohort_status run(const struct bench *bench, const char *shape, uint32_t arity,
                         uint32_t threshold, const char *algorithms)
{
    char name[48];
    snprintf(name, sizeof(name), "hierarchy %s %u", shape, (unsigned)arity);
    return bench_group_run(&(struct bench_group){
        .bench = bench,
        .name = name,
        .sites_per_locality = sites_per_locality(bench->options),
        .arity = arity,
        .flat_fallback_threshold = threshold,
        .algorithms = algorithms,
        .shape = shape,
        .cases = cases,
        .num_cases = NUM_CASES,
    });
}

static cohort_status run_phases(const struct bench *bench, uint32_t arity)
{
    cohort_status status = COHORT_OK;
    for (unsigned i = 0; !status && i < NUM_CASES; i++)
        status = bench_phases_run(&(struct bench_phases){
            .bench = bench,
            .sites_per_locality = sites_per_locality(bench->options),
            .arity = arity,
            .bytes = cases[i].bytes,
        });
    return status;
}

cohort_status bench_hierarchy(const struct bench *bench)
{
    cohort_status status = run(bench, "flat", 0, COHORT_FORCE_TREE - 1, "all_to_all=linear");
    for (unsigned i = 0; !status && i < NUM_ARITIES; i++)
        status = run(bench, "tree", arities[i], COHORT_FORCE_TREE, "all_to_all=hierarchical");
    for (unsigned i = 0; !status && i < NUM_ARITIES; i++)
        status = run(bench, "chosen", arities[i], 0, NULL);
    for (unsigned i = 0; !status && i < NUM_ARITIES; i++)
        status = run_phases(bench, arities[i]);
    return status;
}
