/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <cohort/cohort.h>

#include "collectives/comm/remote.h"
#include "collectives/exec/execution.h"
#include "runtime/proc/send.h"
#include "tests/support/cluster.h"

/* Messages that no site of ours would send, from another locality to a call that waits. It fails
 * with an error that says what came, and from whom, or the message is ignored. Nothing is lost. */

enum { SITES = 2, GENERATION = 1, JUNK = 6000 };

struct scene {
    struct cluster *cluster;
    cohort_comm *comms[SITES];
};

static struct scene scene;
static unsigned char junk[JUNK];

static void begin(const char *algorithms)
{
    scene.cluster = cluster_create(1, SITES, 0);
    cluster_create_comms(scene.cluster, scene.comms, "stray",
                         (cohort_comm_options){.num_sites = SITES, .algorithms = algorithms});
}

static void end(void)
{
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(scene.comms[site]);
    cluster_destroy(scene.cluster);
}

/* Site 1's call, which waits for site 0. */
static struct cohort__operation *waiting_call(void)
{
    return cohort__endpoint_find(scene.comms[1], GENERATION);
}

/* The tag of the message that site 1's plan waits for. */
static uint32_t awaited_tag(void)
{
    const struct cohort__execution *execution = (struct cohort__execution *)waiting_call();
    const struct cohort__plan *plan = execution->plan;
    for (uint32_t step = 0; step < plan->num_steps; step++)
        if (plan->steps[step].kind == COHORT__STEP_RECV)
            return cohort__message_tag(plan->steps[step].phase, plan->steps[step].tag);
    FAIL("no receive");
}

/* From site 0 to site 1. */
static void send(enum cohort__kind kind, uint64_t generation, uint64_t fingerprint, uint32_t tag,
                 const void *data, size_t bytes)
{
    cohort__send_control(cluster_process(scene.cluster, 0), 1,
                         &(struct cohort__envelope){
                             .kind = kind,
                             .instance = scene.comms[0]->group->membership->instance,
                             .generation = generation,
                             .source_site = 0,
                             .dest_site = 1,
                             .fingerprint = fingerprint,
                             .tag = tag,
                         },
                         data, bytes);
    cluster_num_sent(scene.cluster);
}

static void send_to_call(uint32_t tag, const void *data, size_t bytes)
{
    send(COHORT__KIND_DATA, GENERATION, waiting_call()->fingerprint, tag, data, bytes);
}

static void check_fails(cohort_future *future, cohort_status status, const char *text)
{
    CHECK_FAILS(cohort_await(future), status, text);
    CHECK_CONTAINS(cohort_error_message(), "communicator \"stray\", generation 1, site 1, ");
}

TEST(nobody_waits)
{
    int64_t value = 0;
    begin("broadcast=linear");
    cohort_future *future = cohort_broadcast_from(scene.comms[1], &value, 1, COHORT_INT64, 1);
    cohort_yield();
    send_to_call(awaited_tag() + 1, "12345678", 8);
    check_fails(future, COHORT_ERR_PROTOCOL, "site 0 sent a message that nobody waits for (tag ");
    end();
}

TEST(wrong_length)
{
    int64_t value = 0;
    begin("broadcast=linear");
    cohort_future *future = cohort_broadcast_from(scene.comms[1], &value, 1, COHORT_INT64, 1);
    cohort_yield();
    send_to_call(awaited_tag(), "12345", 5);
    check_fails(future, COHORT_ERR_MISMATCH, "site 0 sent 5 bytes where 8 were expected");
    end();
}

/* A bundle of objects, unpacked on the spot, or by a worker. A single one is its bytes, whatever
 * these are. */
static void check_junk(size_t bytes)
{
    cohort_site_objects from;
    char text[64];
    snprintf(text, sizeof(text), "a message of %zu bytes from site 0: ", bytes);
    begin("");
    cohort_future *future = cohort_all_to_all_sparse(scene.comms[1], NULL, 0, &from, 1);
    cohort_yield();
    send_to_call(awaited_tag(), junk, bytes);
    check_fails(future, COHORT_ERR_PROTOCOL, text);
    CHECK_INT(from.num, 0);
    end();
}

TEST(junk)
{
    memset(junk, 0xc1, sizeof(junk));
    check_junk(7);
    check_junk(JUNK);
}

/* Answers without meaning, to a collective and to a channel. */
TEST(answers)
{
    int64_t value = 0, got = 0;
    begin("broadcast=linear");
    cohort_future *future = cohort_broadcast_from(scene.comms[1], &value, 1, COHORT_INT64, 1);
    cohort_future *get = cohort_channel_get(scene.comms[1], 0, 5, &got, sizeof(got), NULL);
    cohort_yield();
    for (uint32_t tag = 0; tag < 100; tag += 33)
        send(COHORT__KIND_ANSWER, GENERATION, 0, tag + 20, NULL, 0);
    send(COHORT__KIND_ANSWER, 0, 0, COHORT__ANSWER_IN_FLIGHT, NULL, 0);
    CHECK(!cohort_future_ready(future) && !cohort_future_ready(get));
    value = 7;
    CHECK_OK(cohort_await(cohort_channel_set(scene.comms[0], 1, 5, &value, sizeof(value))));
    CHECK_OK(cohort_await(cohort_broadcast_to(scene.comms[0], &value, 1, COHORT_INT64, 1)));
    CHECK_OK(cohort_await(future));
    CHECK_OK(cohort_await(get));
    CHECK_INT(got, 7);
    end();
}

/* The sites of a meeting on a board send each other nothing. In shared memory only. */
TEST(meeting)
{
    int64_t in = 1, out = 0;
    if (!cluster_is_shared())
        return;
    begin("all_reduce=shared");
    cohort_future *future =
        cohort_all_reduce(scene.comms[1], &in, &out, 1, COHORT_INT64, COHORT_SUM, 1);
    cohort_yield();
    send_to_call(cohort__message_tag(1, 0), "12345678", 8);
    check_fails(future, COHORT_ERR_PROTOCOL, "site 0 sent a message that nobody waits for (tag ");
    end();
}
