/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cohort/collectives.h"
#include "cohort/task.h"
#include "collectives/coll/comm_create.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "collectives/comm/operation.h"
#include "runtime/base/container.h"
#include "tests/support/inproc.h"
#include "runtime/proc/process.h"
#include "runtime/task/scheduler.h"
#include "tests/support/test.h"

/* The way of a message through all layers, with the message of a later generation arriving first.
 * There are two localities of one site each. The test drives their transports by hand, so that it
 * can check at each station what has happened up to then:
 *   net -> router -> inbox -> gate (EARLY: parked; OPEN; STALE: dropped) -> exec -> future -> fiber
 */

static struct {
    struct cohort__inproc_hub *hub;
    struct cohort__process *processes[2];
    struct cohort__net *nets[2];
    cohort_comm *comms[2];
} walk;

static void open_localities(void)
{
    CHECK_OK(cohort__inproc_hub_create(0, 2, &walk.hub)); /* all arrives in order */
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct cohort__process_options options = {
            .rank = rank, .size = 2, .job_key = 42, .epoch = 1};
        CHECK_OK(cohort__process_create(&walk.processes[rank], &options));
        struct cohort__net_handlers handlers = cohort__process_net_handlers(walk.processes[rank]);
        CHECK_OK(cohort__inproc_create(walk.hub, rank, &handlers, &walk.nets[rank]));
        cohort__process_attach_net(walk.processes[rank], walk.nets[rank]);
    }
    for (uint32_t rank = 0; rank < 2; rank++)
        CHECK_OK(cohort__net_add_peer(walk.nets[rank], !rank, walk.nets[!rank]->address,
                                      walk.nets[!rank]->address_bytes));
}

static void close_localities(void)
{
    for (uint32_t rank = 0; rank < 2; rank++)
        cohort__process_stop(walk.processes[rank]);
    for (uint32_t rank = 0; rank < 2; rank++) {
        cohort__net_destroy(walk.nets[rank]);
        cohort__process_destroy(walk.processes[rank]);
    }
    cohort__inproc_hub_destroy(walk.hub);
}

/* Lets locality RANK take what has arrived for it. Returns the number of these messages. */
static uint64_t drain(uint32_t rank)
{
    struct cohort__poller *poller = &walk.nets[rank]->poller;
    uint64_t before = cohort__process_traffic(walk.processes[rank]).received;
    while (poller->progress(poller->context))
        ;
    return cohort__process_traffic(walk.processes[rank]).received - before;
}

static void create_communicator(void)
{
    cohort_future *created[2];
    for (uint32_t site = 0; site < 2; site++)
        created[site] =
            cohort__comm_create_for(walk.processes[site], &walk.comms[site], "walk",
                                    &(cohort_comm_options){
                                        .num_sites = 2,
                                        .this_site = site,
                                        .algorithms = "all_reduce=linear,broadcast=linear",
                                    });
    while (drain(0) + drain(1) > 0)
        ;
    for (uint32_t site = 0; site < 2; site++) {
        CHECK(cohort_future_ready(created[site]));
        CHECK_OK(cohort_await(created[site]));
    }
}

/* How many messages for GENERATION site 1 got before its call. */
static int num_parked(uint64_t generation)
{
    struct cohort__tree_node *first =
        cohort__tree_find(&walk.comms[1]->early.generations, generation);
    int num = 0;
    for (struct cohort__tree_node *node = first; node && (num == 0 || node != first);
         node = COHORT_CONTAINER_OF(node->same.next, struct cohort__tree_node, same)) {
        const struct cohort__message *message =
            COHORT_CONTAINER_OF(node, struct cohort__message, in_order);
        num++;
        CHECK_INT(message->generation, generation);
        CHECK_INT(message->kind, COHORT__KIND_DATA);
        CHECK_INT(message->source_site, 0);
        CHECK(message->arrival);
    }
    return num;
}

/* Whether site 1 has called GENERATION and waits for something. */
static bool is_open(uint64_t generation)
{
    const struct cohort__operation *operation =
        walk.comms[1]->window[generation % COHORT__WINDOW].in_flight;
    return operation && operation->generation == generation;
}

/* How far site 1 has come. */
static struct {
    int stage;
    int32_t sum, told;
} one;

static cohort_status site_1(void *arg)
{
    int32_t in = 20;
    one.stage = 1;
    cohort_future *first =
        cohort_all_reduce(walk.comms[1], &in, &one.sum, 1, COHORT_INT32, COHORT_SUM, 1);
    CHECK_OK(cohort_await(first));
    one.stage = 2;
    cohort_future *second = cohort_broadcast_from(walk.comms[1], &one.told, 1, COHORT_INT32, 2);
    CHECK(cohort_future_ready(second)); /* the call has taken the parked message */
    CHECK_OK(cohort_await(second));
    one.stage = 3;
    return COHORT_OK;
}

static void check_early(void)
{
    CHECK_INT(num_parked(2), 0); /* sent, but still in the transport */
    CHECK_INT(drain(1), 1);      /* net and router: one message, of this job */
    CHECK_INT(cohort__process_dropped(walk.processes[1]), 0);
    CHECK_INT(num_parked(2), 1); /* the inbox has found the endpoint, and the gate says EARLY */
    CHECK_INT(walk.comms[1]->history.last, 0);
    CHECK(!is_open(1) && !is_open(2));
}

/* A late copy of generation 1's message is dropped, and no site is told. */
static void check_stale(void)
{
    struct cohort__message *late =
        cohort__message_create(COHORT__KIND_DATA, 0, 1, 0, cohort__message_tag(3, 0));
    CHECK(late);
    struct cohort__process_traffic before = cohort__process_traffic(walk.processes[1]);
    cohort__group_deliver(walk.comms[1]->group, 1, late);
    CHECK_INT(cohort__process_traffic(walk.processes[1]).sent, before.sent);
    CHECK_INT(num_parked(1), 0);
    CHECK(!is_open(1));
}

static cohort_status walk_through(void *arg)
{
    int32_t in = 22, sum = 0, told = 7;
    open_localities();
    create_communicator();

    /* Generation 1 waits for site 1. Generation 2 waits for no site, so its message is sent at
     * once. */
    cohort_future *first =
        cohort_all_reduce(walk.comms[0], &in, &sum, 1, COHORT_INT32, COHORT_SUM, 1);
    cohort_future *second = cohort_broadcast_to(walk.comms[0], &told, 1, COHORT_INT32, 2);
    CHECK(!cohort_future_ready(first));
    CHECK(cohort_future_ready(second));
    check_early();

    /* Site 1 calls generation 1, which is then OPEN, and suspends. Generation 2 is still EARLY. */
    cohort_future *site = cohort_async(site_1, NULL);
    cohort_yield();
    CHECK_INT(one.stage, 1);
    CHECK(is_open(1) && !is_open(2));
    CHECK_INT(walk.comms[1]->oldest, 1);
    CHECK_INT(num_parked(2), 1);

    /* Site 1's contribution is the last one that site 0 needs: exec adds it and sends the sum. */
    CHECK_INT(drain(0), 1);
    CHECK(cohort_future_ready(first));
    CHECK_INT(sum, 42);
    CHECK_INT(one.sum, 0);
    CHECK(is_open(1));

    /* The sum arrives. The last step is done, the future is ready, and the fiber is queued but has
     * not run yet. */
    CHECK_INT(drain(1), 1);
    CHECK_INT(one.sum, 42);
    CHECK(!is_open(1));
    CHECK_INT(one.stage, 1);
    CHECK_INT(num_parked(2), 1);

    /* The fiber goes on, and calls generation 2. No other message has to arrive. */
    cohort_yield();
    CHECK_INT(one.stage, 3);
    CHECK_INT(one.told, 7);
    CHECK_INT(num_parked(2), 0);
    CHECK_INT(walk.comms[1]->oldest, 0);
    check_stale();

    CHECK_OK(cohort_await(site));
    CHECK_OK(cohort_await(first));
    CHECK_OK(cohort_await(second));
    for (int i = 0; i < 2; i++)
        cohort_comm_unref(walk.comms[i]);
    while (drain(0) + drain(1) > 0)
        ;
    close_localities();
    cohort__scheduler_stop();
    return COHORT_OK;
}

TEST(walk)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    CHECK_OK(cohort__scheduler_start(&options, NULL));
    cohort_future *done = cohort_async(walk_through, NULL);
    CHECK_OK(cohort__scheduler_run());
    CHECK_OK(cohort_await(done));
}
