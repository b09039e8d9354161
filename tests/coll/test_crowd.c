/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Many sites in a locality, on several workers: who has come last lets idle workers tell the others
 * (exec/meeting_tell.c). */

enum { NUM_SITES = 48, NUM_ROUNDS = 1000, FEW_ROUNDS = 150, SEED = 20261122, ONE_IS_WRONG = 301 };

/* So that each site comes last at times, and workers are idle at times. */
static void delay(struct cohort__random *random)
{
    for (uint64_t yields = cohort__random_below(random, 3); yields > 0; yields--)
        cohort_yield();
}

static void check_sum(cohort_comm *comm, uint64_t generation, int64_t me)
{
    int64_t in = me + (int64_t)generation, sum = 0;
    int64_t all = NUM_SITES * (NUM_SITES - 1) / 2 + NUM_SITES * (int64_t)generation;
    bool is_wrong = generation == ONE_IS_WRONG;
    cohort_future *done = cohort_all_reduce(comm, is_wrong && me == 7 ? NULL : &in, &sum, 1,
                                            COHORT_INT64, COHORT_SUM, generation);
    cohort_status status = cohort_await(done);
    CHECK_INT(status, is_wrong ? COHORT_ERR_BAD_PARAMETER : COHORT_OK);
    if (!is_wrong)
        CHECK_INT(sum, all);
}

static cohort_status meet_often(cohort_comm *comm, void *arg)
{
    int64_t me = cohort_comm_this_site(comm);
    uint64_t last = 2 * test_rounds(NUM_ROUNDS, FEW_ROUNDS);
    struct cohort__random random = cohort__random_seeded(SEED + (uint64_t)me);
    for (uint64_t generation = 1; generation <= last; generation += 2) {
        int64_t value = me == 0 ? (int64_t)generation : -1;
        check_sum(comm, generation, me);
        delay(&random);
        CHECK_OK(cohort_await(
            me == 0 ? cohort_broadcast_to(comm, &value, 1, COHORT_INT64, generation + 1)
                    : cohort_broadcast_from(comm, &value, 1, COHORT_INT64, generation + 1)));
        CHECK_INT(value, (int64_t)generation);
        delay(&random);
    }
    return COHORT_OK;
}

static void run(uint32_t num_localities)
{
    struct cluster *cluster = cluster_create(SEED, num_localities, 0);
    cohort_status status = cluster_sites(cluster, (struct sites){
                                                      .name = "crowd",
                                                      .options = {.num_sites = NUM_SITES},
                                                      .run = meet_often,
                                                  });
    if (status)
        FAIL("%u localities: %s", num_localities, cohort_error_message());
    cluster_destroy(cluster);
}

TEST_CALL(one_locality, run(1))
TEST_CALL(two_localities, run(2))
