/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/collectives.h"
#include "cohort/task.h"
#include "collectives/comm/endpoint.h"
#include "tests/support/cluster.h"

/* A peer dies with which many calls are under way. They fail some in each turn of the event loop,
 * which has other things to do. */

enum { NUM_CALLS = 6 * COHORT__ENDS_OF_A_TURN };
enum { MOST = COHORT__ENDS_OF_A_TURN + COHORT__WINDOW };
static cohort_future *calls[NUM_CALLS];
static atomic_uint num_ended, most_ended; /* so far; in a turn */

static void count_ended(bool any)
{
    unsigned num = 0, before = atomic_load(&num_ended);
    if (before == NUM_CALLS) /* they may be freed */
        return;
    for (unsigned i = 0; i < NUM_CALLS; i++)
        num += cohort_future_ready(calls[i]);
    atomic_store(&num_ended, num);
    if (num - before > atomic_load(&most_ended))
        atomic_store(&most_ended, num - before);
}

static void watch(void)
{
    atomic_store(&num_ended, 0);
    atomic_store(&most_ended, 0);
    cluster_watch(count_ended);
}

/* OTHER: what else they may end with. */
static void await_all(cohort_status other)
{
    YIELD_WHILE(atomic_load(&num_ended) < NUM_CALLS);
    cluster_watch(NULL);
    for (unsigned i = 0; i < NUM_CALLS; i++) {
        const cohort_status status = cohort_await(calls[i]);
        CHECK(status == COHORT_ERR_PEER_DIED || status == other);
    }
}

/* NUM communicators with a site at either locality. */
static struct cluster *create(uint64_t seed, cohort_comm *comms[][2], uint32_t num)
{
    struct cluster *cluster = cluster_create(seed, 2, 0);
    for (uint32_t i = 0; i < num; i++) {
        char name[32];
        snprintf(name, sizeof(name), "communicator %u", i);
        cluster_create_comms(cluster, comms[i], name, (cohort_comm_options){.num_sites = 2});
    }
    return cluster;
}

static void end(struct cluster *cluster, cohort_comm *comms[][2], uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        for (uint32_t site = 0; site < 2; site++)
            cohort_comm_unref(comms[i][site]);
    cluster_abandon(cluster);
}

/* They end in order, later ones too. */
TEST(calls)
{
    cohort_comm *comms[1][2];
    struct cluster *cluster = create(1, comms, 1);
    for (unsigned i = 0; i < NUM_CALLS; i++)
        calls[i] = cohort_barrier(comms[0][1], 1 + i);
    watch();
    cluster_kill(cluster, 0);
    YIELD_WHILE(atomic_load(&num_ended) == 0);
    CHECK_INT(cohort_await(cohort_barrier(comms[0][1], 1 + NUM_CALLS)), COHORT_ERR_PEER_DIED);
    for (unsigned i = 0; i < NUM_CALLS; i++)
        CHECK(cohort_future_ready(calls[i]));
    await_all(COHORT_ERR_PEER_DIED);
    CHECK(atomic_load(&most_ended) <= MOST);
    end(cluster, comms, 1);
}

/* In each communicator as many as fit its window. They only wait: a send would end with its own
 * locality's, some in each turn. */
TEST(communicators)
{
    enum { NUM_COMMS = (NUM_CALLS + COHORT__WINDOW - 1) / COHORT__WINDOW };
    static cohort_comm *comms[NUM_COMMS][2];
    static int32_t values[NUM_CALLS];
    struct cluster *cluster = create(1, comms, NUM_COMMS);
    for (unsigned i = 0; i < NUM_CALLS; i++)
        calls[i] = cohort_broadcast_from(comms[i / COHORT__WINDOW][1], &values[i], 1, COHORT_INT32,
                                         1 + i % COHORT__WINDOW);
    watch();
    cluster_kill(cluster, 0);
    await_all(COHORT_ERR_PEER_DIED);
    CHECK(atomic_load(&most_ended) <= MOST);
    end(cluster, comms, NUM_COMMS);
}

/* The site leaves while some are left. */
TEST(left_midway)
{
    cohort_comm *comms[1][2];
    struct cluster *cluster = create(1, comms, 1);
    for (unsigned i = 0; i < NUM_CALLS; i++)
        calls[i] = cohort_barrier(comms[0][1], 1 + i);
    watch();
    cluster_kill(cluster, 0);
    YIELD_WHILE(atomic_load(&num_ended) == 0);
    end(cluster, comms, 1);
    await_all(COHORT_ERR_CANCELLED);
}
