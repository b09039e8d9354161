/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, hierarchical, padded: see all_to_all_phases.h. In phase 2 every sub-matrix has g x g
 * blocks, row by row, with g the size of the largest group. It is filled up with zeros. The
 * receiver crops it by the sizes of the groups. So all messages of phase 2 have one size.
 * Cost: the messages of all_to_all/hierarchical.c; up to g^2 blocks in each one of phase 2, and two
 * copies more. TMP: at R_k 2 m g^2 blocks more than there.
 * Source: HPX discussion #7200. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/all_to_all_phases.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/subplans.h"
#include "collectives/plan/embed.h"

enum { PHASE = COHORT__ALL_TO_ALL_EXCHANGE };

/* The g x g matrices, one for each group. */
struct padded {
    uint32_t largest; /* g */
    size_t bytes;     /* of one matrix */
    size_t to;        /* where those to be sent begin in TMP */
    size_t from;      /* where those that arrive begin */
};

static struct cohort__block part(const struct cohort__all_to_all *self, const struct padded *padded,
                                 size_t offset, uint32_t num_rows, uint32_t num_columns)
{
    return (struct cohort__block){.space = COHORT__SPACE_TMP,
                                  .count = num_rows,
                                  .offset = offset,
                                  .bytes = num_columns * self->request->bytes,
                                  .stride = padded->largest * self->request->bytes};
}

/* Fills the matrices with our rows, and with zeros around them. Returns the step after which all
 * are filled. */
static uint32_t fill(struct cohort__all_to_all *self, const struct padded *padded, uint32_t all,
                     uint32_t after)
{
    struct cohort__plan_builder *builder = self->builder;
    size_t bytes = self->request->bytes;
    uint32_t zero = cohort__plan_zero(builder, PHASE, all);
    uint32_t done = cohort__plan_join(builder, PHASE);
    for (uint32_t index = 0; index < self->num_groups; index++) {
        struct cohort__range group = cohort__all_to_all_group(self, index);
        size_t offset = padded->to + index * padded->bytes;
        uint32_t to = cohort__plan_block(builder, part(self, padded, offset, 1, group.count));
        uint32_t from =
            cohort__plan_range(builder, COHORT__SPACE_IN, group.first * bytes, group.count * bytes);
        uint32_t copy = cohort__plan_copy(builder, PHASE, to, from);
        cohort__plan_after(builder, copy, zero);
        cohort__plan_after(builder, done, copy);
        if (self->group.count == 1)
            continue;
        to = cohort__plan_block(builder, part(self, padded, offset + padded->largest * bytes,
                                              self->group.count - 1, group.count));
        copy = cohort__plan_copy(builder, PHASE, to, cohort__all_to_all_row_pieces(self, group));
        cohort__plan_after(builder, copy, zero);
        cohort__plan_after(builder, copy, after);
        cohort__plan_after(builder, done, copy);
    }
    return done;
}

/* Copies column by column: the blocks of one column in one matrix are consecutive in our column. */
static uint32_t crop(struct cohort__all_to_all *self, const struct padded *padded, uint32_t after)
{
    struct cohort__plan_builder *builder = self->builder;
    size_t bytes = self->request->bytes;
    uint32_t done = cohort__plan_join(builder, PHASE);
    for (uint32_t index = 0; index < self->num_groups; index++) {
        struct cohort__range group = cohort__all_to_all_group(self, index);
        size_t matrix = index == self->this_group ? padded->to : padded->from;
        for (uint32_t column = 0; column < self->group.count; column++) {
            size_t offset = matrix + index * padded->bytes + column * bytes;
            uint32_t from = cohort__plan_block(builder, part(self, padded, offset, group.count, 1));
            size_t place = group.first * bytes;
            if (column > 0)
                place += self->columns.offset + (column - 1) * self->row_bytes;
            uint32_t to =
                cohort__plan_range(builder, column > 0 ? COHORT__SPACE_TMP : COHORT__SPACE_OUT,
                                   place, group.count * bytes);
            uint32_t copy = cohort__plan_copy(builder, PHASE, to, from);
            cohort__plan_after(builder, copy, after);
            cohort__plan_after(builder, done, copy);
        }
    }
    return done;
}

static uint32_t exchange(struct cohort__all_to_all *self, uint32_t after)
{
    struct cohort__plan_builder *builder = self->builder;
    struct padded padded = {.largest = cohort__all_to_all_group(self, 0).count};
    uint32_t num_groups = self->num_groups;
    uint32_t *sites = calloc(num_groups, sizeof(*sites));
    uint32_t *blocks = calloc(2 * (size_t)num_groups, sizeof(*blocks));
    struct cohort__plan *subplan = NULL;
    padded.bytes = (size_t)padded.largest * padded.largest * self->request->bytes;
    struct cohort__request request = {
        .num_sites = num_groups, .this_site = self->this_group, .bytes = padded.bytes};
    uint32_t all = cohort__plan_tmp(builder, num_groups * padded.bytes);
    padded.to = cohort__plan_get_block(builder, all).offset;
    padded.from =
        cohort__plan_get_block(builder, cohort__plan_tmp(builder, num_groups * padded.bytes))
            .offset;
    if (sites && blocks)
        cohort__algorithm_plan(&cohort__all_to_all_linear, &request, &subplan);
    if (subplan) {
        for (uint32_t i = 0; i < 2 * num_groups; i++) {
            uint32_t index = i % num_groups;
            size_t matrix = i < num_groups || index == self->this_group ? padded.to : padded.from;
            sites[index] = cohort__all_to_all_group(self, index).first;
            blocks[i] = cohort__plan_range(builder, COHORT__SPACE_TMP,
                                           matrix + index * padded.bytes, padded.bytes);
        }
        struct cohort__embedding embedding = {.sites = sites,
                                              .blocks = blocks,
                                              .phase = PHASE,
                                              .after = fill(self, &padded, all, after),
                                              .recv_after = COHORT__NO_STEP};
        after = crop(self, &padded, cohort__plan_embed(builder, subplan, &embedding));
    } else {
        cohort__plan_builder_fail(builder);
    }
    cohort__plan_unref(subplan);
    free(blocks);
    free(sites);
    return after;
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__all_to_all_compose(builder, request, exchange);
}

/* The representatives of the largest groups are busiest in all phases. */
static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__cost phase = cohort__all_to_all_subtrees_cost(request);
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    uint32_t num_groups = cohort__partition_count(request->num_sites, request->arity);
    size_t largest = cohort__partition_group(all, request->arity, 0).count;
    size_t matrix = largest * largest * request->bytes;
    struct cohort__cost sends = cohort__cost_message(matrix);
    sends.startups *= num_groups - 1.0;
    sends.bytes *= num_groups - 1.0;
    sends.messages = num_groups * sends.startups;
    sends.moved = num_groups * sends.bytes;
    struct cohort__cost cost = cohort__cost_then(cohort__cost_then(phase, sends), phase);
    cost.memory = phase.memory + 2 * cohort__cost_tmp(1, num_groups * matrix);
    return cost;
}

const struct cohort__algorithm cohort__all_to_all_padded = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "padded",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
