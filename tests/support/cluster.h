/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_CLUSTER_H
#define COHORT_TESTS_SUPPORT_CLUSTER_H

#include "cohort/comm.h"
#include "runtime/proc/positions.h"
#include "tests/support/new.h"
#include "tests/support/sites.h"
#include "tests/support/test.h"

/* Several localities in one process. They are connected by an inproc hub, which delays messages and
 * lets them overtake each other, or by shared memory, like those of one host. Everything above the
 * transport is the code of real jobs. */
struct cluster;

/* Runs tests_run in a task, with NUM_WORKERS workers and the event loop that drives clusters. Any
 * of these may be the first arguments, in this order: --workers=N, so many instead; --movable,
 * tasks may move; --thread, there is a progress thread, too (COHORT_PROGRESS); --shm, all clusters
 * are in shared memory. A program without a main does this, with one worker. */
int cluster_test(int argc, char **argv, unsigned num_workers);
unsigned cluster_num_workers(void);

/* Whether --shm was given. Localities can't be disconnected then, nor killed. */
bool cluster_is_shared(void);

/* From now on TURNED is told after each turn of all localities' transports whether there was
 * anything, by the thread that turns them. */
void cluster_watch(void (*turned)(bool any));

/* Call it in a task. Only one cluster may exist at a time. EAGER_BUDGET 0 is the default. In shared
 * memory SEED has no meaning. */
struct cluster *cluster_create(uint64_t seed, uint32_t num_localities, size_t eager_budget);

/* The same for a job with a launcher, which tells all of each death, and kills who is accused. If
 * it goes on without the dead, the launcher is the home of names, too. FAULTS are what COHORT_FAULT
 * would say. Not in shared memory. */
struct cluster *cluster_launch(uint64_t seed, uint32_t num_localities, size_t eager_budget,
                               bool keeps_going, const char *faults);

/* Call it in a task, when all endpoints have been released. Waits until no message is under way. */
void cluster_destroy(struct cluster *cluster);

/* The same after a death in a job that does not go on, when messages may have been lost. Waits for
 * nothing. */
void cluster_abandon(struct cluster *cluster);

/* Says where the localities are, by locality. Until then all are on one host, in one domain. Before
 * there are communicators. */
void cluster_locate(struct cluster *cluster, const struct cohort__position *positions);

/* The levels that the localities name, as COHORT_LEVELS has them, by locality. After
 * cluster_locate, before there are communicators. */
void cluster_name_levels(struct cluster *cluster, const char *const *texts);

/* In which localities the sites of communicators are. */
enum cluster_placement {
    CLUSTER_ROUND_ROBIN, /* site i in locality i % num_localities; the default */
    CLUSTER_BLOCKS,      /* neighbours together, the same number everywhere */
    CLUSTER_RANDOM,      /* drawn from the seed; some localities may have none */
    CLUSTER_UNEVEN,      /* one in each locality except the last, which has all others */
    CLUSTER_NUM_PLACEMENTS
};

/* The locality of SITE of NUM_SITES, in a cluster of NUM_LOCALITIES that was made with SEED. */
uint32_t cluster_locality(enum cluster_placement placement, uint64_t seed, uint32_t num_localities,
                          uint32_t site, uint32_t num_sites);

/* Applies to communicators that are made from now on. */
void cluster_place(struct cluster *cluster, enum cluster_placement placement);

/* For struct sites: makes the endpoint in the locality that the placement gives. */
cohort_future *cluster_create_comm(void *cluster, cohort_comm **ret_comm, const char *name,
                                   const cohort_comm_options *options);

/* All sites' endpoints, for the calling task; the options say how many. */
void cluster_create_comms(struct cluster *cluster, cohort_comm **ret_comms, const char *name,
                          cohort_comm_options options);

/* As sites_run, in CLUSTER. */
cohort_status cluster_sites(struct cluster *cluster, struct sites sites);

/* Call it in a task. Runs SITES in a cluster with these, in which SEED also says where they are.
 * Sets their `create` and `context`. All of them have to succeed. */
void cluster_run(uint64_t seed, uint32_t num_localities, size_t eager_budget, struct sites sites);

/* As cohort_memory_alloc and cohort_memory_free, in LOCALITY. */
void *cluster_memory_alloc(struct cluster *cluster, uint32_t locality, size_t bytes);
void cluster_memory_free(struct cluster *cluster, uint32_t locality, void *memory);

/* LOCALITY's process, for what is not of communicators. */
struct cohort__process *cluster_process(struct cluster *cluster, uint32_t locality);

/* Call it in a task. Waits until no message is under way, and returns how many messages the
 * localities have sent each other. */
uint64_t cluster_num_sent(struct cluster *cluster);

/* How many LOCALITY has sent; nothing is waited for. */
uint64_t cluster_num_sent_by(const struct cluster *cluster, uint32_t locality);

/* LOCALITY is told that PEER is dead, as death number ORDER, for the reason WHY. */
void cluster_tell_death(struct cluster *cluster, uint32_t locality, uint32_t peer, uint32_t order,
                        const char *why);

/* LOCALITY dies. If there is a launcher, all hear of it. Not possible in shared memory. */
void cluster_kill(struct cluster *cluster, uint32_t locality);

/* The localities that have been killed, a bit each: by cluster_kill, or by the launcher. */
uint32_t cluster_dead(const struct cluster *cluster);

/* FROM can't reach TO any more, from its message NUMBER to it on, as COHORT_FAULT=drop does it.
 * Only if the cluster was launched, and has one worker. */
void cluster_lose_link(struct cluster *cluster, uint32_t from, uint32_t to, uint64_t number);

/* All LOCALITIES (a bit each) die as soon as LOCALITY has sent NUM_MESSAGES more. Likewise. */
void cluster_kill_after(struct cluster *cluster, uint32_t locality, uint64_t num_messages,
                        uint64_t localities);

#endif
