/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, Rabenseifner: recursive halving, then recursive doubling. In step k of phase 1 two
 * ranks whose numbers differ in bit k halve the part of the vector that they have. Each of them
 * reduces one half. The lower rank's operand is on the left. Since neighbours come first, the
 * operation need not commute. Phase 3 goes back the same way and puts the halves together. If N is
 * no power of two, the first sites form pairs, as in all_reduce/recursive_doubling.c.
 * Cost: 2 t_s log N + (2 t_w + t_r) m (N-1)/N; else 2 t_s + (2 t_w + t_r) m more than for the power
 * of two below N. TMP: a quarter of the vector, with pairs a half.
 * Source: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH
 * (2005). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/pairs.h"
#include "collectives/algo/pattern/vector.h"

enum { HALVE = 1, DOUBLE = 3, PAIR_TAG = 0, TAG = 1, MAX_STEPS = 32 };

struct halving {
    struct cohort__plan_builder *builder;
    const struct cohort__request *request;
    struct cohort__pairs pairs;
    struct cohort__vector have; /* IN; after the first reduction OUT */
    struct cohort__vector out;
    uint32_t first; /* the first piece that this rank still has, and how many */
    uint32_t count;
    uint32_t reduce; /* the last REDUCE */
    uint32_t buffer; /* for what arrives; COHORT__NO_STEP: not made yet */
    uint32_t sends[MAX_STEPS];
    bool from_out[MAX_STEPS];
};

static struct cohort__vector pieces_of(const struct cohort__request *request,
                                       const struct cohort__pairs *pairs, enum cohort__space space)
{
    struct cohort__vector vector = cohort__vector_of_cut(request, space);
    vector.num_pieces = pairs->num_ranks;
    return vector;
}

/* Where COUNT pieces from FIRST on arrive: in OUT as long as nothing is there, else in a buffer.
 * Only RECVs write to the buffer, and the last REDUCE was the last step to read it. */
static uint32_t recv_append(struct halving *self, uint32_t peer, uint32_t tag, uint32_t first,
                            uint32_t count, uint32_t *ret_block)
{
    struct cohort__plan_builder *builder = self->builder;
    size_t bytes = cohort__vector_bytes(&self->out, first, count);
    bool is_buffered = self->have.space == COHORT__SPACE_OUT;
    if (!is_buffered) {
        *ret_block = cohort__vector_block(builder, &self->out, first, count);
    } else if (self->buffer == COHORT__NO_STEP) {
        *ret_block = self->buffer = cohort__plan_tmp(builder, bytes);
        is_buffered = false; /* no step has used it yet */
    } else {
        size_t offset = cohort__plan_get_block(builder, self->buffer).offset;
        *ret_block = cohort__plan_range(builder, COHORT__SPACE_TMP, offset, bytes);
    }
    uint32_t recv = cohort__plan_recv(builder, HALVE, peer, tag, ret_block, 1);
    if (is_buffered)
        cohort__plan_after(builder, recv, self->reduce);
    return recv;
}

static void reduce_append(struct halving *self, uint32_t recv, uint32_t arrived, bool is_left)
{
    struct cohort__plan_builder *builder = self->builder;
    uint32_t own = cohort__vector_block(builder, &self->have, self->first, self->count);
    uint32_t result = cohort__vector_block(builder, &self->out, self->first, self->count);
    uint32_t reduce = cohort__plan_reduce(builder, HALVE, result, is_left ? own : arrived,
                                          is_left ? arrived : own);
    cohort__plan_after(builder, reduce, recv);
    cohort__plan_after(builder, reduce, self->reduce);
    self->reduce = reduce;
    self->have = self->out;
}

static uint32_t partner_of(const struct halving *self, uint32_t k)
{
    return cohort__pairs_site(&self->pairs, self->pairs.this_rank ^ 1U << k);
}

static void halve(struct halving *self, uint32_t k)
{
    struct cohort__plan_builder *builder = self->builder;
    bool is_left = (self->pairs.this_rank >> k & 1) == 0;
    uint32_t partner = partner_of(self, k);
    uint32_t arrived;
    self->count /= 2;
    uint32_t given = is_left ? self->first + self->count : self->first;
    if (!is_left)
        self->first += self->count;
    uint32_t recv = recv_append(self, partner, TAG, self->first, self->count, &arrived);
    uint32_t block = cohort__vector_block(builder, &self->have, given, self->count);
    self->from_out[k] = self->have.space == COHORT__SPACE_OUT;
    self->sends[k] = cohort__plan_send(builder, HALVE, partner, TAG, &block, 1);
    cohort__plan_after(builder, self->sends[k], self->reduce);
    reduce_append(self, recv, arrived, is_left);
}

/* STEP waits for all that makes the pieces that this rank has. RECVS are those of the doubling,
 * from step K on. */
static void all_before(struct halving *self, const uint32_t *recvs, uint32_t k, uint32_t num_steps,
                       uint32_t step)
{
    cohort__plan_after(self->builder, step, self->reduce);
    for (; k < num_steps; k++)
        cohort__plan_after(self->builder, step, recvs[k]);
}

static void rank_append(struct halving *self)
{
    struct cohort__plan_builder *builder = self->builder;
    uint32_t num_steps = cohort__log2_floor(self->request->num_sites);
    uint32_t spare = self->request->this_site + 1;
    uint32_t recvs[MAX_STEPS], arrived;
    if (self->pairs.has_spare) {
        uint32_t recv = recv_append(self, spare, PAIR_TAG, self->first, self->count, &arrived);
        reduce_append(self, recv, arrived, true);
    }
    for (uint32_t k = 0; k < num_steps; k++)
        halve(self, k);
    for (uint32_t k = num_steps; k-- > 0;) {
        uint32_t missing = (self->pairs.this_rank >> k & 1) == 0 ? self->first + self->count
                                                                 : self->first - self->count;
        uint32_t partner = partner_of(self, k);
        uint32_t block = cohort__vector_block(builder, &self->out, missing, self->count);
        uint32_t own = cohort__vector_block(builder, &self->out, self->first, self->count);
        recvs[k] = cohort__plan_recv(builder, DOUBLE, partner, TAG, &block, 1);
        if (self->from_out[k])
            cohort__plan_after(builder, recvs[k], self->sends[k]);
        uint32_t send = cohort__plan_send(builder, DOUBLE, partner, TAG, &own, 1);
        all_before(self, recvs, k + 1, num_steps, send);
        self->first = missing < self->first ? missing : self->first;
        self->count *= 2;
    }
    if (self->pairs.has_spare) {
        uint32_t result = cohort__vector_block(builder, &self->out, 0, self->pairs.num_ranks);
        uint32_t send = cohort__plan_send(builder, DOUBLE, spare, PAIR_TAG, &result, 1);
        all_before(self, recvs, 0, num_steps, send);
    }
}

static void spare_append(struct halving *self)
{
    uint32_t site = self->request->this_site - 1;
    uint32_t in = cohort__vector_block(self->builder, &self->have, 0, self->count);
    uint32_t out = cohort__vector_block(self->builder, &self->out, 0, self->count);
    cohort__plan_recv(self->builder, DOUBLE, site, PAIR_TAG, &out, 1);
    cohort__plan_send(self->builder, HALVE, site, PAIR_TAG, &in, 1);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__pairs pairs = cohort__pairs_of(request->num_sites, request->this_site);
    struct halving self = {.builder = builder,
                           .request = request,
                           .pairs = pairs,
                           .have = pieces_of(request, &pairs, COHORT__SPACE_IN),
                           .out = pieces_of(request, &pairs, COHORT__SPACE_OUT),
                           .count = pairs.num_ranks,
                           .reduce = COHORT__NO_STEP,
                           .buffer = COHORT__NO_STEP};
    if (pairs.is_spare)
        spare_append(&self);
    else
        rank_append(&self);
}

/* The first pieces are the largest, so the first half is the larger one. */
static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__pairs pairs = cohort__pairs_of(request->num_sites, 0);
    struct cohort__vector vector = pieces_of(request, &pairs, COHORT__SPACE_IN);
    double num_steps = cohort__log2_floor(request->num_sites);
    double is_paired = pairs.num_spare > 0;
    double size = (double)request->bytes;
    double halves = 0;
    for (uint32_t count = pairs.num_ranks / 2; count > 0; count /= 2)
        halves += (double)cohort__vector_bytes(&vector, 0, count);
    uint32_t arriving = is_paired > 0 ? pairs.num_ranks / 2 : pairs.num_ranks / 4;
    return (struct cohort__cost){
        .startups = 2 * num_steps + 2 * is_paired,
        .bytes = 2 * halves + 2 * is_paired * size,
        .reduced = halves + is_paired * size,
        .messages = 2 * pairs.num_ranks * num_steps + 2.0 * pairs.num_spare,
        .moved = 2 * (pairs.num_ranks - 1.0 + pairs.num_spare) * size,
        .combined = (pairs.num_ranks - 1.0 + pairs.num_spare) * size,
        .memory = (double)cohort__vector_bytes(&vector, 0, arriving),
    };
}

const struct cohort__algorithm cohort__all_reduce_rabenseifner = {
    .collective = COHORT__ALL_REDUCE,
    .name = "rabenseifner",
    .build = build,
    .cost = cost,
};
