/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, recursive doubling. In step k two ranks whose numbers differ in bit k exchange the
 * results of their 2^k ranks, and both reduce the two. The lower rank's result is on the left. So
 * the operation need not commute, and all sites get the same bits. If N is no power of two, the
 * first sites form pairs (pairs.h): the right site of a pair sends its block to the left one
 * before, and gets the result after.
 * Cost: (t_s + (t_w + t_r) m) log N; else 2 t_s + (2 t_w + t_r) m more than for the power of two
 * below N. TMP: a block, which takes turns with OUT; for N = 2 none.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: all-reduce; pairs: Thakur,
 * Rabenseifner, Gropp, Optimization of collective communication operations in MPICH (2005). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/pairs.h"

enum { PHASE = 1, LAST_PHASE = 3, PAIR_TAG = 0, TAG = 1 };

/* What this rank has so far. */
struct partial {
    struct cohort__plan_builder *builder;
    /* Blocks are received and reduced in these two in turn. The last one is blocks[0], OUT. */
    uint32_t blocks[2];
    uint32_t num_left; /* steps to come */
    uint32_t block;
    uint32_t reduce; /* the step that made `block` */
    uint32_t send;   /* the step that sends it */
};

static void step_append(struct partial *partial, uint32_t peer, uint32_t tag, bool sends,
                        bool is_left)
{
    struct cohort__plan_builder *builder = partial->builder;
    uint32_t block = partial->blocks[--partial->num_left % 2];
    uint32_t recv = cohort__plan_recv(builder, PHASE, peer, tag, &block, 1);
    /* The REDUCE and the SEND before this RECV were the last ones to use this block. */
    cohort__plan_after(builder, recv, partial->reduce);
    cohort__plan_after(builder, recv, partial->send);
    if (sends) {
        partial->send = cohort__plan_send(builder, PHASE, peer, tag, &partial->block, 1);
        cohort__plan_after(builder, partial->send, partial->reduce);
    }
    uint32_t left = is_left ? partial->block : block;
    uint32_t right = is_left ? block : partial->block;
    uint32_t reduce = cohort__plan_reduce(builder, PHASE, block, left, right);
    cohort__plan_after(builder, reduce, recv);
    partial->reduce = reduce;
    partial->block = block;
}

static void rank_append(struct cohort__plan_builder *builder, const struct cohort__request *request,
                        const struct cohort__pairs *pairs)
{
    uint32_t num_steps = cohort__log2_floor(request->num_sites);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    struct partial partial = {.builder = builder,
                              .blocks = {out},
                              .num_left = num_steps + pairs->has_spare,
                              .block =
                                  cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes),
                              .reduce = COHORT__NO_STEP,
                              .send = COHORT__NO_STEP};
    if (partial.num_left > 1)
        partial.blocks[1] = cohort__plan_tmp(builder, request->bytes);
    if (pairs->has_spare)
        step_append(&partial, request->this_site + 1, PAIR_TAG, false, true);
    for (uint32_t k = 0; k < num_steps; k++) {
        uint32_t partner = pairs->this_rank ^ 1U << k;
        step_append(&partial, cohort__pairs_site(pairs, partner), TAG, true,
                    pairs->this_rank < partner);
    }
    if (pairs->has_spare)
        cohort__plan_after(
            builder,
            cohort__plan_send(builder, LAST_PHASE, request->this_site + 1, PAIR_TAG, &out, 1),
            partial.reduce);
}

static void spare_append(struct cohort__plan_builder *builder,
                         const struct cohort__request *request)
{
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    cohort__plan_recv(builder, LAST_PHASE, request->this_site - 1, PAIR_TAG, &out, 1);
    cohort__plan_send(builder, PHASE, request->this_site - 1, PAIR_TAG, &in, 1);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__pairs pairs = cohort__pairs_of(request->num_sites, request->this_site);
    if (pairs.is_spare)
        spare_append(builder, request);
    else
        rank_append(builder, request, &pairs);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__pairs pairs = cohort__pairs_of(request->num_sites, 0);
    double num_steps = cohort__log2_floor(request->num_sites);
    double is_paired = pairs.num_spare > 0;
    double size = (double)request->bytes;
    struct cohort__cost cost = {
        .startups = num_steps + 2 * is_paired,
        .reduced = (num_steps + is_paired) * size,
        .messages = pairs.num_ranks * num_steps + 2.0 * pairs.num_spare,
        .combined = (pairs.num_ranks * num_steps + pairs.num_spare) * size,
        .memory = num_steps + is_paired > 1 ? size : 0,
    };
    cost.bytes = cost.startups * size;
    cost.moved = cost.messages * size;
    return cost;
}

const struct cohort__algorithm cohort__all_reduce_recursive_doubling = {
    .collective = COHORT__ALL_REDUCE,
    .name = "recursive_doubling",
    .build = build,
    .cost = cost,
};
