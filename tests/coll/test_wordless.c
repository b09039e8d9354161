/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cohort/channel.h"
#include "cohort/collectives.h"
#include "cohort/op.h"
#include "collectives/comm/message.h"
#include "runtime/proc/process.h"
#include "runtime/wire/pack.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"

/* A locality has no memory for an error, or for its words: the site that waits is told (without
 * them), and does not wait for ever. */

static const uint64_t limit = UINT64_C(60000000000);
static uint32_t num_wordless;

void __real_cohort__message_pack(const struct cohort__message *message,
                                 const struct cohort__death *death, struct cohort__packer *packer);

void __wrap_cohort__message_pack(const struct cohort__message *message,
                                 const struct cohort__death *death, struct cohort__packer *packer)
{
    if (message->error.status) {
        packer->status = COHORT_ERR_NO_MEMORY;
        num_wordless++;
    } else {
        __real_cohort__message_pack(message, death, packer);
    }
}

/* For all sites of a locality: these ask. */
void __wrap_cohort__message_pack_error(struct cohort__packer *packer,
                                       const struct cohort__error *error)
{
    packer->status = COHORT_ERR_NO_MEMORY;
}

static bool has_messages = true;

struct cohort__message *__real_cohort__message_create(enum cohort__kind kind, uint32_t source_site,
                                                      uint64_t generation, uint64_t fingerprint,
                                                      uint32_t tag);

struct cohort__message *__wrap_cohort__message_create(enum cohort__kind kind, uint32_t source_site,
                                                      uint64_t generation, uint64_t fingerprint,
                                                      uint32_t tag)
{
    if (!has_messages && kind == COHORT__KIND_ERROR)
        return NULL;
    return __real_cohort__message_create(kind, source_site, generation, fingerprint, tag);
}

static void pair_create(struct cluster *cluster, cohort_comm **comms)
{
    cluster_create_comms(cluster, comms, "pair",
                         (cohort_comm_options){.num_sites = 2, .stall_after = 2000000});
}

/* Site 0 leaves, and takes its set back: that takes no memory. A set without memory for that is
 * none, and the next one is as if it had not been called. */
TEST(taken_back)
{
    enum { BYTES = 100000 };
    for (uint32_t num_localities = 1; num_localities <= 2; num_localities++) {
        cohort_comm *comms[2];
        cohort_object object;
        unsigned char *data = calloc(1, BYTES);
        struct cluster *cluster = cluster_create(1, num_localities, 64);
        CHECK(data);
        pair_create(cluster, comms);
        has_messages = false;
        CHECK_INT(cohort_await(cohort_channel_set(comms[0], 1, 7, data, BYTES)),
                  COHORT_ERR_NO_MEMORY);
        has_messages = true;
        cohort_future *set = cohort_channel_set(comms[0], 1, 7, data, BYTES);
        has_messages = false;
        cohort_comm_unref(comms[0]); /* in this call it leaves */
        has_messages = true;
        CHECK_INT(await_within(set, limit), COHORT_ERR_CANCELLED);
        cohort_future *get = cohort_channel_get_object(comms[1], 0, 7, &object);
        CHECK_INT(await_within(get, limit),
                  num_localities == 1 ? COHORT_ERR_GONE : COHORT_ERR_NO_MEMORY);
        cohort_comm_unref(comms[1]);
        free(data);
        cluster_destroy(cluster);
    }
}

/* The call of site 0 is wrong. */
TEST(rejected)
{
    cohort_comm *comms[2];
    int32_t in = 1, out[2];
    struct cluster *cluster = cluster_create(1, 2, 0);
    pair_create(cluster, comms);
    cohort_future *other = cohort_all_gather(comms[1], &in, out, 1, COHORT_INT32, 1);
    CHECK_INT(cohort_await(cohort_all_gather(comms[0], NULL, out, 1, COHORT_INT32, 1)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(await_within(other, limit), COHORT_ERR_NO_MEMORY,
                "site 0 tells of an error, and has no memory for its words");
    CHECK(num_wordless > 0);
    for (uint32_t site = 0; site < 2; site++)
        cohort_comm_unref(comms[site]);
    cluster_destroy(cluster);
}

static cohort_status fail(void *result, const void *left, const void *right, size_t count,
                          cohort_datatype datatype, void *arg)
{
    return COHORT_ERR_FAILED;
}

/* A call that has begun fails at site 0, which tells site 1 in a message that is taken as one: it
 * counts as received, or the job would not end. */
TEST(failing)
{
    cohort_comm *comms[2];
    cohort_future *done[2];
    cohort_op *op;
    int32_t in = 1, out[2];
    struct cluster *cluster = cluster_create(1, 2, 0);
    CHECK_OK(cohort_op_create(&op, &(struct cohort_op_options){.name = "fail", .function = fail}));
    cluster_create_comms(cluster, comms, "failing", (cohort_comm_options){.num_sites = 2});
    for (uint32_t site = 0; site < 2; site++) {
        CHECK_OK(cohort_comm_next_call(comms[site], &(cohort_call_options){.algorithm = "linear"}));
        done[site] = cohort_all_reduce(comms[site], &in, &out[site], 1, COHORT_INT32, op, 1);
    }
    CHECK_INT(await_within(done[0], limit), COHORT_ERR_FAILED);
    CHECK_FAILS(await_within(done[1], limit), COHORT_ERR_NO_MEMORY, "has no memory for its words");
    CHECK_INT((long long)cohort__process_dropped(cluster_process(cluster, 1)), 0);
    for (uint32_t site = 0; site < 2; site++)
        cohort_comm_unref(comms[site]);
    cohort_op_unref(op);
    cluster_destroy(cluster);
}
