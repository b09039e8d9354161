/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cluster.h"
#include "tests/support/sites.h"
#include "tests/support/test.h"

/* Selection through the whole library: explained, forced, and within a memory budget. */

enum { NUM_SITES = 9, NUM_LOCALITIES = 3, COUNT = 1000 };

static char *texts[NUM_SITES]; /* the message at each site */

static cohort_status explain(cohort_comm *comm, void *arg)
{
    return cohort_explain(comm, arg, COUNT, COHORT_DOUBLE, NULL,
                          &texts[cohort_comm_this_site(comm)]);
}

static void forget(void)
{
    for (unsigned site = 0; site < NUM_SITES; site++) {
        free(texts[site]);
        texts[site] = NULL;
    }
}

/* With POSITIONS of the localities, or NULL. */
static cohort_status run_at(const struct cohort__position *positions, cohort_comm_options options,
                            char *collective, cohort_status (*site)(cohort_comm *comm, void *arg))
{
    struct cluster *cluster = cluster_create(1, NUM_LOCALITIES, 0);
    if (positions)
        cluster_locate(cluster, positions);
    options.num_sites = NUM_SITES;
    cohort_status status = cluster_sites(cluster, (struct sites){
                                                      .name = "select",
                                                      .options = options,
                                                      .run = site,
                                                      .arg = collective,
                                                  });
    cluster_destroy(cluster);
    return status;
}

static cohort_status run(cohort_comm_options options, char *collective,
                         cohort_status (*site)(cohort_comm *comm, void *arg))
{
    return run_at(NULL, options, collective, site);
}

TEST(explain)
{
    cohort_comm_options options = {.arity = 2, .flat_fallback_threshold = COHORT_FORCE_TREE};
    CHECK_OK(run(options, "all_to_all", explain));
    for (unsigned site = 0; site < NUM_SITES; site++)
        CHECK_TEXT(texts[site], texts[0]);
    CHECK_CONTAINS(texts[0],
                   "all_to_all of 8000 bytes a block, 9 sites in 3 localities, at most 3 in one\n"
                   "chosen: ");
    CHECK_CONTAINS(texts[0], "  linear           no: the tree is forced");
    forget();
    CHECK_FAILS(run(options, "no_such", explain), COHORT_ERR_BAD_PARAMETER,
                "\"no_such\" is no collective");
}

TEST(shared_cores)
{
    static const struct {
        struct cohort__position positions[NUM_LOCALITIES];
        const char *said;
    } rows[] = {
        {{{0, 0, 7}, {1, 0, 8}, {2, 0, 7}}, "at most 3 in one, up to 2 hosts on the same cores\n"},
        {{{0, 0, 7}, {1, 0, 7}, {2, 0, 7}}, "at most 3 in one, up to 3 hosts on the same cores\n"},
        {{{0, 0, 7}, {1, 0, 8}, {2, 0, 9}}, "at most 3 in one\n"},
        {{{0, 0, 7}, {0, 0, 7}, {0, 0, 7}}, "at most 3 in one\n"},
        {{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, "at most 3 in one\n"}, /* nobody knows */
    };
    for (size_t i = 0; i < NUM_OF(rows); i++) {
        CHECK_OK(run_at(rows[i].positions, (cohort_comm_options){0}, "barrier", explain));
        for (unsigned site = 0; site < NUM_SITES; site++)
            CHECK_TEXT(texts[site], texts[0]);
        CHECK_CONTAINS(texts[0], rows[i].said);
        forget();
    }
}

TEST(forced)
{
    CHECK_OK(run((cohort_comm_options){.algorithms = "all_to_all=padded"}, "all_to_all", explain));
    CHECK_CONTAINS(texts[0], "chosen: padded, forced\n");
    CHECK_CONTAINS(texts[0], "linear           no: another one is forced");
    forget();
}

/* All sites are told how much memory is needed. Calls that fit still work on the communicator. */
static cohort_status exceed(cohort_comm *comm, void *arg)
{
    uint64_t generation = 1;
    double *memory = calloc(2 * NUM_SITES * COUNT, sizeof(double));
    if (!memory)
        return COHORT_ERR_NO_MEMORY;
    cohort_status status = cohort_await(cohort_all_to_all(comm, memory, memory + NUM_SITES * COUNT,
                                                          COUNT, COHORT_DOUBLE, generation++));
    CHECK_FAILS(status, COHORT_ERR_NO_MEMORY, "algorithm padded");
    CHECK_CONTAINS(cohort_error_message(), "the budget is 4000");
    free(memory);
    return cohort_await(cohort_barrier(comm, generation));
}

TEST(budget)
{
    cohort_comm_options options = {.algorithms = "all_to_all=padded", .memory_budget = 4000};
    CHECK_OK(run(options, "all_to_all", explain));
    bool is_priced = strstr(texts[0], "none: ") != NULL; /* the row has a cost */
    forget();
    if (is_priced)
        CHECK_OK(run(options, NULL, exceed));
}

/* The ring algorithm needs no memory of its own, but data in place is copied. Only some sites may
 * call in place. */
static cohort_status exceed_in_place(cohort_comm *comm, void *arg)
{
    const uint32_t in_place = *(const uint32_t *)arg;
    bool is_in_place = in_place >> cohort_comm_this_site(comm) & 1;
    double *memory = calloc(2 * COUNT, sizeof(double));
    if (!memory)
        return COHORT_ERR_NO_MEMORY;
    const void *in = is_in_place ? COHORT_IN_PLACE : memory + COUNT;
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, in, memory, COUNT, COHORT_DOUBLE, COHORT_SUM, 1));
    CHECK_INT(status, in_place ? COHORT_ERR_NO_MEMORY : COHORT_OK);
    if (in_place)
        CHECK_CONTAINS(cohort_error_message(),
                       "algorithm ring takes 8000 bytes of memory at this site, in place; the "
                       "budget is 7999");
    free(memory);
    return cohort_await(cohort_barrier(comm, 2));
}

TEST(budget_in_place)
{
    static const uint32_t in_place[] = {0, 1, 4, (1 << NUM_SITES) - 1};
    for (unsigned i = 0; i < 4; i++) {
        cohort_comm_options options = {
            .num_sites = NUM_SITES, .algorithms = "all_reduce=ring", .memory_budget = 7999};
        struct cluster *cluster = cluster_create(7, NUM_LOCALITIES, 0);
        CHECK_OK(cluster_sites(cluster, (struct sites){.name = "in place",
                                                       .options = options,
                                                       .run = exceed_in_place,
                                                       .arg = (void *)&in_place[i]}));
        cluster_destroy(cluster);
    }
}

/* In one locality, where the sites meet. */
static cohort_status exceed_in_meeting(cohort_comm *comm, void *arg)
{
    double memory[NUM_SITES] = {0};
    cohort_status status = cohort_await(
        cohort_reduce_scatter(comm, COHORT_IN_PLACE, memory, 1, COHORT_DOUBLE, COHORT_SUM, 1));
    CHECK_FAILS(status, COHORT_ERR_NO_MEMORY, "algorithm shared takes 72 bytes of memory");
    return cohort_await(
        cohort_reduce_scatter(comm, memory, &memory[1], 0, COHORT_DOUBLE, COHORT_SUM, 2));
}

TEST(budget_in_meeting)
{
    struct cluster *cluster = cluster_create(7, 1, 0);
    cohort_comm_options options = {
        .num_sites = NUM_SITES, .algorithms = "reduce_scatter=shared", .memory_budget = 71};
    CHECK_OK(cluster_sites(
        cluster, (struct sites){.name = "meeting", .options = options, .run = exceed_in_meeting}));
    cluster_destroy(cluster);
}

/* The memory of the agreement counts, in the same way at all sites. */
static cohort_status exceed_by_check(cohort_comm *comm, void *arg)
{
    double in = 1, out[NUM_SITES];
    CHECK_OK(cohort_await(cohort_all_gather(comm, &in, out, 1, COHORT_DOUBLE, 1)));
    CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.check_asymmetric = true}));
    cohort_status status = cohort_await(cohort_all_gather(comm, &in, out, 1, COHORT_DOUBLE, 2));
    CHECK(status);
    CHECK_CONTAINS(cohort_error_message(), "the budget is 1");
    return cohort_await(cohort_check_rooted(comm, COHORT_DOUBLE, 3));
}

TEST(budget_of_check)
{
    struct cluster *cluster = cluster_create(7, NUM_LOCALITIES, 0);
    cohort_comm_options options = {
        .num_sites = NUM_SITES, .algorithms = "all_gather=linear", .memory_budget = 1};
    CHECK_OK(cluster_sites(
        cluster, (struct sites){.name = "check", .options = options, .run = exceed_by_check}));
    cluster_destroy(cluster);
}
