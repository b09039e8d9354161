/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "tests/support/cluster.h"

/* Sites that are tasks of a scope. One of them fails while the others wait for it in a collective:
 * it tells the scope why, and gives its endpoint back, so that they are told. The scope ends with
 * its error. */

enum { NUM_SITES = 6, SEED = 20261124 };

struct team {
    cohort_scope *scope;
    struct cluster *cluster;
    uint32_t culprit;
    _Atomic uint32_t num_gone;
};

struct member {
    struct team *team;
    uint32_t site;
};

static cohort_status work(struct team *team, cohort_comm *comm)
{
    int64_t in = 1, sum = 0;
    uint32_t me = cohort_comm_this_site(comm);
    for (uint64_t generation = 1; generation <= 5; generation++) {
        if (me == team->culprit && generation == 4)
            return cohort_scope_fail(team->scope, COHORT_ERR_FAILED, "site %u has no more paper",
                                     me);
        cohort_status status = cohort_await(
            cohort_all_reduce(comm, &in, &sum, 1, COHORT_INT64, COHORT_SUM, generation));
        if (status) {
            CHECK(status == COHORT_ERR_GONE || status == COHORT_ERR_CANCELLED);
            CHECK_INT(generation, 4);
            team->num_gone++;
            return status;
        }
        CHECK_INT(sum, NUM_SITES);
    }
    return COHORT_OK;
}

static cohort_status site(void *arg)
{
    struct member *member = arg;
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = NUM_SITES, .this_site = member->site};
    CHECK_OK(cohort_await(cluster_create_comm(member->team->cluster, &comm, "team", &options)));
    cohort_status status = work(member->team, comm);
    cohort_comm_unref(comm); /* it keeps the message */
    return status;
}

static void run(uint32_t num_localities, uint32_t culprit)
{
    struct member members[NUM_SITES];
    struct team team = {.cluster = cluster_create(SEED, num_localities, 0), .culprit = culprit};
    team.scope = new_scope();
    for (uint32_t i = 0; i < NUM_SITES; i++) {
        members[i] = (struct member){&team, i};
        CHECK_OK(cohort_scope_async(team.scope, site, &members[i]));
    }
    cohort_status status = cohort_scope_await(team.scope);
    if (culprit == NUM_SITES) {
        CHECK_OK(status);
    } else {
        CHECK_FAILS(status, COHORT_ERR_FAILED, "has no more paper");
        CHECK_INT(team.num_gone, NUM_SITES - 1);
    }
    cluster_destroy(team.cluster);
}

TEST(one_fails)
{
    for (uint32_t num_localities = 1; num_localities <= 3; num_localities++)
        for (uint32_t culprit = 0; culprit <= NUM_SITES; culprit++)
            run(num_localities, culprit);
}
