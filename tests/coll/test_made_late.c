/* SPDX-License-Identifier: Apache-2.0 */
#include <semaphore.h>

#include "cohort/collectives.h"
#include "cohort/task.h"

#include "collectives/comm/endpoint.h"
#include "collectives/comm/group.h"
#include "collectives/comm/hold.h"
#include "collectives/comm/verdict.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"

/* Sites that are made while others take a generation back. */

enum { SITES = 2, MOST_SITES = 6, LOCALITIES = 3, NUM_ROUNDS = 200 };
static bool is_staged;
static atomic_uint num_added, num_joined, num_told;
static sem_t is_telling, has_joined;

void __real_cohort__group_add(struct cohort__group *group, uint32_t site,
                              struct cohort__actor *endpoint);
void __real_cohort__verdicts_join(struct cohort_comm *comm);
void __real_cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                              const struct cohort__error *error);

void __wrap_cohort__group_add(struct cohort__group *group, uint32_t site,
                              struct cohort__actor *endpoint)
{
    if (is_staged && atomic_fetch_add(&num_added, 1) == 1)
        CHECK_INT(sem_wait(&is_telling), 0);
    __real_cohort__group_add(group, site, endpoint);
}

void __wrap_cohort__verdicts_join(struct cohort_comm *comm)
{
    __real_cohort__verdicts_join(comm);
    if (is_staged && atomic_fetch_add(&num_joined, 1) == 1)
        CHECK_INT(sem_post(&has_joined), 0);
}

void __wrap_cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                              const struct cohort__error *error)
{
    if (is_staged && atomic_fetch_add(&num_told, 1) == 0) {
        CHECK_INT(sem_post(&is_telling), 0);
        CHECK_INT(sem_wait(&has_joined), 0);
    }
    __real_cohort__hold_tell(hold, outcome, error);
}

struct site {
    cohort_comm *comm;
    cohort_future *made;
};

static cohort_status call(cohort_comm *comm)
{
    cohort_status status = cohort_await(cohort_barrier(comm, 1));
    CHECK_CONTAINS(cohort_error_message(), "site 0 has cancelled it");
    return status;
}

static cohort_status call_and_cancel(void *arg)
{
    const struct site *site = arg;
    CHECK_OK(cohort_await(site->made));
    cohort_future *future = cohort_barrier(site->comm, 1);
    CHECK_OK(cohort_comm_cancel(site->comm, 1));
    CHECK_INT(cohort_await(future), COHORT_ERR_CANCELLED);
    return COHORT_OK;
}

/* The second one is made between the moment in which it is decided whom the verdict tells, and the
 * telling, which waits for it. Each is told once, and what it calls fails. */
TEST(while_telling)
{
    struct cluster *cluster = cluster_create(1, 1, 0);
    struct site sites[SITES];
    cohort_comm_options options = {.num_sites = SITES};
    is_staged = true;
    CHECK_INT(sem_init(&is_telling, 0, 0), 0);
    CHECK_INT(sem_init(&has_joined, 0, 0), 0);
    sites[0].made = cluster_create_comm(cluster, &sites[0].comm, "late", &options);
    cohort_future *cancelled = cohort_async(call_and_cancel, &sites[0]);
    options.this_site = 1;
    sites[1].made = cluster_create_comm(cluster, &sites[1].comm, "late", &options);
    CHECK_OK(cohort_await(sites[1].made));
    CHECK_INT(call(sites[1].comm), COHORT_ERR_CANCELLED);
    CHECK_OK(cohort_await(cancelled));
    for (int i = 0; i < SITES; i++)
        cohort_comm_unref(sites[i].comm);
    cluster_destroy(cluster);
    is_staged = false;
    CHECK_INT(num_told, SITES);
    CHECK_INT(sem_destroy(&is_telling), 0);
    CHECK_INT(sem_destroy(&has_joined), 0);
}

struct random_site {
    struct cluster *cluster;
    struct cohort__random random;
    cohort_comm_options options;
    cohort_comm *comm;
    cohort_status result;
};

/* May cancel before or after its call, or only call. */
static cohort_status come_at_random(void *arg)
{
    struct random_site *site = arg;
    uint64_t when = cohort__random_below(&site->random, 4);
    CHECK_OK(cohort_await(cluster_create_comm(site->cluster, &site->comm, "late", &site->options)));
    if (when == 0)
        CHECK_OK(cohort_comm_cancel(site->comm, 1));
    cohort_future *future = cohort_barrier(site->comm, 1);
    if (when == 1)
        CHECK_OK(cohort_comm_cancel(site->comm, 1));
    site->result = cohort_await(future);
    CHECK(!site->result || site->result == COHORT_ERR_CANCELLED);
    return COHORT_OK;
}

/* All have the same result, whoever has been made when. */
TEST(random)
{
    for (uint64_t seed = 1; seed <= NUM_ROUNDS; seed++) {
        struct cohort__random random = cohort__random_seeded(seed);
        const uint32_t num_sites = 2 + (uint32_t)cohort__random_below(&random, MOST_SITES - 1);
        struct cluster *cluster =
            cluster_create(seed, 1 + (uint32_t)cohort__random_below(&random, LOCALITIES), 0);
        struct random_site sites[MOST_SITES];
        cohort_future *futures[MOST_SITES];
        for (uint32_t i = 0; i < num_sites; i++) {
            sites[i] = (struct random_site){
                .cluster = cluster,
                .options = {.num_sites = num_sites, .this_site = i},
            };
            sites[i].random = cohort__random_seeded(seed * MOST_SITES + i);
            futures[i] = cohort_async(come_at_random, &sites[i]);
        }
        CHECK_OK(cohort_await(cohort_when_all(futures, num_sites)));
        for (uint32_t i = 0; i < num_sites; i++) {
            CHECK_INT(sites[i].result, sites[0].result);
            cohort_comm_unref(sites[i].comm);
        }
        cluster_destroy(cluster);
    }
}

int main(int argc, char **argv)
{
    return cluster_test(argc, argv, 3);
}
