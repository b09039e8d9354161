/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cohort/collectives.h"
#include "tests/support/cluster.h"

/* A locality dies while a generation is taken back: the one that decides, or one that votes, after
 * each number of messages that it sends for that. All calls of the others end, and so do the calls
 * of the next generation. */

enum { SITES = 6, LOCALITIES = 3, MOST_MESSAGES = 8, SEEDS = 6 };

static void end_victim(struct cluster *cluster, uint32_t victim)
{
    uint32_t order = 0;
    for (uint32_t peer = 0; peer < LOCALITIES; peer++)
        if (peer != victim)
            cluster_tell_death(cluster, victim, peer, ++order, "is out of reach");
}

static bool is_fine(cohort_status status)
{
    return status == COHORT_ERR_CANCELLED || status == COHORT_ERR_PEER_DIED;
}

/* All sites call but the last one. */
static void play(uint64_t seed, uint32_t victim, uint32_t asker, uint32_t num_messages)
{
    cohort_comm *comms[SITES];
    cohort_future *futures[SITES];
    int64_t in = 1, out[SITES];
    struct cluster *cluster = cluster_create(seed, LOCALITIES, 0);
    cluster_place(cluster, CLUSTER_BLOCKS);
    cluster_create_comms(cluster, comms, "row",
                         (cohort_comm_options){.num_sites = SITES, .stall_after = 50000000});
    for (uint32_t site = 0; site < SITES - 1; site++)
        futures[site] =
            cohort_all_reduce(comms[site], &in, &out[site], 1, COHORT_INT64, COHORT_SUM, 1);
    cluster_kill_after(cluster, victim, num_messages, UINT64_C(1) << victim);
    CHECK_OK(cohort_comm_cancel(comms[asker], 1));
    for (uint32_t site = 0; site < SITES - 1; site++)
        if (site / 2 != victim)
            CHECK(is_fine(cohort_await(futures[site])));
    cluster_kill(cluster, victim);
    if (victim != LOCALITIES - 1)
        CHECK(is_fine(cohort_await(cohort_all_reduce(comms[SITES - 1], &in, &out[SITES - 1], 1,
                                                     COHORT_INT64, COHORT_SUM, 1))));
    end_victim(cluster, victim);
    for (uint32_t site = 0; site < SITES - 1; site++)
        if (site / 2 == victim)
            CHECK(is_fine(cohort_await(futures[site])));
    for (uint32_t site = 0; site < SITES; site++)
        CHECK_INT(cohort_await(cohort_barrier(comms[site], 2)), COHORT_ERR_PEER_DIED);
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(comms[site]);
    cluster_abandon(cluster);
}

TEST(deaths)
{
    for (uint64_t seed = 1; seed <= test_rounds(SEEDS, 2); seed++)
        for (uint32_t victim = 0; victim < LOCALITIES; victim++)
            for (uint32_t asker = 0; asker < SITES; asker += 2)
                for (uint32_t num = 0; num <= MOST_MESSAGES; num++)
                    play(seed, victim, asker, num);
}
