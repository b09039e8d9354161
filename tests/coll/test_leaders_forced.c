/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* The row among the leaders of a composed row is forced by name, as in "levels(ring)". Three or
 * four played hosts of two localities of two sites. A row that three leaders can't use says so. */

enum { MAX_LOCALITIES = 8, SITES_OF_HOST = 4, COUNT = 3 };

static const enum exercise_kind kinds[COHORT__NUM_COLLECTIVES] = {
    [COHORT__GATHER] = EXERCISE_GATHER,
    [COHORT__SCATTER] = EXERCISE_SCATTER,
    [COHORT__BROADCAST] = EXERCISE_BROADCAST,
    [COHORT__REDUCE] = EXERCISE_REDUCE,
    [COHORT__ALL_GATHER] = EXERCISE_ALL_GATHER,
    [COHORT__ALL_REDUCE] = EXERCISE_ALL_REDUCE,
    [COHORT__ALL_TO_ALL] = EXERCISE_ALL_TO_ALL,
    [COHORT__BARRIER] = EXERCISE_BARRIER,
    [COHORT__REDUCE_SCATTER] = EXERCISE_REDUCE_SCATTER,
    [COHORT__SCAN] = EXERCISE_SCAN,
    [COHORT__EXCLUSIVE_SCAN] = EXERCISE_EXCLUSIVE_SCAN,
    [COHORT__SHIFT] = EXERCISE_SHIFT,
};

/* Of site 0: what it has done, and what was refused. */
static uint32_t num_done, num_refused;

static void run(uint32_t num_hosts, const char *algorithms,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    struct cohort__position positions[MAX_LOCALITIES];
    struct cluster *cluster = cluster_create(1, 2 * num_hosts, 0);
    for (uint32_t i = 0; i < 2 * num_hosts; i++)
        positions[i] = (struct cohort__position){.host = i / 2};
    cluster_place(cluster, CLUSTER_BLOCKS);
    cluster_locate(cluster, positions);
    cohort_status status = cluster_sites(
        cluster, (struct sites){
                     .name = "leaders",
                     .options = {.num_sites = SITES_OF_HOST * num_hosts, .algorithms = algorithms},
                     .run = site,
                 });
    if (status)
        FAIL("%u hosts: %s", num_hosts, cohort_error_message());
    cluster_destroy(cluster);
}

/* Every row that may be among the leaders ------------------------------------------------------ */

static void check_status(const cohort_comm *comm, const char *name, cohort_status status)
{
    bool is_counted = cohort_comm_this_site(comm) == 0;
    if (status == COHORT_OK) {
        num_done += is_counted;
        return;
    }
    num_refused += is_counted;
    CHECK_FAILS(status, COHORT_ERR_BAD_PARAMETER, name);
    /* Either among the leaders, or a shift for which the composed row is useless. */
    if (!strstr(cohort_error_message(), " of shift is not possible here: "))
        CHECK_CONTAINS(cohort_error_message(), " is not possible here: among 3 leaders: ");
}

static cohort_status force_all(cohort_comm *comm, void *arg)
{
    uint64_t generation = 0;
    for (uint32_t row = 0; row < cohort__num_algorithms; row++)
        for (uint32_t inner = 0; inner < cohort__num_algorithms; inner++) {
            const struct cohort__algorithm *composed = cohort__algorithms[row];
            struct exercise exercise;
            char name[COHORT__ALGORITHM_NAME];
            if (!cohort__algorithm_may_lead(cohort__algorithms[inner], composed))
                continue;
            exercise_begin_with(&exercise, comm, kinds[composed->collective], COUNT, ++generation,
                                (struct exercise_options){
                                    .algorithm = cohort__algorithm_name(row, inner + 1, name)});
            check_status(comm, name, exercise_end(&exercise));
        }
    return COHORT_OK;
}

TEST(every_row)
{
    run(3, NULL, force_all);
    if (num_done <= 40 || num_refused < 4)
        FAIL("%u done, %u refused", num_done, num_refused);
    uint32_t num_done_by_three = num_done, num_all = num_done + num_refused;
    num_done = num_refused = 0;
    run(4, NULL, force_all);
    CHECK(num_done > num_done_by_three && num_done + num_refused == num_all);
}

/* What is said --------------------------------------------------------------------------------- */

TEST_SITE(explained, run(3, "all_reduce=levels(ring),scan=levels(linear)", site))
{
    char *text = NULL;
    CHECK_OK(cohort_explain(comm, "all_reduce", 1, COHORT_DOUBLE, COHORT_SUM, &text));
    CHECK_CONTAINS(text, "chosen: levels, forced\n");
    CHECK_CONTAINS(text, ", then all_reduce by ring among 3 leaders, then ");
    free(text);
    CHECK_OK(cohort_explain(comm, "scan", 1, COHORT_DOUBLE, COHORT_SUM, &text));
    CHECK_CONTAINS(text, "exclusive_scan by linear among 3 leaders");
    free(text);
}

TEST_SITE(differently, run(3, NULL, site))
{
    double in = 1, out = 0;
    uint32_t me = cohort_comm_this_site(comm);
    CHECK_OK(cohort_comm_next_call(
        comm, &(cohort_call_options){.algorithm = me == 5 ? "levels(ring)" : "levels(linear)"}));
    CHECK_FAILS(cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 1)),
                COHORT_ERR_MISMATCH, "all_reduce (levels(ring))");
    CHECK_CONTAINS(cohort_error_message(), "all_reduce (levels(linear))");
    CHECK_CONTAINS(cohort_error_message(), "site 5");
}

TEST_SITE(wrong, run(3, NULL, site))
{
    static const struct {
        const char *algorithm, *message;
    } wrong[] = {
        {"levels(frob)", "all_reduce: \"levels(frob)\": the leaders of levels have no such "
                         "algorithm for their all_reduce; there are: linear, ring, "},
        {"levels(hierarchical)", "\"levels(hierarchical)\": the leaders of levels have no such"},
        {"levels(levels)", "\"levels(levels)\": the leaders of levels have no such"},
        {"levels(", "\"levels(\": the leaders of levels have no such"},
        {"levels()", "\"levels()\": the leaders of levels have no such"},
        {"levels(ring", "\"levels(ring\": the leaders of levels have no such"},
        {"levels(ring)x", "\"levels(ring)x\": the leaders of levels have no such"},
        {"ring(linear)", "the algorithm ring has no leaders that another one could be for"},
        {"frob(ring)", "no algorithm of all_reduce is called \"frob(ring)\"; there are: linear, "},
    };
    double in = 1, out = 0;
    for (uint64_t i = 0; i < NUM_OF(wrong); i++) {
        CHECK_OK(
            cohort_comm_next_call(comm, &(cohort_call_options){.algorithm = wrong[i].algorithm}));
        CHECK_FAILS(
            cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, i + 1)),
            COHORT_ERR_BAD_PARAMETER, wrong[i].message);
    }
}
