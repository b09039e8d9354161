/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter, hypercube: recursive halving, the reverse of all_gather/hypercube.c. The steps go
 * from the highest bit of the number down. A site sends its partner, whose number differs in that
 * bit, the half of its blocks that is for the partner's subcube. It adds what it receives to the
 * other half.
 * Cost: t_s log N + (t_w + t_r) m (N-1), N a power of two. TMP: N/2 blocks for what is reduced, and
 * N/4 for what arrives.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: all-to-all reduction. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"

enum { PHASE = 1, TAG = 0 };

/* The blocks that a site still has: those of a subcube. */
struct held {
    enum cohort__space space;
    size_t offset; /* of the first block */
    uint32_t first;
    uint32_t reduce; /* the step that made them; COHORT__NO_STEP: they are in IN */
};

static uint32_t range_append(struct cohort__plan_builder *builder,
                             const struct cohort__request *request, const struct held *held,
                             uint32_t first, uint32_t count)
{
    return cohort__plan_range(builder, held->space,
                              held->offset + (first - held->first) * request->bytes,
                              count * request->bytes);
}

/* Halves the held blocks across bit K. The other half arrives in ARRIVED, a block that is free
 * after FREE. It is reduced to there, or with IN_PLACE to where the held half is. */
static void halve(struct cohort__plan_builder *builder, const struct cohort__request *request,
                  struct held *held, uint32_t k, uint32_t arrived, uint32_t free, bool in_place)
{
    uint32_t partner = request->this_site ^ 1U << k;
    uint32_t kept = range_append(builder, request, held, request->this_site >> k << k, 1U << k);
    uint32_t sent = range_append(builder, request, held, partner >> k << k, 1U << k);
    uint32_t result = in_place ? kept : arrived;
    uint32_t recv = cohort__plan_recv(builder, PHASE, partner, TAG, &arrived, 1);
    uint32_t send = cohort__plan_send(builder, PHASE, partner, TAG, &sent, 1);
    uint32_t reduce = cohort__plan_reduce(builder, PHASE, result, kept, arrived);
    cohort__plan_after(builder, recv, free);
    cohort__plan_after(builder, send, held->reduce);
    cohort__plan_after(builder, reduce, held->reduce);
    cohort__plan_after(builder, reduce, recv);
    struct cohort__block block = cohort__plan_get_block(builder, result);
    *held = (struct held){.space = (enum cohort__space)block.space,
                          .offset = block.offset,
                          .first = request->this_site >> k << k,
                          .reduce = reduce};
}

/* The first half arrives where it is then held. The last one arrives in OUT, those between in a
 * buffer. */
static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t num_steps = cohort__log2_floor(request->num_sites);
    struct held held = {.space = COHORT__SPACE_IN, .reduce = COHORT__NO_STEP};
    uint32_t buffer = 0;
    for (uint32_t k = num_steps; k-- > 0;) {
        size_t bytes = request->bytes << k;
        bool is_first = k + 1 == num_steps;
        uint32_t free = COHORT__NO_STEP;
        uint32_t arrived;
        if (k == 0) {
            arrived = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, bytes);
        } else if (k + 2 >= num_steps) {
            arrived = buffer = cohort__plan_tmp(builder, bytes);
        } else {
            size_t offset = cohort__plan_get_block(builder, buffer).offset;
            arrived = cohort__plan_range(builder, COHORT__SPACE_TMP, offset, bytes);
            free = held.reduce;
        }
        halve(builder, request, &held, k, arrived, free, !is_first && k > 0);
    }
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    enum { ALIGNMENT = 64 };
    double num_sites = request->num_sites;
    double size = (double)request->bytes;
    double num_steps = cohort__log2_floor(request->num_sites);
    double others = (num_sites - 1) * size;
    return (struct cohort__cost){.startups = num_steps,
                                 .bytes = others,
                                 .reduced = others,
                                 .messages = num_sites * num_steps,
                                 .moved = num_sites * others,
                                 .combined = num_sites * others,
                                 .memory = (num_steps > 1 ? num_sites / 2 * size + ALIGNMENT : 0) +
                                           (num_steps > 2 ? num_sites / 4 * size : 0)};
}

static bool accepts(const struct cohort__request *request)
{
    return cohort__is_power_of_two(request) && cohort__is_commutative(request);
}

const struct cohort__algorithm cohort__reduce_scatter_hypercube = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "hypercube",
    .needs = "a power of two sites and a commutative operation",
    .accepts = accepts,
    .build = build,
    .cost = cost,
};
