/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded nonsense among the messages about taking back (comm/verdict.c): of all kinds, with
 * contents that are right, or nearly, and at any time. Whatever arrives, each call ends at most
 * once, all end with a revocation, and all memory is freed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/call.h"
#include "cohort/collectives.h"
#include "cohort/survivors.h"
#include "cohort/task.h"

#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "collectives/comm/tally.h"
#include "runtime/base/random.h"
#include "runtime/proc/process.h"
#include "runtime/proc/send.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"

enum { LOCALITIES = 3, SITES = 6, GENERATIONS = 4, STEPS = 60, NUM_TAGS = 7, MAX_PAYLOAD = 512 };
static const uint64_t patience = 60 * UINT64_C(1000000000);
static struct cohort__random random_of;
static uint64_t first_seed, num_seeds = 150;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)cohort__random_below(&random_of, limit);
}

struct round {
    struct cluster *cluster;
    cohort_comm *comms[SITES];
    cohort_future *calls[SITES][GENERATIONS];
    uint32_t num_called[SITES];
};

static void pack_plea(struct cohort__packer *packer)
{
    cohort__pack_map(packer, 3);
    cohort__pack_field_unsigned(packer, "kind", below(4));
    cohort__pack_field_unsigned(packer, "site", below(SITES + 1));
    cohort__pack_field_unsigned(packer, "nanoseconds", below(2) ? UINT64_MAX : below(1000));
}

static void pack_vote(struct cohort__packer *packer)
{
    struct cohort__tally tally = {0};
    for (uint32_t site = below(SITES); site < SITES; site += 1 + below(3))
        cohort__tally_add(&tally, site, (enum cohort__vote)below(COHORT__NUM_VOTES),
                          below(2) ? "barrier" : "", below(2));
    cohort__tally_pack(&tally, packer);
}

static void pack_result(struct cohort__packer *packer)
{
    cohort__pack_map(packer, 2);
    cohort__pack_field_signed(packer, "status",
                              below(8) ? COHORT_ERR_CANCELLED : (int32_t)below(9) - 4);
    cohort__pack_field_text(packer, "text", "nonsense");
}

static void send_nonsense(struct round *round)
{
    static void (*const packs[])(struct cohort__packer *) = {pack_plea, pack_vote, pack_result};
    const struct cohort__group *group = round->comms[0]->group;
    struct cohort__packer packer = {0};
    unsigned char payload[MAX_PAYLOAD];
    uint32_t from = below(LOCALITIES), to = (from + 1 + below(LOCALITIES - 1)) % LOCALITIES;
    uint32_t sites_each = SITES / LOCALITIES;
    packs[below(3)](&packer);
    CHECK(!packer.status && packer.bytes <= MAX_PAYLOAD);
    size_t bytes = below(4) ? packer.bytes : below((uint32_t)packer.bytes + 1);
    memcpy(payload, packer.data, bytes);
    cohort__packer_fini(&packer);
    for (uint32_t i = below(3) && bytes > 0 ? 0 : 1 + below(3); i > 0 && bytes > 0; i--)
        payload[below((uint32_t)bytes)] = (unsigned char)below(256);
    struct cohort__envelope envelope = {
        .kind = COHORT__KIND_VERDICT,
        .instance = group->membership->instance,
        .generation = below(10) ? 1 + below(GENERATIONS) : cohort__random_next(&random_of),
        .source_site = below(20) ? from * sites_each + below(sites_each) : below(SITES + 2),
        .dest_site = below(20) ? COHORT__NO_SITE : below(SITES + 2),
        .tag = below(NUM_TAGS),
        .handle = below(3) ? 0 : below(5),
    };
    cohort__send_control(cluster_process(round->cluster, from), to, &envelope, payload, bytes);
}

static void step(struct round *round)
{
    uint32_t site = below(SITES);
    switch (below(8)) {
    case 0:
    case 1:
        if (round->num_called[site] < GENERATIONS) {
            uint32_t i = round->num_called[site]++;
            round->calls[site][i] = cohort_barrier(round->comms[site], i + 1);
        }
        break;
    case 2:
        CHECK_OK(cohort_comm_cancel(round->comms[site], 1 + below(GENERATIONS)));
        break;
    case 3:
        cohort_yield();
        break;
    default:
        send_nonsense(round);
        break;
    }
}

static void run(uint64_t seed)
{
    struct round round = {0};
    random_of = cohort__random_seeded(seed);
    round.cluster = cluster_create(seed, LOCALITIES, 0);
    cluster_place(round.cluster, CLUSTER_BLOCKS);
    cluster_create_comms(round.cluster, round.comms, "row",
                         (cohort_comm_options){.num_sites = SITES, .stall_after = 100 * patience});
    for (uint32_t i = 0; i < STEPS; i++)
        step(&round);
    CHECK_OK(await_within(cohort_comm_revoke(round.comms[below(SITES)]), patience));
    for (uint32_t site = 0; site < SITES; site++)
        for (uint32_t i = 0; i < round.num_called[site]; i++) {
            cohort_future *call = round.calls[site][i];
            (void)!await_within(cohort_future_ref(call), patience); /* which may be a timeout */
            CHECK(cohort_future_ready(call));
            cohort_future_unref(call);
        }
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(round.comms[site]);
    cluster_destroy(round.cluster);
}

TEST(nonsense)
{
    for (uint64_t seed = first_seed; seed < first_seed + num_seeds; seed++)
        run(seed);
}

int main(int argc, char **argv)
{
    const char *seed = getenv("FUZZ_SEED");
    first_seed = seed ? strtoull(seed, NULL, 0) : 1;
    return cluster_test(argc, argv, 1);
}
