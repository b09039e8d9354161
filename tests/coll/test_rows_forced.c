/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "collectives/comm/endpoint.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* Every row of the table is forced by name, through the whole runtime: in place and not in place,
 * with a future for each row, with any root, and with both kinds of operations. A row that can't
 * carry out a call says so. */

enum { MAX_SITES = 17, COUNT = 3, MAX_KINDS = 4, NUM_WAYS = 4 };

/* The exercises of each collective. Unused entries are barriers. */
static const enum exercise_kind kinds[COHORT__NUM_COLLECTIVES][MAX_KINDS] = {
    [COHORT__GATHER] = {EXERCISE_GATHER, EXERCISE_GATHERV, EXERCISE_NUM_KINDS},
    [COHORT__SCATTER] = {EXERCISE_SCATTER, EXERCISE_SCATTERV, EXERCISE_NUM_KINDS},
    [COHORT__BROADCAST] = {EXERCISE_BROADCAST, EXERCISE_NUM_KINDS},
    [COHORT__REDUCE] = {EXERCISE_REDUCE, EXERCISE_REDUCE_ORDERED, EXERCISE_NUM_KINDS},
    [COHORT__ALL_GATHER] = {EXERCISE_ALL_GATHER, EXERCISE_ALL_GATHERV, EXERCISE_NUM_KINDS},
    [COHORT__ALL_REDUCE] = {EXERCISE_ALL_REDUCE, EXERCISE_ALL_REDUCE_ORDERED, EXERCISE_NUM_KINDS},
    [COHORT__ALL_TO_ALL] = {EXERCISE_ALL_TO_ALL, EXERCISE_ALL_TO_ALLV, EXERCISE_ALL_TO_ALLW,
                            EXERCISE_NUM_KINDS},
    [COHORT__BARRIER] = {EXERCISE_BARRIER, EXERCISE_NUM_KINDS},
    [COHORT__REDUCE_SCATTER] = {EXERCISE_REDUCE_SCATTER, EXERCISE_REDUCE_SCATTERV,
                                EXERCISE_NUM_KINDS},
    [COHORT__SCAN] = {EXERCISE_SCAN, EXERCISE_NUM_KINDS},
    [COHORT__EXCLUSIVE_SCAN] = {EXERCISE_EXCLUSIVE_SCAN, EXERCISE_NUM_KINDS},
    [COHORT__SHIFT] = {EXERCISE_SHIFT, EXERCISE_NUM_KINDS},
    [COHORT__EXCHANGE] = {EXERCISE_EXCHANGE, EXERCISE_NUM_KINDS},
};

/* How many calls each row has carried out. */
static _Atomic uint32_t num_done[256];

/* Whether ROW has to refuse EXERCISE. */
static bool is_refused(const struct cohort__algorithm *row, const struct exercise *exercise)
{
    const cohort_comm *comm = exercise->comm;
    uint32_t num_sites = cohort_comm_num_sites(comm);
    bool is_ragged = exercise->kind >= EXERCISE_GATHERV;
    int64_t shift = exercise_shift(exercise) % (int64_t)num_sites;
    struct cohort__request request = {
        .collective = row->collective,
        .num_sites = num_sites,
        .this_site = cohort_comm_this_site(comm),
        .root = cohort__collective_is_rooted(row->collective) ? exercise->root : 0,
        .arity = cohort_comm_arity(comm),
        .shift = (uint32_t)(shift < 0 ? shift + num_sites : shift),
        .bytes = COUNT * sizeof(uint64_t),
        .element = sizeof(uint64_t),
        .commutative = !exercise_is_ordered(exercise),
        .can_meet = comm->group->is_whole,
        .machine = comm->group->machine,
    };
    if (row->collective != COHORT__SHIFT)
        request.shift = 0;
    return (is_ragged && !row->ragged) || cohort__algorithm_refuses(row, &request);
}

static void check_status(uint32_t index, const struct exercise *exercise, bool refused,
                         cohort_status status)
{
    const struct cohort__algorithm *row = cohort__algorithms[index];
    if (!refused && !status) {
        num_done[index]++;
        return;
    }
    if (refused && status == COHORT_ERR_BAD_PARAMETER) {
        CHECK_CONTAINS(cohort_error_message(), row->name);
        CHECK_CONTAINS(cohort_error_message(), "is not possible here: ");
        return;
    }
    FAIL("%s by %s, %u sites, arity %u%s: %s", exercise_name(exercise->kind), row->name,
         cohort_comm_num_sites(exercise->comm), cohort_comm_arity(exercise->comm),
         refused ? ", to be refused" : "", status ? cohort_error_message() : "it worked");
}

static void force(cohort_comm *comm, uint32_t index, enum exercise_kind kind, uint32_t way,
                  uint64_t generation)
{
    uint32_t me = cohort_comm_this_site(comm);
    struct exercise exercise;
    exercise_begin_with(&exercise, comm, kind, COUNT, generation,
                        (struct exercise_options){
                            .in_place = way == 1 || (way == 2 && me % 2 == 0),
                            .rows = way == 1 || (way == 2 && me % 3 == 0),
                            .has_root = true,
                            .root = (uint32_t)(generation % cohort_comm_num_sites(comm)),
                            .ordered = way == 3,
                            .algorithm = cohort__algorithms[index]->name,
                        });
    bool refused = is_refused(cohort__algorithms[index], &exercise);
    check_status(index, &exercise, refused, exercise_end(&exercise));
}

static cohort_status force_all(cohort_comm *comm, void *arg)
{
    uint64_t generation = 0;
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const enum exercise_kind *kind = kinds[cohort__algorithms[i]->collective];
        for (; *kind != EXERCISE_NUM_KINDS; kind++)
            for (uint32_t way = 0; way < NUM_WAYS; way++)
                force(comm, i, *kind, way, ++generation);
    }
    return COHORT_OK;
}

/* Four localities are on two hosts, fewer on one. */
static void locate(struct cluster *cluster, uint32_t num_localities)
{
    static const struct cohort__position positions[] = {
        {.host = 0}, {.host = 0}, {.host = 1}, {.host = 1}};
    if (num_localities == 4)
        cluster_locate(cluster, positions);
}

static void run_forced(uint32_t num_sites, uint32_t num_localities,
                       enum cluster_placement placement)
{
    struct cluster *cluster = cluster_create(num_sites, num_localities, 0);
    locate(cluster, num_localities);
    cluster_place(cluster, placement);
    CHECK_OK(
        cluster_sites(cluster, (struct sites){
                                   .name = "forced",
                                   .options = {.num_sites = num_sites, .arity = 2 + num_sites % 3},
                                   .run = force_all,
                               }));
    cluster_destroy(cluster);
}

TEST(every_row)
{
    for (uint32_t num_sites = 1; num_sites <= MAX_SITES; num_sites++)
        run_forced(num_sites, 1 + num_sites % 4,
                   (enum cluster_placement)(num_sites % CLUSTER_NUM_PLACEMENTS));
    run_forced(12, 4, CLUSTER_BLOCKS); /* hosts and localities that are all alike */
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        if (num_done[i] == 0)
            FAIL("%s of %s has done nothing", cohort__algorithms[i]->name,
                 cohort__collective_name(cohort__algorithms[i]->collective));
}

/* A row forced for the communicator: the roll-call and messages name it. */
static cohort_status forced_call(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    int32_t in = 1, out[8];
    cohort_future *future = me == 0 ? cohort_all_to_all(comm, out, out + 4, 1, COHORT_INT32, 1)
                                    : cohort_barrier(comm, 1);
    CHECK_FAILS(cohort_await(future), COHORT_ERR_MISMATCH,
                "site 0 called all_to_all (padded) of 1 int32");
    CHECK_OK(cohort_await(cohort_all_reduce(comm, &in, out, 1, COHORT_INT32, COHORT_SUM, 2)));
    return COHORT_OK;
}

TEST(for_the_communicator)
{
    struct cluster *cluster = cluster_create(1, 2, 0);
    CHECK_OK(
        cluster_sites(cluster, (struct sites){
                                   .name = "forced",
                                   .options = {.num_sites = 2,
                                               .stall_after = 100000000,
                                               .algorithms = "all_to_all=padded,barrier=linear"},
                                   .run = forced_call,
                               }));
    cluster_destroy(cluster);
}
