/* SPDX-License-Identifier: Apache-2.0 */
/* Shift that follows the machine: the leader of each subgroup gathers the blocks of its sites,
 * level by level (phase 1). The leaders of the largest subgroups send each other all blocks for the
 * other's sites in one message, if there are any (phase 2), and scatter what they get (phase 3).
 * What stays in a subgroup passes its leader, too: it is there for the gather anyway. Refuses where
 * no two blocks have the same way. See pattern/levels.h.
 * Cost: that of its parts; a leader sends at most one message to each other one, and at most two in
 * all where the subgroups are of one size, of consecutive sites. TMP: at the leader of the largest
 * of g sites 2 g blocks, and 2 g more if blocks with the same way are not next to each other.
 * Source: Träff, Rougier (EuroMPI 2014) for messages of several blocks; Graham et al., Cheetah
 * (CCGrid 2011). */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/crossing.h"
#include "collectives/algo/pattern/levels.h"
#include "collectives/algo/pattern/wrap.h"

/* A block that the leader with RANK sends or receives. The blocks between two leaders are in the
 * order of their sources' places. */
struct item {
    uint32_t rank;
    uint32_t source; /* a place */
    uint32_t own;    /* the place of the site of this subgroup */
};

/* What a leader sends, or what it receives, itself included. */
struct side {
    struct cohort__levels *levels;
    struct item *items; /* one for each site of the subgroup */
    uint32_t num_items;
    struct cohort__part *parts; /* one for each leader that has an item */
    uint32_t num_parts;
    struct cohort__shelf shelf; /* the blocks by the places of the sites of this subgroup */
    struct cohort__area area;   /* the blocks by items; the shelf, if they are there like that */
    bool is_sorted;             /* they are not */
};

static int compare(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : (a->source > b->source) - (a->source < b->source);
}

static void list_items(struct side *self, struct cohort__slice own, bool sends)
{
    const struct cohort__levels *levels = self->levels;
    uint32_t num_sites = levels->request->num_sites, shift = levels->request->shift;
    for (uint32_t i = 0; i < own.num; i++) {
        uint32_t site = cohort__levels_site_at(levels, own.first + i);
        uint32_t other = sends ? cohort__wrap_after(site, shift, num_sites)
                               : cohort__wrap_before(site, shift, num_sites);
        self->items[i] = (struct item){
            .rank = cohort__levels_rank(levels, levels->num_used, other),
            .source = sends ? own.first + i : cohort__machine_place(levels->machine, other),
            .own = own.first + i,
        };
    }
    self->num_items = own.num;
    qsort(self->items, own.num, sizeof(*self->items), compare);
}

/* Where the blocks for a leader follow each other on the shelf, they are sent from there, or
 * received there. */
static void list_parts(struct side *self)
{
    size_t bytes = self->shelf.lengths.bytes;
    for (uint32_t i = 1; i < self->num_items; i++)
        self->is_sorted |= self->items[i].rank == self->items[i - 1].rank &&
                           self->items[i].own != self->items[i - 1].own + 1;
    for (uint32_t i = 0, num; i < self->num_items; i += num) {
        uint32_t rank = self->items[i].rank;
        uint32_t first = self->is_sorted ? i : self->items[i].own - self->shelf.places.first;
        num = 1;
        while (i + num < self->num_items && self->items[i + num].rank == rank)
            num++;
        self->parts[self->num_parts++] = (struct cohort__part){rank, first * bytes, num * bytes};
    }
    self->area = self->is_sorted ? cohort__levels_tmp(self->levels, self->num_items * bytes)
                                 : self->shelf.area;
}

static bool side_init(struct side *self, struct cohort__levels *levels, struct cohort__slice own,
                      struct cohort__area blocks, bool sends)
{
    *self = (struct side){
        .levels = levels,
        .items = calloc(own.num, sizeof(*self->items)),
        .parts = calloc(own.num, sizeof(*self->parts)),
        .shelf = {.area = blocks, .places = own, .lengths.bytes = levels->request->bytes},
    };
    if (!self->items || !self->parts)
        return false;
    list_items(self, own, sends);
    list_parts(self);
    return true;
}

static void side_fini(struct side *self)
{
    free(self->items);
    free(self->parts);
}

/* Copies between the order of the items and the shelf. Returns a step that is done when all are. */
static uint32_t sort(const struct side *self, bool is_to_shelf, uint32_t after)
{
    if (!self->is_sorted)
        return after;
    uint32_t end = cohort__plan_join(self->levels->builder, COHORT__LEVELS_TOP);
    cohort__plan_after(self->levels->builder, end, after);
    for (uint32_t i = 0, num; i < self->num_items; i += num) {
        struct cohort__area on_shelf = cohort__shelf_at(&self->shelf, self->items[i].own);
        struct cohort__area item = self->area;
        item.offset += i * self->shelf.lengths.bytes;
        num = 1;
        while (i + num < self->num_items && self->items[i + num].own == self->items[i].own + num)
            num++;
        uint32_t copy = cohort__levels_copy(
            self->levels, COHORT__LEVELS_TOP, is_to_shelf ? on_shelf : item,
            is_to_shelf ? item : on_shelf, num * self->shelf.lengths.bytes, after);
        cohort__plan_after(self->levels->builder, end, copy);
    }
    return end;
}

/* What a leader of a largest subgroup does. */
static uint32_t exchange(struct cohort__levels *levels, struct cohort__area in,
                         struct cohort__area out, uint32_t after)
{
    struct side sent = {0}, received = {0};
    uint32_t top = levels->num_used;
    struct cohort__slice own = cohort__levels_slice(levels, top, levels->tiers[top].this_rank);
    if (side_init(&sent, levels, own, in, true) && side_init(&received, levels, own, out, false)) {
        after = sort(&sent, false, after);
        after = cohort__levels_append(levels, top,
                                      &(struct cohort__tier_part){
                                          .collective = COHORT__EXCHANGE,
                                          .phase = COHORT__LEVELS_TOP,
                                          .is_ragged = true,
                                          .in = sent.area,
                                          .out = received.area,
                                          .in_parts = sent.parts,
                                          .out_parts = received.parts,
                                          .num_in_parts = sent.num_parts,
                                          .num_out_parts = received.num_parts,
                                      },
                                      after);
        after = sort(&received, true, after);
    } else {
        cohort__plan_builder_fail(levels->builder);
    }
    side_fini(&sent);
    side_fini(&received);
    return after;
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    cohort__levels_init(&levels, builder, request);
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__lengths lengths = {.bytes = request->bytes};
    struct cohort__shelf sent = cohort__levels_shelf(&levels, lengths, false);
    uint32_t end = cohort__levels_gather_up(&levels, &in, &sent);
    struct cohort__shelf received = cohort__levels_shelf(&levels, lengths, false);
    if (cohort__levels_is_at_top(&levels))
        end = exchange(&levels, in,
                       cohort__levels_part_at(&levels, levels.num_used, out, &received), end);
    cohort__levels_scatter_down(&levels, out, &received, end);
}

/* Without two blocks with the same way, there are as many messages as without leaders. */
static bool accepts(const struct cohort__request *request)
{
    if (request->shift == 0 || !cohort__levels_accepts(request))
        return false;
    struct cohort__crossing crossing =
        cohort__crossing_of(request->machine, cohort__levels_level(request), request->shift);
    return crossing.num_subgroups < crossing.num_leaving;
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    const struct cohort__levels_way blocks = {
        .collective = COHORT__GATHER, .bytes = request->bytes, .is_for_each = true};
    struct cohort__levels_way top = blocks, down = blocks;
    uint32_t level = cohort__levels_level(request);
    struct cohort__crossing crossing = cohort__crossing_of(request->machine, level, request->shift);
    double num_leaders = cohort__machine_num_subgroups(request->machine, level);
    double bytes = crossing.num_leaving * (double)request->bytes;
    top.collective = COHORT__EXCHANGE;
    down.collective = COHORT__SCATTER;
    cohort__levels_stages(request, blocks, top, down, ret_stages);
    for (uint32_t i = 0; i < ret_stages->num; i++)
        if (ret_stages->stages[i].is_top)
            ret_stages->stages[i].exchanged =
                (struct cohort__cost){.startups = crossing.num_subgroups,
                                      .bytes = bytes,
                                      .messages = crossing.num_subgroups * num_leaders,
                                      .moved = bytes * num_leaders};
    ret_stages->memory =
        4 * cohort__cost_tmp(1, cohort__levels_largest(request) * (double)request->bytes);
}

const struct cohort__algorithm cohort__shift_levels = {
    .collective = COHORT__SHIFT,
    .name = "levels",
    .needs = "subgroups of several sites, of which two have their targets in the same other one",
    .accepts = accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__EXCHANGE,
};
