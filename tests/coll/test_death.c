/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/task.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* A locality dies during collectives. All calls of the other sites end, and those that fail name
 * the locality. */

/* Sites 2 and 6 sit in locality 2. */
enum { NUM_LOCALITIES = 4, VICTIM = 2, NUM_SITES = 9, NUM_SURVIVORS = 7 };

struct storm {
    struct cluster *cluster;
    uint64_t kill_at; /* generation at which the victim's first site disconnects its locality */
    size_t count;
    const char *algorithm;     /* forced; NULL: other options are drawn */
    _Atomic uint32_t num_told; /* sites that have got their error */
    atomic_bool is_killed;
};

static cohort_status until_it_fails(cohort_comm *comm, void *arg)
{
    struct storm *storm = arg;
    bool victim = cohort_comm_this_site(comm) % NUM_LOCALITIES == VICTIM;
    bool told = false;
    for (uint64_t generation = 1;; generation++) {
        if (victim && generation == storm->kill_at) {
            if (cohort_comm_this_site(comm) == VICTIM) {
                cluster_kill(storm->cluster, VICTIM);
                atomic_store(&storm->is_killed, true);
            }
            YIELD_WHILE(!atomic_load(&storm->is_killed)); /* a site that returns leaves */
            return COHORT_OK;
        }
        struct exercise exercise;
        if (storm->algorithm)
            exercise_begin_with(&exercise, comm, EXERCISE_ALL_REDUCE, storm->count, generation,
                                (struct exercise_options){.algorithm = storm->algorithm});
        else
            exercise_begin(&exercise, comm, EXERCISE_ALL_REDUCE, storm->count, generation);
        cohort_status status = exercise_end(&exercise);
        if (victim && status)
            return COHORT_OK; /* its other sites may notice the death */
        if (!status)
            continue;
        if (!told) {
            CHECK_FAILS(status, COHORT_ERR_PEER_DIED, "locality 2");
        }
        /* Goes on calling, and failing, until all have been told. If an endpoint left or stopped
         * calling, that would be another error. */
        if (!told)
            atomic_fetch_add(&storm->num_told, 1);
        told = true;
        if (atomic_load(&storm->num_told) == NUM_SURVIVORS)
            return COHORT_OK;
        cohort_yield();
    }
}

/* Two hosts. The victim leads its host in some runs, and follows in others. */
static void locate(struct cluster *cluster, uint64_t seed)
{
    struct cohort__position positions[NUM_LOCALITIES];
    for (uint32_t i = 0; i < NUM_LOCALITIES; i++)
        positions[i] = (struct cohort__position){.host = (i + seed) % NUM_LOCALITIES < 2};
    cluster_locate(cluster, positions);
}

static void run(uint64_t seed, uint32_t threshold, size_t count, const char *algorithm)
{
    struct cluster *cluster = cluster_create(seed, NUM_LOCALITIES, 0);
    if (algorithm)
        locate(cluster, seed);
    struct storm storm = {cluster, 2 + seed % 5, count, algorithm, 0, false};
    cohort_status status =
        cluster_sites(cluster, (struct sites){
                                   .name = "storm",
                                   .options = {.num_sites = NUM_SITES,
                                               .arity = 2,
                                               .flat_fallback_threshold = threshold,
                                               .stall_after = 100000000},
                                   .run = until_it_fails,
                                   .arg = &storm,
                               });
    if (status)
        FAIL("seed %llu: %s", (unsigned long long)seed, cohort_error_message());
    cluster_abandon(cluster);
}

TEST(small)
{
    for (uint64_t seed = 1; seed < 40; seed++) {
        run(seed, 1024, 1, NULL);
        run(seed, COHORT_FORCE_TREE, 1, NULL);
        run(seed, 1024, 1, "levels");
    }
}

TEST(large)
{
    for (uint64_t seed = 1; seed < 20; seed++) {
        run(seed, 1024, 10000, NULL);
        run(seed, COHORT_FORCE_TREE, 10000, NULL);
        run(seed, 1024, 10000, "levels");
    }
}

/* The death is during the creation of the communicator. Some sites get it, and some get an error.
 */
static cohort_status once(cohort_comm *comm, void *arg)
{
    struct exercise exercise;
    if (cohort_comm_this_site(comm) % NUM_LOCALITIES == VICTIM)
        return COHORT_OK;
    exercise_begin(&exercise, comm, EXERCISE_ALL_REDUCE, 1, 1);
    cohort_status status = exercise_end(&exercise);
    CHECK(status == COHORT_ERR_PEER_DIED || status == COHORT_ERR_GONE);
    return COHORT_OK;
}

/* The victim is disconnected when its endpoints are requested, so some of its messages may have
 * been sent. A dead locality's tasks would be gone. Those here are told that the others are. */
static cohort_future *create_and_kill(void *context, cohort_comm **ret_comm, const char *name,
                                      const cohort_comm_options *options)
{
    cohort_future *creation = cluster_create_comm(context, ret_comm, name, options);
    if (options->this_site < NUM_SITES - 1)
        return creation;
    cluster_kill(context, VICTIM);
    for (uint32_t peer = 0, order = 1; peer < NUM_LOCALITIES; peer++)
        if (peer != VICTIM)
            cluster_tell_death(context, VICTIM, peer, order++, "is out of reach");
    return creation;
}

TEST(creation)
{
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct cluster *cluster = cluster_create(seed, NUM_LOCALITIES, 0);
        cohort_status status = sites_run(&(struct sites){
            .name = "creation",
            .options = {.num_sites = NUM_SITES, .arity = 2, .stall_after = 100000000},
            .create = create_and_kill,
            .context = cluster,
            .run = once,
        });
        CHECK_FAILS(status, COHORT_ERR_PEER_DIED, "locality");
        cluster_abandon(cluster);
    }
}
