/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `hierarchy`: all_to_all flat and over trees, and the plot of it. */
#include <stdio.h>
#include <string.h>

#include "tools/bench/group.h"
#include "tools/bench/phases.h"
#include "tools/share/plot.h"

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

enum { MAX_CURVES = 32 };

/* One curve for each kind of line in the report. */
struct curve {
    const struct bench_result *first;
    char label[80];
    struct plot_point points[NUM_CASES];
    size_t num_points;
};

static bool is_same_curve(const struct bench_result *a, const struct bench_result *b)
{
    return a->localities == b->localities && a->workers == b->workers && a->arity == b->arity &&
           strcmp(a->name, b->name) == 0 && strcmp(a->shape, b->shape) == 0;
}

static struct curve *find_curve(struct curve *curves, size_t *num,
                                const struct bench_result *result)
{
    for (size_t i = 0; i < *num; i++)
        if (is_same_curve(curves[i].first, result))
            return &curves[i];
    if (*num == MAX_CURVES)
        return NULL;
    struct curve *curve = &curves[(*num)++];
    *curve = (struct curve){.first = result};
    char arity[24] = "";
    if (result->arity > 0)
        snprintf(arity, sizeof(arity), " arity %u", (unsigned)result->arity);
    snprintf(curve->label, sizeof(curve->label), "%s%s, %u localit%s, %u worker%s", result->shape,
             arity, (unsigned)result->localities, result->localities == 1 ? "y" : "ies",
             (unsigned)result->workers, result->workers == 1 ? "" : "s");
    return curve;
}

/* Draws the whole calls. The phases are in the table. */
cohort_status bench_hierarchy_plot(const struct bench_report *report, const char *path)
{
    struct curve curves[MAX_CURVES];
    struct plot_series series[MAX_CURVES];
    size_t num = 0;
    for (size_t i = 0; i < report->num_results; i++) {
        const struct bench_result *result = &report->results[i];
        if (strcmp(result->name, "all_to_all") != 0)
            continue;
        struct curve *curve = find_curve(curves, &num, result);
        if (curve && curve->num_points < NUM_CASES)
            curve->points[curve->num_points++] =
                (struct plot_point){(double)result->bytes, result->median};
    }
    for (size_t i = 0; i < num; i++)
        series[i] = (struct plot_series){curves[i].label, curves[i].points, curves[i].num_points};
    return plot_write(
        &(struct plot){
            .title = "all_to_all, 64 sites: flat against the tree",
            .subtitle = "cohort-bench hierarchy; chosen: by the library, the tree allowed",
            .x = {"bytes for each pair of sites", PLOT_LOG2, PLOT_BYTES},
            .y = {"time of a call in microseconds", PLOT_LOG10, PLOT_NUMBER},
            .series = series,
            .num_series = num,
        },
        path);
}
