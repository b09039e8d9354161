/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_CLUSTER_H
#define COHORT_TESTS_SUPPORT_CLUSTER_H

#include "cohort/comm.h"
#include "tests/support/test.h"

/* Several localities in one process, on an inproc hub that delays messages and lets them overtake
 * each other, or in shared memory as those of one host. Everything above the transport is what real
 * jobs run. */
struct cluster;

/* test_main in a task, with so many workers and the loop that clusters are driven by. With --shm as
 * the first argument all clusters are in shared memory. */
int cluster_main(int argc, char **argv, const struct test_case *cases, size_t num_cases,
                 unsigned num_workers);

/* In a task; one at a time. EAGER_BUDGET 0: the default. In shared memory SEED has no meaning. */
struct cluster *cluster_create(uint64_t seed, uint32_t num_localities, size_t eager_budget);

/* In a task, when all endpoints have been given back: waits until no message is under way. */
void cluster_destroy(struct cluster *cluster);

/* The same after a death, when messages may have been lost: waits for nothing. */
void cluster_abandon(struct cluster *cluster);

/* Where the sites of communicators sit. */
enum cluster_placement {
    CLUSTER_ROUND_ROBIN, /* site i in locality i % num_localities: as clusters are made */
    CLUSTER_BLOCKS,      /* neighbours together, the same number everywhere */
    CLUSTER_RANDOM,      /* drawn from the seed: some localities may have none */
    CLUSTER_UNEVEN,      /* one in each locality but the last, which has all others */
    CLUSTER_NUM_PLACEMENTS
};

/* The locality of SITE of NUM_SITES, in a cluster of NUM_LOCALITIES that is made with SEED. */
uint32_t cluster_locality(enum cluster_placement placement, uint64_t seed, uint32_t num_localities,
                          uint32_t site, uint32_t num_sites);

/* Of the communicators made from now on. */
void cluster_place(struct cluster *cluster, enum cluster_placement placement);

/* For struct sites: in the localities that the placement says. */
cohort_future *cluster_create_comm(void *cluster, cohort_comm **ret_comm, const char *name,
                                   const cohort_comm_options *options);

/* In a task: how many messages the localities have sent each other, once none is under way. */
uint64_t cluster_num_sent(struct cluster *cluster);

/* LOCALITY hears that PEER is dead, as the ORDERth one, and WHY. */
void cluster_tell_death(struct cluster *cluster, uint32_t locality, uint32_t peer, uint32_t order,
                        const char *why);

/* LOCALITY dies. Not in shared memory. */
void cluster_kill(struct cluster *cluster, uint32_t locality);

#endif
