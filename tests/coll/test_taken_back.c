/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cohort/objects.h"
#include "cohort/task.h"

#include "collectives/comm/endpoint.h"
#include "collectives/comm/group.h"
#include "collectives/comm/message.h"
#include "collectives/comm/reception.h"
#include "collectives/comm/verdict.h"
#include "runtime/proc/arrival.h"
#include "tests/support/cluster.h"

/* Calls of objects that complete at a site while it waits for the verdict on them, and are refused
 * then: nothing is left with the caller. The test holds the messages of the calls until all sites
 * are frozen, and the votes until all calls have completed. */

enum { SITES = 4, LOCALITIES = 2, MOST_HELD = 64 };

static bool holds_data, holds_votes;
static struct held {
    struct cohort__item item; /* first */
    cohort_comm *comm;
    struct cohort__message *message;
} held[MOST_HELD];
static uint32_t num_held, num_released;
static struct cohort__arrival *vote; /* of the other locality */
static struct cohort__group *decider;

void __real_cohort__endpoint_receive(cohort_comm *comm, struct cohort__message *message);
bool __real_cohort__verdict_arrive(struct cohort__group *group, struct cohort__arrival *arrival);

void __wrap_cohort__endpoint_receive(cohort_comm *comm, struct cohort__message *message)
{
    if (!holds_data || message->kind != COHORT__KIND_DATA) {
        __real_cohort__endpoint_receive(comm, message);
        return;
    }
    CHECK(num_held < MOST_HELD);
    held[num_held].comm = comm;
    held[num_held++].message = message;
}

static void run_held(struct cohort__actor *actor, struct cohort__item *item)
{
    struct held *it = (struct held *)item;
    __real_cohort__endpoint_receive(it->comm, it->message);
}

static void release_data(void)
{
    holds_data = false;
    for (; num_released < num_held; num_released++) {
        held[num_released].item.run = run_held;
        cohort__endpoint_post(held[num_released].comm, &held[num_released].item);
    }
}

bool __wrap_cohort__verdict_arrive(struct cohort__group *group, struct cohort__arrival *arrival)
{
    if (!holds_votes || group->rank != 0)
        return __real_cohort__verdict_arrive(group, arrival);
    CHECK(!vote);
    cohort__group_ref(group);
    decider = group;
    vote = cohort__arrival_keep(arrival);
    CHECK(vote);
    return true;
}

static void release_vote(void)
{
    holds_votes = false;
    CHECK(__real_cohort__verdict_arrive(decider, vote));
    cohort__group_unref(decider);
    vote = NULL;
}

/* ------------------------------------------------------------------------------------------- */

enum kind { ALL_TO_ALL, ALL_GATHER, GATHER, SCATTER, BROADCAST, SPARSE };

struct row {
    struct cluster *cluster;
    cohort_comm *comms[SITES];
    cohort_object out[SITES][SITES];
    cohort_site_objects lists[SITES];
};

static cohort_future *call(struct row *row, enum kind kind, uint32_t site)
{
    static char text[] = "an object";
    cohort_comm *comm = row->comms[site];
    cohort_object *out = row->out[site], in[SITES];
    cohort_site_object to[SITES];
    bool is_root = site == 0;
    for (uint32_t i = 0; i < SITES; i++) {
        in[i] = (cohort_object){text, sizeof(text)};
        to[i] = (cohort_site_object){i, in[i]};
    }
    switch (kind) {
    case ALL_TO_ALL:
        return cohort_all_to_all_objects(comm, in, out, 1);
    case ALL_GATHER:
        return cohort_all_gather_objects(comm, in, out, 1);
    case GATHER:
        return is_root ? cohort_gather_objects_here(comm, in, out, 1)
                       : cohort_gather_objects_there(comm, in, 1);
    case SCATTER:
        return is_root ? cohort_scatter_objects_to(comm, in, out, 1)
                       : cohort_scatter_objects_from(comm, out, 1);
    case BROADCAST:
        return is_root ? cohort_broadcast_object_to(comm, in, 1)
                       : cohort_broadcast_object_from(comm, out, 1);
    default:
        return cohort_all_to_all_sparse(comm, to, SITES, &row->lists[site], 1);
    }
}

static uint32_t num_objects(const struct row *row, uint32_t site)
{
    uint32_t num = (uint32_t)row->lists[site].num;
    for (uint32_t i = 0; i < SITES; i++)
        num += row->out[site][i].data != NULL;
    return num;
}

static void run(enum kind kind)
{
    struct row row = {.cluster = cluster_create(0, LOCALITIES, 0)};
    cohort_future *futures[SITES];
    uint32_t num_ready = 0;
    cluster_place(row.cluster, CLUSTER_BLOCKS);
    cluster_create_comms(
        row.cluster, row.comms, "row",
        (cohort_comm_options){.num_sites = SITES,
                              .algorithms = "gather=linear,scatter=linear,broadcast=linear"});
    num_held = num_released = 0;
    holds_data = holds_votes = true;
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = call(&row, kind, site);
    CHECK_OK(cohort_comm_cancel(row.comms[0], 1));
    YIELD_WHILE(!vote);
    (void)cluster_num_sent(row.cluster);
    release_data();
    (void)cluster_num_sent(row.cluster);
    for (uint32_t site = 0; site < SITES; site++) {
        CHECK_INT(atomic_load(&row.comms[site]->num_in_flight), 0);
        num_ready += cohort_future_ready(futures[site]);
    }
    CHECK(num_ready < SITES);
    release_vote();
    for (uint32_t site = 0; site < SITES; site++) {
        cohort_status status = cohort_await(futures[site]);
        bool may_end_alone = site == 0 ? kind == BROADCAST || kind == SCATTER : kind == GATHER;
        if (!may_end_alone)
            CHECK_INT(status, COHORT_ERR_CANCELLED);
        if (status) {
            CHECK_INT(num_objects(&row, site), 0);
            CHECK(!row.lists[site].list);
        }
        cohort_objects_fini(row.out[site], SITES);
        cohort_site_objects_fini(&row.lists[site]);
        cohort_comm_unref(row.comms[site]);
    }
    cluster_destroy(row.cluster);
}

TEST_CALL(all_to_all, run(ALL_TO_ALL))
TEST_CALL(all_gather, run(ALL_GATHER))

TEST(rooted)
{
    run(GATHER);
    run(SCATTER);
    run(BROADCAST);
}

TEST_CALL(sparse, run(SPARSE))
