/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, Bruck. Block j of site i is what i has for site i + j. In the round of bit k = 1, 2,
 * 4 .. site i sends all blocks whose number has that bit to site i + k, and receives the blocks of
 * the same numbers from site i - k. So block j moves by j in all, and ends at its target, for any
 * N.
 *
 * Nothing is rotated. A block is sent from IN in its first round and received into OUT in its last
 * one. In between it has two places in TMP and changes between them with every move, since in each
 * round one block j leaves while another block j arrives.
 *
 * Cost: ceil(log N) messages; in the round of bit k, as many blocks as there are numbers below N
 * that have bit k: N/2 in each round for a power of two. TMP: 2 (N - 3) blocks.
 * Source: Bruck, Ho, Kipnis, Upfal, Weathersby (IEEE TPDS 1997). The listing in the text on
 * all-to-all algorithms that we were given has errors. It counts sites and blocks up to P instead
 * of P - 1. It sends and receives inside the loop that still packs blocks. It receives into S, the
 * user's input, but unpacks T, which was just sent. It unpacks for all i up to SB, which is an
 * array, instead of NB. It does the final rotation in place, which overwrites blocks, inside the
 * loop over k. */
#include "collectives/algo/pattern/subplans.h"

#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1, IN_TMP = 3 /* the first block with a move that is neither its first nor last */ };

struct bruck {
    struct cohort__plan_builder *builder;
    uint32_t num_ranks;
    uint32_t this_rank;
    size_t bytes;
    size_t tmp;      /* where this algorithm's part of TMP begins */
    uint32_t *sends; /* the blocks of a round */
    uint32_t *recvs;
};

/* Where block NUMBER is in TMP after NUM_MOVES moves. */
static uint32_t place_of(const struct bruck *self, uint32_t number, uint32_t num_moves)
{
    size_t place = 2 * (size_t)(number - IN_TMP) + num_moves % 2;
    return cohort__plan_range(self->builder, COHORT__SPACE_TMP, self->tmp + place * self->bytes,
                              self->bytes);
}

/* The blocks that move in the round of BIT. Returns how many. */
static uint32_t blocks_collect(const struct bruck *self, uint32_t bit)
{
    uint32_t num_blocks = 0;
    for (uint32_t number = bit; number < self->num_ranks; number = (number + 1) | bit) {
        uint32_t num_moves = (uint32_t)__builtin_popcount(number & (bit - 1));
        bool is_last = number < 2 * (uint64_t)bit;
        uint32_t target = cohort__wrap_after(self->this_rank, number, self->num_ranks);
        uint32_t source = cohort__wrap_before(self->this_rank, number, self->num_ranks);
        self->sends[num_blocks] = num_moves == 0 ? target : place_of(self, number, num_moves);
        self->recvs[num_blocks] =
            is_last ? self->num_ranks + source : place_of(self, number, num_moves + 1);
        num_blocks++;
    }
    return num_blocks;
}

/* A send waits for what arrived in the round before. Through the send before it, it waits for all
 * earlier rounds. A place is used again in the third round at the earliest. */
static void rounds_append(const struct bruck *self)
{
    struct cohort__plan_builder *builder = self->builder;
    uint32_t last_send = COHORT__NO_STEP, last_recv = COHORT__NO_STEP;
    uint32_t round = 0;
    for (uint64_t bit = 1; bit < self->num_ranks; bit *= 2, round++) {
        uint32_t num_blocks = blocks_collect(self, (uint32_t)bit);
        uint32_t source = cohort__wrap_before(self->this_rank, (uint32_t)bit, self->num_ranks);
        uint32_t target = cohort__wrap_after(self->this_rank, (uint32_t)bit, self->num_ranks);
        uint32_t recv = cohort__plan_recv(builder, PHASE, source, round, self->recvs, num_blocks);
        uint32_t send = cohort__plan_send(builder, PHASE, target, round, self->sends, num_blocks);
        if (round >= 2)
            cohort__plan_after(builder, recv, last_send);
        cohort__plan_after(builder, send, last_send);
        cohort__plan_after(builder, send, last_recv);
        last_recv = recv;
        last_send = send;
    }
}

static void bruck_append(struct cohort__plan_builder *builder,
                         const struct cohort__request *request, uint32_t *blocks)
{
    uint32_t num_ranks = request->num_sites, this_rank = request->this_site;
    struct bruck self = {.builder = builder,
                         .num_ranks = num_ranks,
                         .this_rank = this_rank,
                         .bytes = request->bytes,
                         .sends = blocks,
                         .recvs = blocks + num_ranks};
    for (uint32_t i = 0; i < 2 * num_ranks; i++)
        cohort__plan_range(builder, i < num_ranks ? COHORT__SPACE_IN : COHORT__SPACE_OUT,
                           i % num_ranks * request->bytes, request->bytes);
    if (num_ranks > IN_TMP) {
        uint32_t tmp = cohort__plan_tmp(builder, 2 * (size_t)(num_ranks - IN_TMP) * request->bytes);
        self.tmp = cohort__plan_get_block(builder, tmp).offset;
    }
    rounds_append(&self);
    cohort__plan_copy(builder, PHASE, num_ranks + this_rank, this_rank);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t *blocks = calloc(2 * (size_t)request->num_sites, sizeof(*blocks));
    if (blocks)
        bruck_append(builder, request, blocks);
    else
        cohort__plan_builder_fail(builder);
    free(blocks);
}

/* Of each 2 k numbers in a row, the upper k have bit k. */
static double count_blocks(uint32_t num_ranks, uint64_t bit)
{
    uint64_t rest = num_ranks % (2 * bit);
    return (double)(num_ranks / (2 * bit) * bit + (rest > bit ? rest - bit : 0));
}

struct cohort__cost cohort__all_to_all_bruck_cost(uint32_t num_ranks, size_t bytes)
{
    struct cohort__cost cost = {.startups = 0};
    for (uint64_t bit = 1; bit < num_ranks; bit *= 2) {
        cost.startups++;
        cost.bytes += count_blocks(num_ranks, bit) * (double)bytes;
    }
    cost.messages = cost.startups * num_ranks;
    cost.moved = cost.bytes * num_ranks;
    if (num_ranks > IN_TMP)
        cost.memory = 2.0 * (num_ranks - IN_TMP) * (double)bytes;
    return cost;
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    return cohort__all_to_all_bruck_cost(request->num_sites, request->bytes);
}

const struct cohort__algorithm cohort__all_to_all_bruck = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "bruck",
    .build = build,
    .cost = cost,
};
