/* SPDX-License-Identifier: Apache-2.0 */
#include <semaphore.h>

#include "cohort/collectives.h"
#include "cohort/task.h"

#include "collectives/comm/endpoint.h"
#include "collectives/comm/group.h"
#include "collectives/comm/hold.h"
#include "collectives/comm/verdict.h"
#include "tests/support/cluster.h"

/* A site is made between the moment in which a verdict decides whom it tells, and the telling. The
 * site that is made second waits for the first one to be told; and that for the second. */

enum { SITES = 2 };
static atomic_uint num_added, num_joined, num_told;
static sem_t is_telling, has_joined;

void __real_cohort__group_add(struct cohort__group *group, uint32_t site,
                              struct cohort__actor *endpoint);
void __wrap_cohort__group_add(struct cohort__group *group, uint32_t site,
                              struct cohort__actor *endpoint);
void __real_cohort__verdicts_join(struct cohort_comm *comm);
void __wrap_cohort__verdicts_join(struct cohort_comm *comm);
void __real_cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                              const struct cohort__error *error);
void __wrap_cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                              const struct cohort__error *error);

void __wrap_cohort__group_add(struct cohort__group *group, uint32_t site,
                              struct cohort__actor *endpoint)
{
    if (atomic_fetch_add(&num_added, 1) == 1)
        CHECK_INT(sem_wait(&is_telling), 0);
    __real_cohort__group_add(group, site, endpoint);
}

void __wrap_cohort__verdicts_join(struct cohort_comm *comm)
{
    __real_cohort__verdicts_join(comm);
    if (atomic_fetch_add(&num_joined, 1) == 1)
        CHECK_INT(sem_post(&has_joined), 0);
}

void __wrap_cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                              const struct cohort__error *error)
{
    if (atomic_fetch_add(&num_told, 1) == 0) {
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
    CHECK_INT(cohort_await(site->made), COHORT_OK);
    cohort_future *future = cohort_barrier(site->comm, 1);
    CHECK_INT(cohort_comm_cancel(site->comm, 1), COHORT_OK);
    CHECK_INT(cohort_await(future), COHORT_ERR_CANCELLED);
    return COHORT_OK;
}

/* Each is told once, and what it calls fails. */
static void test_while_telling(void)
{
    struct cluster *cluster = cluster_create(1, 1, 0);
    struct site sites[SITES];
    cohort_comm_options options = {.num_sites = SITES};
    CHECK_INT(sem_init(&is_telling, 0, 0), 0);
    CHECK_INT(sem_init(&has_joined, 0, 0), 0);
    sites[0].made = cluster_create_comm(cluster, &sites[0].comm, "late", &options);
    cohort_future *cancelled = cohort_async(call_and_cancel, &sites[0]);
    options.this_site = 1;
    sites[1].made = cluster_create_comm(cluster, &sites[1].comm, "late", &options);
    CHECK_INT(cohort_await(sites[1].made), COHORT_OK);
    CHECK_INT(call(sites[1].comm), COHORT_ERR_CANCELLED);
    CHECK_INT(cohort_await(cancelled), COHORT_OK);
    for (int i = 0; i < SITES; i++)
        cohort_comm_unref(sites[i].comm);
    cluster_destroy(cluster);
    CHECK_INT(num_told, SITES);
    CHECK_INT(sem_destroy(&is_telling), 0);
    CHECK_INT(sem_destroy(&has_joined), 0);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"while_telling", test_while_telling}};
    return cluster_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), 3);
}
