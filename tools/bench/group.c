/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the sites of a communicator, which make the same measurements in turn. */
#include "tools/bench/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the sites of this locality share. */
struct sites {
    const struct bench_group *group;
    uint32_t num_sites; /* of the whole communicator */
    uint32_t first;
    struct site *sites;
    cohort_future **futures;
    atomic_uint num_arrived;
    atomic_flag is_wrong_told;
};

struct site {
    struct sites *shared;
    uint32_t index;
    uint64_t generation;
    struct bench_call call;
};

/* Elements of a block. */
static size_t case_count(const struct bench_case *one, uint32_t num_sites)
{
    size_t count = (one->is_total ? one->bytes / num_sites : one->bytes) / sizeof(double);
    return count ? count : 1;
}

/* Blocks of IN, and of OUT. */
static size_t num_blocks(const struct bench_operation *operation, uint32_t num_sites)
{
    if (operation->has_blocks)
        return num_sites;
    return operation->num_buffers ? operation->num_buffers : 1;
}

static size_t case_elements(const struct bench_case *one, uint32_t num_sites)
{
    return case_count(one, num_sites) * num_blocks(one->operation, num_sites);
}

static cohort_status start_and_await(struct site *site, const struct bench_operation *operation)
{
    site->generation += operation->num_generations ? operation->num_generations : 1;
    return cohort_await(operation->start(&site->call, site->generation));
}

/* The first wrong result of this locality is printed at once. The program ends with the error of
 * site 0, which may only say that another site has gone. */
static cohort_status check_once(struct site *site, const struct bench_case *one)
{
    one->operation->fill(&site->call);
    cohort_status status = start_and_await(site, one->operation);
    if (status != COHORT_OK)
        return status;
    status = one->operation->check(&site->call);
    if (status != COHORT_OK && !atomic_flag_test_and_set(&site->shared->is_wrong_told))
        fprintf(stderr, "cohort-bench: wrong result of %s, %llu bytes: %s\n", one->operation->name,
                (unsigned long long)one->bytes, cohort_error_message());
    return status;
}

/* Site 0 tells the others how many calls the next run has. */
static cohort_status agree(struct site *site, uint64_t *calls)
{
    uint64_t generation = ++site->generation;
    return cohort_await(
        site->index == 0
            ? cohort_broadcast_to(site->call.comm, calls, 1, COHORT_UINT64, generation)
            : cohort_broadcast_from(site->call.comm, calls, 1, COHORT_UINT64, generation));
}

static cohort_status time_calls(struct site *site, const struct bench_operation *operation,
                                uint64_t calls, uint64_t *ret_elapsed_ns)
{
    cohort_status status = cohort_await(cohort_barrier(site->call.comm, ++site->generation));
    bool is_fresh = site->shared->group->bench->options->is_fresh;
    size_t elements = site->call.num_buffers * site->call.count;
    uint64_t start = bench_now();
    for (uint64_t i = 0; status == COHORT_OK && i < calls; i++) {
        if (is_fresh)
            bench_renew(site->call.in, elements);
        status = start_and_await(site, operation);
    }
    if (status == COHORT_OK && operation->is_one_way)
        status = cohort_await(cohort_barrier(site->call.comm, ++site->generation));
    *ret_elapsed_ns = bench_now() - start;
    return status;
}

static cohort_status add_result(const struct site *site, const struct bench_case *one,
                                struct bench_series *series)
{
    const struct sites *shared = site->shared;
    bool is_tree = cohort_comm_levels(site->call.comm) > 1;
    struct bench_result result = {
        .localities = cohort_num_localities(),
        .workers = cohort_num_workers(),
        .sites = shared->num_sites,
        .bytes = one->bytes,
        .block = one->operation->has_blocks ? site->call.count * sizeof(double) : 0,
        .arity = is_tree ? cohort_comm_arity(site->call.comm) : 0,
    };
    snprintf(result.name, sizeof(result.name), "%s", one->operation->name);
    snprintf(result.shape, sizeof(result.shape), "%s",
             shared->group->shape ? shared->group->shape
             : is_tree            ? "tree"
                                  : "flat");
    struct bench_spread spread = bench_series_spread(series);
    bench_spread_divide(&spread, one->operation->num_in_call ? one->operation->num_in_call : 1);
    bench_result_set(&result, spread, "us", series->num_rounds);
    return bench_report_add(shared->group->bench->report, &result);
}

static cohort_status measure(struct site *site, const struct bench_case *one)
{
    struct bench_series series;
    uint64_t calls, elapsed_ns;
    site->call.count = case_count(one, site->shared->num_sites);
    site->call.num_buffers = num_blocks(one->operation, site->shared->num_sites);
    for (uint32_t i = 0; i < site->shared->num_sites; i++)
        site->call.counts[i] = site->call.count;
    cohort_status status = check_once(site, one);
    bench_series_init(&series, site->shared->group->bench->options);
    while (status == COHORT_OK) {
        calls = bench_series_next(&series);
        status = agree(site, &calls);
        if (status != COHORT_OK || calls == 0)
            break;
        status = time_calls(site, one->operation, calls, &elapsed_ns);
        if (site->index == 0)
            bench_series_add(&series, elapsed_ns);
    }
    if (one->operation->end)
        one->operation->end();
    if (status == COHORT_OK && site->index == 0)
        status = add_result(site, one, &series);
    return status;
}

static cohort_status run_site(void *arg)
{
    struct site *site = arg;
    const struct bench_group *group = site->shared->group;
    const cohort_comm_options options = {
        .num_sites = site->shared->num_sites,
        .this_site = site->index,
        .arity = group->arity,
        .flat_fallback_threshold = group->flat_fallback_threshold,
        .algorithms = group->algorithms,
    };
    cohort_status status =
        cohort_await(cohort_comm_create(&site->call.comm, group->name, &options));
    for (size_t i = 0; status == COHORT_OK && i < group->num_cases; i++)
        status = measure(site, &group->cases[i]);
    cohort_comm_unref(site->call.comm);
    return status;
}

static double *numbers_alloc(const struct sites *shared, size_t num)
{
    void *numbers = NULL;
    if (!shared->group->bench->options->is_lent)
        return calloc(num, sizeof(double));
    if (cohort_memory_alloc(&numbers, num * sizeof(double)))
        return NULL;
    return memset(numbers, 0, num * sizeof(double));
}

static void numbers_free(const struct sites *shared, double *numbers)
{
    if (shared->group->bench->options->is_lent)
        cohort_memory_free(numbers);
    else
        free(numbers);
}

static void sites_free(struct sites *shared)
{
    for (uint32_t i = 0; shared->sites && i < shared->group->sites_per_locality; i++) {
        numbers_free(shared, shared->sites[i].call.in);
        numbers_free(shared, shared->sites[i].call.out);
        free(shared->sites[i].call.counts);
    }
    free(shared->sites);
    free(shared->futures);
}

/* All memory is allocated before a site joins, so that no site keeps the others waiting. */
static cohort_status sites_allocate(struct sites *shared)
{
    const struct bench_group *group = shared->group;
    uint32_t num_here = group->sites_per_locality;
    size_t elements = 1;
    for (size_t i = 0; i < group->num_cases; i++) {
        size_t wanted = case_elements(&group->cases[i], shared->num_sites);
        elements = wanted > elements ? wanted : elements;
    }
    shared->sites = calloc(num_here, sizeof(*shared->sites));
    shared->futures = calloc(num_here, sizeof(cohort_future *));
    bool is_complete = shared->sites && shared->futures;
    for (uint32_t i = 0; is_complete && i < num_here; i++) {
        struct site *site = &shared->sites[i];
        *site = (struct site){.shared = shared, .index = shared->first + i};
        site->call.num_arrived = &shared->num_arrived;
        site->call.num_here = num_here;
        site->call.computing = group->bench->options->computing;
        site->call.in = numbers_alloc(shared, elements);
        site->call.out = numbers_alloc(shared, elements);
        site->call.counts = calloc(shared->num_sites, sizeof(size_t));
        is_complete = site->call.in && site->call.out && site->call.counts;
    }
    return is_complete ? COHORT_OK
                       : cohort_fail(COHORT_ERR_NO_MEMORY,
                                     "no memory for %u sites with 2 buffers of %zu bytes each",
                                     (unsigned)num_here, elements * sizeof(double));
}

cohort_status bench_group_run(const struct bench_group *group)
{
    uint32_t num_here = group->sites_per_locality;
    struct sites shared = {
        .group = group,
        .num_sites = cohort_num_localities() * num_here,
        .first = cohort_locality() * num_here,
        .is_wrong_told = ATOMIC_FLAG_INIT,
    };
    cohort_status status = sites_allocate(&shared);
    if (status == COHORT_OK) {
        for (uint32_t i = 0; i < num_here; i++)
            shared.futures[i] = cohort_async(run_site, &shared.sites[i]);
        status = cohort_await(cohort_when_all(shared.futures, num_here));
    }
    sites_free(&shared);
    return status;
}
