/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/collectives.h"
#include "cohort/task.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_life.h"
#include "runtime/base/clock.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"

/* A worker hears of a death while the event loop's thread ticks endpoints, which changes their
 * order. As many as are ticked at once, and one more. Where the walk lets a tick come between, the
 * tick has begun before the walk goes on, and ends after it. */

enum { NUM = 65 };
static const uint64_t long_enough = 300 * UINT64_C(1000000); /* for a tick to begin */
static const uint64_t patience = 60 * UINT64_C(1000000000);
static atomic_bool is_walking, has_ticked;
static atomic_uint num_told;

void __real_cohort__endpoint_peer_died(struct cohort_comm *comm);
void __real_cohort__endpoint_tick(struct cohort_comm *comm);

void __wrap_cohort__endpoint_peer_died(struct cohort_comm *comm)
{
    const uint64_t begin = cohort__clock_now();
    __real_cohort__endpoint_peer_died(comm);
    atomic_fetch_add(&num_told, 1);
    if (atomic_exchange(&is_walking, true))
        return;
    while (!atomic_load(&has_ticked) && cohort__clock_now() - begin < long_enough)
        sched_yield();
}

void __wrap_cohort__endpoint_tick(struct cohort_comm *comm)
{
    const bool is_walked = comm->this_site == 0;
    if (is_walked && atomic_load(&is_walking))
        atomic_store(&has_ticked, true);
    while (is_walked && atomic_load(&is_walking))
        sched_yield();
    __real_cohort__endpoint_tick(comm);
}

TEST(all_hear)
{
    struct cluster *cluster = cluster_create(1, 2, 0);
    static cohort_comm *comms[NUM][2];
    cohort_future *calls[NUM];
    for (uint32_t i = 0; i < NUM; i++) {
        char name[32];
        snprintf(name, sizeof(name), "communicator %u", i);
        cluster_create_comms(cluster, comms[i], name, (cohort_comm_options){.num_sites = 2});
        calls[i] = cohort_barrier(comms[i][0], 1);
    }
    cluster_tell_death(cluster, 0, 1, 1, "it was told to");
    CHECK_INT(num_told, NUM);
    atomic_store(&is_walking, false);
    for (uint32_t i = 0; i < NUM; i++) {
        CHECK_INT(await_within(calls[i], patience), COHORT_ERR_PEER_DIED);
        for (uint32_t site = 0; site < 2; site++)
            cohort_comm_unref(comms[i][site]);
    }
    cluster_abandon(cluster);
}

int main(int argc, char **argv)
{
    return cluster_test(argc, argv, 3);
}
