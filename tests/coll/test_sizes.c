/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Sizes that only two sites know need not match: they are not in the fingerprint. The sizes of the
 * messages then show the difference. A message of the wrong size may be early, waited for, or
 * before the start of its step. In each case the call fails and nothing is lost. */

enum { NUM_SITES = 7, ELEMENTS = 2, GENERATIONS = 2 * NUM_SITES };

static cohort_future *all_to_all(cohort_comm *comm, bool is_wrong, uint64_t generation)
{
    static int64_t in[NUM_SITES][NUM_SITES * ELEMENTS], out[NUM_SITES][NUM_SITES];
    static size_t in_counts[NUM_SITES][GENERATIONS + 1][NUM_SITES], ones[NUM_SITES];
    uint32_t me = cohort_comm_this_site(comm);
    for (uint32_t site = 0; site < NUM_SITES; site++) {
        in_counts[me][generation][site] = is_wrong && site != me ? ELEMENTS : 1;
        ones[site] = 1;
    }
    return cohort_all_to_allv(comm, in[me], in_counts[me][generation], NULL, out[me], ones, NULL,
                              COHORT_INT64, generation);
}

static cohort_future *gather(cohort_comm *comm, bool is_wrong, uint64_t generation)
{
    static int64_t in[ELEMENTS], out[NUM_SITES];
    static size_t ones[NUM_SITES];
    uint32_t me = cohort_comm_this_site(comm);
    for (uint32_t site = 0; site < NUM_SITES; site++)
        ones[site] = 1;
    return me == cohort_comm_root_site(comm)
               ? cohort_gatherv_here(comm, in, 1, out, ones, NULL, COHORT_INT64, generation)
               : cohort_gatherv_there(comm, in, is_wrong ? ELEMENTS : 1, COHORT_INT64, generation);
}

static cohort_status one_sends_more(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm), num_failed = 0;
    for (uint64_t generation = 1; generation <= GENERATIONS; generation++) {
        bool is_wrong = generation % NUM_SITES == me;
        cohort_status status =
            cohort_await(generation <= NUM_SITES ? all_to_all(comm, is_wrong, generation)
                                                 : gather(comm, is_wrong, generation));
        if (status)
            CHECK_INT(status, COHORT_ERR_MISMATCH);
        if (status)
            CHECK_CONTAINS(cohort_error_message(), "were expected");
        num_failed += status != COHORT_OK;
    }
    CHECK(num_failed > 0);
    return cohort_await(cohort_barrier(comm, GENERATIONS + 1));
}

static void run(uint64_t seed, uint32_t threshold)
{
    struct cluster *cluster = cluster_create(seed, 1 + seed % 3, 0);
    cohort_status status =
        cluster_sites(cluster, (struct sites){
                                   .name = "sizes",
                                   .options = {.num_sites = NUM_SITES,
                                               .arity = 2,
                                               .flat_fallback_threshold = threshold,
                                               .stall_after = 100000000},
                                   .run = one_sends_more,
                               });
    if (status)
        FAIL("seed %llu: %s", (unsigned long long)seed, cohort_error_message());
    cluster_destroy(cluster);
}

TEST(flat)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        run(seed, 1024);
}

TEST(tree)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        run(seed, COHORT_FORCE_TREE);
}
