/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>

#include "cohort/split.h"
#include "collectives/comm/group.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* What a communicator uses is freed as soon as all sites have released it, by the events themselves
 * and not by a timer. The test counts the groups that are alive in all localities. The linker
 * redirects the calls to this test (--wrap). */

enum { ROUNDS = 500, NUM_SITES = 6, NUM_LOCALITIES = 3 };

static _Atomic uint32_t num_groups;

cohort_status __real_cohort__group_create(struct cohort__group **ret_group,
                                          struct cohort__commons *commons, const char *name,
                                          struct cohort__membership *membership);
void __real_cohort__group_destroy(struct cohort__group *group);

cohort_status __wrap_cohort__group_create(struct cohort__group **ret_group,
                                          struct cohort__commons *commons, const char *name,
                                          struct cohort__membership *membership)
{
    atomic_fetch_add(&num_groups, 1);
    return __real_cohort__group_create(ret_group, commons, name, membership);
}

void __wrap_cohort__group_destroy(struct cohort__group *group)
{
    atomic_fetch_sub(&num_groups, 1);
    __real_cohort__group_destroy(group);
}

/* Other workers may still be releasing groups. */
static void wait_for_at_most(uint32_t num)
{
    YIELD_WHILE(atomic_load(&num_groups) > num);
}

/* With one worker it is immediate. */
static void check_groups(uint32_t num)
{
    if (cluster_num_workers() > 1)
        wait_for_at_most(num);
    CHECK_INT(atomic_load(&num_groups), num);
}

static cohort_status sum(cohort_comm *comm, void *arg)
{
    double one = 1, all = 0;
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &one, &all, 1, COHORT_DOUBLE, COHORT_SUM, 1));
    CHECK(status || all == cohort_comm_num_sites(comm));
    return status;
}

/* The only site of its communicator. Its group is freed when the endpoint is released, although the
 * event loop does not run in the meantime. */
TEST(busy)
{
    struct cluster *cluster = cluster_create(1, 1, 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        cohort_comm *comm;
        char name[16];
        snprintf(name, sizeof(name), "%u", round / 2); /* used names and new ones */
        CHECK_OK(cohort_await(
            cluster_create_comm(cluster, &comm, name, &(cohort_comm_options){.num_sites = 1})));
        check_groups(1);
        CHECK_OK(sum(comm, NULL));
        cohort_comm_unref(comm);
        check_groups(0);
    }
    cluster_destroy(cluster);
}

/* Many groups alive at once, released in another order than they were made. */
TEST(many)
{
    static cohort_comm *comms[ROUNDS];
    struct cluster *cluster = cluster_create(1, 1, 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%u", i);
        CHECK_OK(cohort_await(
            cluster_create_comm(cluster, &comms[i], name, &(cohort_comm_options){.num_sites = 1})));
    }
    check_groups(ROUNDS);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        cohort_comm_unref(comms[i * 7 % ROUNDS]);
        check_groups(ROUNDS - 1 - i);
    }
    cluster_destroy(cluster);
}

/* Some sites leave with calls in flight. The other sites may not have made these calls, or never
 * make them. */
static cohort_status leave_early(cohort_comm *comm, void *arg)
{
    static double in[NUM_SITES], out[NUM_SITES][2];
    uint32_t round = *(const uint32_t *)arg, site = cohort_comm_this_site(comm);
    uint32_t num_calls = (round >> site & 1) + (round >> (site + 1) % NUM_SITES & 1);
    for (uint32_t i = 0; i < num_calls; i++)
        cohort_future_unref(
            cohort_all_reduce(comm, &in[site], &out[site][i], 1, COHORT_DOUBLE, COHORT_SUM, i + 1));
    if (round & 1)
        cohort_yield();
    return COHORT_OK;
}

static void run_rounds(uint32_t num_localities, cohort_status (*run)(cohort_comm *, void *),
                       uint32_t num_rounds, uint32_t most)
{
    struct cluster *cluster = cluster_create(1, num_localities, 0);
    uint32_t before = atomic_load(&num_groups); /* of clusters that have ended */
    for (uint32_t round = 0; round < test_rounds(num_rounds, num_rounds / 4); round++) {
        CHECK_OK(cluster_sites(cluster, (struct sites){.name = round % 3 ? "same" : "other",
                                                       .options = {.num_sites = NUM_SITES},
                                                       .run = run,
                                                       .arg = &round}));
        wait_for_at_most(before + most);
    }
    cluster_destroy(cluster);
}

TEST_CALL(sites, run_rounds(1, sum, ROUNDS, 0))

TEST(leave_early)
{
    run_rounds(1, leave_early, ROUNDS, 0);
    run_rounds(NUM_LOCALITIES, leave_early, ROUNDS / 5, NUM_LOCALITIES);
}

/* A locality may keep the group that got the last message. */
TEST_CALL(localities, run_rounds(NUM_LOCALITIES, sum, ROUNDS / 5, NUM_LOCALITIES))

/* Splits, some of whose communicators, and some of whose parents, are given back at once. */
static cohort_status split(cohort_comm *comm, void *arg)
{
    uint32_t round = *(const uint32_t *)arg, site = cohort_comm_this_site(comm);
    cohort_comm *row = NULL, *again = NULL;
    cohort_status status =
        cohort_await(cohort_comm_split(&row, comm, (int32_t)(site / (1 + round % 3)), 0, 1));
    CHECK_OK(status);
    cohort_future *made = cohort_comm_dup(&again, row, 1);
    cohort_comm_unref(row);
    CHECK_OK(cohort_await(made));
    status = round % 2 ? sum(again, NULL) : COHORT_OK;
    cohort_comm_unref(again);
    return status;
}

TEST(split)
{
    run_rounds(1, split, ROUNDS, 0);
    run_rounds(NUM_LOCALITIES, split, ROUNDS / 5, NUM_LOCALITIES);
}

int main(int argc, char **argv)
{
    int failed = cluster_test(argc, argv, 1);
    CHECK(failed || atomic_load(&num_groups) == 0);
    return failed;
}
