/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/channel.h"
#include "cohort/collectives.h"
#include "cohort/task.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Which locality is blamed for a death: the one that died first, by the launcher's order. A
 * locality that has left because of that death is not blamed, even if its peer has not been told of
 * the first death yet. */

enum { NUM_SITES = 3, VICTIM = 2 };

struct scene {
    struct cluster *cluster;
    atomic_bool is_over;
};

/* The locality that dies neither calls nor leaves. */
static cohort_status stay(struct scene *scene)
{
    YIELD_WHILE(!atomic_load(&scene->is_over));
    return COHORT_OK;
}

static void check_blamed(struct scene *scene, cohort_status status, const char *what)
{
    CHECK_FAILS(status, COHORT_ERR_PEER_DIED, what);
    atomic_store(&scene->is_over, true);
}

static void play(cohort_status (*run)(cohort_comm *comm, void *arg))
{
    struct cluster *cluster = cluster_create(1, NUM_SITES, 0);
    struct scene scene = {cluster, false};
    cohort_status status =
        cluster_sites(cluster, (struct sites){
                                   .name = "blame",
                                   .options = {.num_sites = NUM_SITES, .stall_after = 10000000},
                                   .run = run,
                                   .arg = &scene,
                               });
    CHECK_OK(status);
    cluster_abandon(cluster);
}

/* Only site 1 is told of the death, and leaves. Site 0 hears of the death from site 1. */
static cohort_status leave_after_death(cohort_comm *comm, void *arg)
{
    struct scene *scene = arg;
    uint32_t site = cohort_comm_this_site(comm);
    if (site == VICTIM)
        return stay(scene);
    if (site == 0) {
        check_blamed(scene, cohort_await(cohort_barrier(comm, 1)), "locality 2 was killed");
        return COHORT_OK;
    }
    cluster_tell_death(scene->cluster, site, VICTIM, 1, "was killed");
    return COHORT_OK;
}

TEST_CALL(leaver, play(leave_after_death))

static cohort_status get_from_leaver(cohort_comm *comm, void *arg)
{
    struct scene *scene = arg;
    char byte;
    if (cohort_comm_this_site(comm) != 0)
        return leave_after_death(comm, arg);
    check_blamed(scene, cohort_await(cohort_channel_get(comm, 1, 7, &byte, 1, NULL)),
                 "locality 2 was killed");
    return COHORT_OK;
}

TEST_CALL(channel_get, play(get_from_leaver))

static cohort_status set_for_leaver(cohort_comm *comm, void *arg)
{
    static char much[1 << 20];
    struct scene *scene = arg;
    if (cohort_comm_this_site(comm) != 0)
        return leave_after_death(comm, arg);
    check_blamed(scene, cohort_await(cohort_channel_set(comm, 1, 7, much, sizeof(much))),
                 "locality 2 was killed");
    return COHORT_OK;
}

TEST_CALL(channel_set, play(set_for_leaver))

/* Locality 1 has ended because of the death of locality 2. The news of the two arrives in either
 * order. */
static cohort_status hear_of_both(cohort_comm *comm, void *arg)
{
    struct scene *scene = arg;
    if (cohort_comm_this_site(comm) != 0)
        return stay(scene);
    cluster_tell_death(scene->cluster, 0, 1, 2, "exited with status 1");
    cluster_tell_death(scene->cluster, 0, VICTIM, 1, "was killed");
    check_blamed(scene, cohort_await(cohort_barrier(comm, 1)),
                 "site 2 is lost: locality 2 was killed");
    return COHORT_OK;
}

TEST_CALL(second_death, play(hear_of_both))
