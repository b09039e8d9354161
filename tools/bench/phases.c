/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `hierarchy`: the phases of all_to_all over a tree, one at a time. */
#include "tools/bench/phases.h"

#include <stdio.h>
#include <stdlib.h>

enum { NUM_PHASES = 3 };

/* A site, with its endpoints of all sites, of its group, and of the representatives. */
struct site {
    const struct bench_phases *phases;
    uint32_t index, num_sites;
    uint32_t group, member; /* which group, and which place in it */
    cohort_comm *all, *own, *top;
    double *rows, *gathered, *exchanged;
    uint64_t generation;
};

static uint32_t group_size(const struct site *site)
{
    return site->num_sites / site->phases->arity;
}

static cohort_status join(cohort_comm **ret_comm, const char *name, cohort_comm_options options)
{
    return cohort_await(cohort_comm_create(ret_comm, name, &options));
}

/* A communicator's name is used again for the next number of bytes. By then its sites have left. */
static cohort_status join_all(struct site *site)
{
    uint32_t arity = site->phases->arity;
    char names[3][48];
    snprintf(names[0], sizeof(names[0]), "phases %u", (unsigned)arity);
    snprintf(names[1], sizeof(names[1]), "phases %u group %u", (unsigned)arity,
             (unsigned)site->group);
    snprintf(names[2], sizeof(names[2]), "phases %u top", (unsigned)arity);
    cohort_status status =
        join(&site->all, names[0],
             (cohort_comm_options){.num_sites = site->num_sites, .this_site = site->index});
    if (!status)
        status = join(&site->own, names[1],
                      (cohort_comm_options){
                          .num_sites = group_size(site),
                          .this_site = site->member,
                          .arity = arity,
                          .flat_fallback_threshold = COHORT_FORCE_TREE,
                          .algorithms = "gather=hierarchical,scatter=hierarchical",
                      });
    if (!status && site->member == 0)
        status = join(&site->top, names[2],
                      (cohort_comm_options){
                          .num_sites = arity,
                          .this_site = site->group,
                          .algorithms = "all_to_all=linear",
                      });
    return status;
}

static cohort_status run_phase(struct site *site, unsigned phase)
{
    size_t row = site->num_sites * site->phases->bytes / sizeof(double);
    size_t block = group_size(site) * group_size(site) * site->phases->bytes / sizeof(double);
    uint64_t generation = site->generation;
    if (phase == 0)
        return cohort_await(
            site->member == 0
                ? cohort_gather_here(site->own, site->rows, site->gathered, row, COHORT_DOUBLE,
                                     generation)
                : cohort_gather_there(site->own, site->rows, row, COHORT_DOUBLE, generation));
    if (phase == 1)
        return site->member > 0
                   ? COHORT_OK
                   : cohort_await(cohort_all_to_all(site->top, site->gathered, site->exchanged,
                                                    block, COHORT_DOUBLE, generation));
    return cohort_await(
        site->member == 0
            ? cohort_scatter_to(site->own, site->exchanged, site->rows, row, COHORT_DOUBLE,
                                generation)
            : cohort_scatter_from(site->own, site->rows, row, COHORT_DOUBLE, generation));
}

/* CALLS calls in their phases; adds the time of each phase. */
static cohort_status run_calls(struct site *site, uint64_t calls, uint64_t *times)
{
    cohort_status status = COHORT_OK;
    for (uint64_t call = 0; !status && call < calls; call++) {
        uint64_t start = bench_now();
        for (unsigned phase = 0; !status && phase < NUM_PHASES; phase++) {
            site->generation++;
            status = run_phase(site, phase);
            if (!status)
                status = cohort_await(cohort_barrier(site->all, site->generation));
            uint64_t now = bench_now();
            times[phase] += now - start;
            start = now;
        }
    }
    return status;
}

static cohort_status agree(struct site *site, uint64_t *calls)
{
    uint64_t generation = ++site->generation;
    return cohort_await(
        site->index == 0 ? cohort_broadcast_to(site->all, calls, 1, COHORT_UINT64, generation)
                         : cohort_broadcast_from(site->all, calls, 1, COHORT_UINT64, generation));
}

static cohort_status add_results(const struct site *site, double (*rounds)[BENCH_MAX_ROUNDS],
                                 unsigned num_rounds)
{
    cohort_status status = COHORT_OK;
    for (unsigned phase = 0; !status && phase < NUM_PHASES; phase++) {
        struct bench_result result = {
            .localities = cohort_num_localities(),
            .workers = cohort_num_workers(),
            .sites = site->num_sites,
            .bytes = site->phases->bytes,
            .block = site->phases->bytes,
            .arity = site->phases->arity,
            .shape = "tree",
        };
        snprintf(result.name, sizeof(result.name), "phase %u", phase + 1);
        struct bench_series series = {.num_rounds = num_rounds};
        for (unsigned i = 0; i < num_rounds; i++)
            series.ns_per_call[i] = rounds[phase][i];
        bench_result_set(&result, bench_series_spread(&series), "us", num_rounds);
        status = bench_report_add(site->phases->bench->report, &result);
    }
    return status;
}

static cohort_status measure(struct site *site)
{
    static double rounds[NUM_PHASES][BENCH_MAX_ROUNDS]; /* site 0's */
    struct bench_series series;
    unsigned num = 0;
    cohort_status status = COHORT_OK;
    bench_series_init(&series, site->phases->bench->options);
    while (!status) {
        uint64_t calls = bench_series_next(&series), times[NUM_PHASES] = {0};
        status = agree(site, &calls);
        if (status || calls == 0)
            break;
        status = run_calls(site, calls, times);
        if (site->index > 0)
            continue;
        unsigned before = series.num_rounds;
        bench_series_add(&series, times[0] + times[1] + times[2]);
        for (unsigned phase = 0; series.num_rounds > before && phase < NUM_PHASES; phase++)
            rounds[phase][num] = (double)times[phase] / (double)calls;
        num = series.num_rounds;
    }
    return status || site->index > 0 ? status : add_results(site, rounds, num);
}

static cohort_status run_site(void *arg)
{
    struct site *site = arg;
    cohort_status status = join_all(site);
    if (!status)
        status = measure(site);
    cohort_comm_unref(site->top);
    cohort_comm_unref(site->own);
    cohort_comm_unref(site->all);
    return status;
}

static cohort_status site_init(struct site *site, const struct bench_phases *phases, uint32_t index,
                               uint32_t num_sites)
{
    *site = (struct site){.phases = phases, .index = index, .num_sites = num_sites};
    site->group = index / group_size(site);
    site->member = index % group_size(site);
    size_t row = num_sites * phases->bytes, matrix = group_size(site) * row;
    site->rows = calloc(1, row);
    site->gathered = site->member == 0 ? calloc(1, matrix) : NULL;
    site->exchanged = site->member == 0 ? calloc(1, matrix) : NULL;
    if (!site->rows || (site->member == 0 && (!site->gathered || !site->exchanged)))
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for matrices of %zu bytes", matrix);
    return COHORT_OK;
}

cohort_status bench_phases_run(const struct bench_phases *phases)
{
    uint32_t num_here = phases->sites_per_locality, num_sites = num_here * cohort_num_localities();
    if (num_sites % phases->arity != 0 || num_sites == phases->arity)
        return COHORT_OK;
    struct site *sites = calloc(num_here, sizeof(*sites));
    cohort_future **futures = calloc(num_here, sizeof(*futures));
    cohort_status status = COHORT_OK;
    if (!sites || !futures)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u sites", (unsigned)num_here);
    for (uint32_t i = 0; !status && i < num_here; i++)
        status = site_init(&sites[i], phases, cohort_locality() * num_here + i, num_sites);
    if (!status) {
        for (uint32_t i = 0; i < num_here; i++)
            futures[i] = cohort_async(run_site, &sites[i]);
        status = cohort_await(cohort_when_all(futures, num_here));
    }
    for (uint32_t i = 0; sites && i < num_here; i++) {
        free(sites[i].rows);
        free(sites[i].gathered);
        free(sites[i].exchanged);
    }
    free(sites);
    free(futures);
    return status;
}
