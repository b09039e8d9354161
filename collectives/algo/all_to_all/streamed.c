/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, hierarchical, streamed: see all_to_all_phases.h. Representatives don't wait between
 * phases. The rows of a group come to R_k in parts: its own row, and what each of its direct
 * children has gathered. R_k passes a part on as soon as it is there. Each R_d gets what is for its
 * group (phase 2), and R_k's own children get what is for them (phase 3). R_d passes what it gets
 * on to its own children, and these pass it on below. So on each path down the tree there are as
 * many messages as there are parts, and not one. None of them waits for more than one message.
 * Cost: see cost; the bytes of all_to_all/hierarchical.c. But R_k receives rows while it passes
 * others on. So large blocks take up to a third less time. Small ones take more, because of the
 * messages. TMP: as there, without columns of this group itself.
 * Source: HPX discussion #7200, which leaves streaming for later. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/all_to_all_phases.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"
#include "collectives/algo/pattern/wrap.h"

enum {
    GATHER = COHORT__ALL_TO_ALL_GATHER,
    EXCHANGE = COHORT__ALL_TO_ALL_EXCHANGE,
    SCATTER = COHORT__ALL_TO_ALL_SCATTER,
};

/* The parts of the rows of a group, in the order of the tags with which they arrive. Part 0 is the
 * representative's own row. */
struct parts {
    struct cohort__tree tree;
    uint32_t level; /* of the next part; num_levels: the own row */
    uint32_t rank;
    uint32_t tag;
    struct cohort__range range; /* of sites */
};

static struct parts parts_begin(const struct cohort__all_to_all *self, struct cohort__range group)
{
    struct parts parts = {.range = {.first = group.first, .count = 1}};
    cohort__tree_init(&parts.tree, group, self->request->arity, group.first, group.first);
    parts.level = parts.tree.num_levels;
    return parts;
}

/* The children of the lowest level come first, since their rows have the shortest way. False: there
 * are no more parts. */
static bool parts_next(struct parts *parts)
{
    if (parts->level == parts->tree.num_levels ||
        ++parts->rank == parts->tree.levels[parts->level].num_ranks) {
        if (parts->level == 0)
            return false;
        parts->level--;
        parts->rank = 1;
    }
    parts->range = cohort__tree_group(&parts->tree, parts->level, parts->rank);
    parts->range.first += parts->tree.sites.first;
    parts->tag++;
    return true;
}

/* The blocks of a part of this group's rows that are for the sites of RANGE. */
static uint32_t rows_block(struct cohort__all_to_all *self, struct cohort__range part,
                           struct cohort__range range)
{
    size_t bytes = self->request->bytes;
    struct cohort__block block = {.space = COHORT__SPACE_IN,
                                  .count = 1,
                                  .offset = range.first * bytes,
                                  .bytes = range.count * bytes};
    if (part.first != self->group.first) {
        block.space = self->rows.space;
        block.count = part.count;
        block.offset += self->rows.offset + (part.first - self->group.first - 1) * self->row_bytes;
        block.stride = self->row_bytes;
    }
    return cohort__plan_block(self->builder, block);
}

/* Where this site keeps what comes from the sites of PART: for itself and for its subtree. */
static struct cohort__layout layout_of(const struct cohort__all_to_all *self,
                                       struct cohort__range part)
{
    size_t bytes = self->request->bytes;
    size_t num_others = cohort__tree_subtree(&self->tree).count - 1;
    struct cohort__layout layout = self->columns;
    layout.bytes = part.count * bytes;
    layout.own =
        cohort__plan_range(self->builder, COHORT__SPACE_OUT, part.first * bytes, layout.bytes);
    layout.offset += num_others * part.first * bytes;
    layout.tag = part.first;
    return layout;
}

/* Sends to the child with the sites CHILD what it gets of a part of this group's rows, column by
 * column. BLOCKS has room for one block a column. */
static void own_part_send(struct cohort__all_to_all *self, struct cohort__range part,
                          struct cohort__range child, uint32_t after, uint32_t *blocks)
{
    for (uint32_t i = 0; i < child.count; i++) {
        struct cohort__range column = {.first = child.first + i, .count = 1};
        blocks[i] = rows_block(self, part, column);
    }
    uint32_t send =
        cohort__plan_send(self->builder, SCATTER, child.first, part.first, blocks, child.count);
    cohort__plan_after(self->builder, send, after);
}

/* Passes on a part of this group's rows, which is there after AFTER: to the other groups first,
 * then to the children, and to the own column. */
static void own_part_pass(struct cohort__all_to_all *self, const struct parts *part, uint32_t after,
                          uint32_t *blocks)
{
    struct cohort__plan_builder *builder = self->builder;
    struct cohort__range this_site = {.first = self->group.first, .count = 1};
    size_t bytes = self->request->bytes;
    struct parts children = parts_begin(self, self->group);
    for (uint32_t round = 1; round < self->num_groups; round++) {
        uint32_t index = cohort__wrap_after(self->this_group, round, self->num_groups);
        struct cohort__range group = cohort__all_to_all_group(self, index);
        uint32_t piece = rows_block(self, part->range, group);
        uint32_t send = cohort__plan_send(builder, EXCHANGE, group.first, part->tag, &piece, 1);
        cohort__plan_after(builder, send, after);
    }
    while (parts_next(&children))
        own_part_send(self, part->range, children.range, after, blocks);
    uint32_t column = cohort__plan_range(builder, COHORT__SPACE_OUT, part->range.first * bytes,
                                         part->range.count * bytes);
    uint32_t copy =
        cohort__plan_copy(builder, EXCHANGE, column, rows_block(self, part->range, this_site));
    cohort__plan_after(builder, copy, after);
}

/* The next part is received only when the last one has been sent to the other groups. Else all rows
 * would arrive first, and what could be passed on meanwhile would queue behind them. */
static void own_group_pass(struct cohort__all_to_all *self, uint32_t *blocks)
{
    struct parts part = parts_begin(self, self->group);
    struct cohort__range all = {.first = 0, .count = self->request->num_sites};
    uint32_t last_sends = cohort__plan_num_steps(self->builder);
    own_part_pass(self, &part, COHORT__NO_STEP, blocks);
    while (parts_next(&part)) {
        struct cohort__range rows = part.range;
        uint32_t place = rows_block(self, rows, all);
        uint32_t arrival = cohort__plan_recv(self->builder, GATHER, rows.first, 0, &place, 1);
        for (uint32_t i = 0; i + 1 < self->num_groups; i++)
            cohort__plan_after(self->builder, arrival, last_sends + i);
        last_sends = cohort__plan_num_steps(self->builder);
        own_part_pass(self, &part, arrival, blocks);
    }
}

/* Receives a part from another group row by row, into the columns. BLOCKS has room for two blocks a
 * row. */
static uint32_t part_recv(struct cohort__all_to_all *self, const struct cohort__layout *layout,
                          const struct parts *part, uint32_t *blocks)
{
    size_t bytes = self->request->bytes;
    uint32_t num_blocks = 0;
    struct cohort__block others = {.space = layout->space,
                                   .count = self->group.count - 1,
                                   .offset = layout->offset,
                                   .bytes = bytes,
                                   .stride = layout->bytes};
    for (uint32_t i = 0; i < part->range.count; i++, others.offset += bytes) {
        blocks[num_blocks++] = cohort__plan_range(self->builder, COHORT__SPACE_OUT,
                                                  (part->range.first + i) * bytes, bytes);
        if (others.count > 0)
            blocks[num_blocks++] = cohort__plan_block(self->builder, others);
    }
    return cohort__plan_recv(self->builder, EXCHANGE, part->tree.sites.first, part->tag, blocks,
                             num_blocks);
}

static void group_pass(struct cohort__all_to_all *self, struct cohort__range group,
                       uint32_t *blocks)
{
    struct parts part = parts_begin(self, group);
    do {
        struct cohort__layout layout = layout_of(self, part.range);
        uint32_t arrival = part_recv(self, &layout, &part, blocks);
        struct parts children = parts_begin(self, self->group);
        while (parts_next(&children)) {
            uint32_t place = children.range.first - self->group.first - 1;
            uint32_t columns = cohort__plan_range(self->builder, layout.space,
                                                  layout.offset + place * layout.bytes,
                                                  children.range.count * layout.bytes);
            uint32_t send = cohort__plan_send(self->builder, SCATTER, children.range.first,
                                              layout.tag, &columns, 1);
            cohort__plan_after(self->builder, send, arrival);
        }
    } while (parts_next(&part));
}

static void at_representative(struct cohort__all_to_all *self)
{
    uint32_t *blocks = calloc(2 * (size_t)self->request->num_sites, sizeof(*blocks));
    if (blocks)
        own_group_pass(self, blocks);
    else
        cohort__plan_builder_fail(self->builder);
    for (uint32_t round = 1; blocks && round < self->num_groups; round++) {
        uint32_t index = cohort__wrap_before(self->this_group, round, self->num_groups);
        group_pass(self, cohort__all_to_all_group(self, index), blocks);
    }
    free(blocks);
}

static void below_representative(struct cohort__all_to_all *self)
{
    uint32_t after = cohort__all_to_all_gather(self);
    if (!cohort__tree_has_children(&self->tree))
        after = COHORT__NO_STEP; /* the row is sent from IN, the column goes to OUT */
    for (uint32_t index = 0; index < self->num_groups; index++) {
        struct parts part = parts_begin(self, cohort__all_to_all_group(self, index));
        do {
            struct cohort__layout layout = layout_of(self, part.range);
            cohort__scatter_down(self->builder, &self->tree, &layout, SCATTER, after);
        } while (parts_next(&part));
    }
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__all_to_all self;
    cohort__all_to_all_init(&self, request, builder);
    if (self.is_representative)
        at_representative(&self);
    else
        below_representative(&self);
}

/* How many children the representative of a group has, that is, how many messages it sends in a
 * broadcast. Its group's rows come in one part more than that. */
static double count_children(const struct cohort__request *request, uint32_t num_sites)
{
    return cohort__cost_broadcast(num_sites, request->arity, 0).startups;
}

/* The sending port of the representative of a largest group is the busiest. Before it comes the
 * gathering of the largest part, after it the way down of the last part. */
static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    struct cohort__cost cost = cohort__all_to_all_subtrees_cost(request);
    uint32_t num_groups = cohort__partition_count(all.count, request->arity);
    struct cohort__range group = cohort__partition_group(all, request->arity, 0);
    size_t row_bytes = all.count * request->bytes;
    double num_sites = all.count, num_parts = 0, size = group.count;
    for (uint32_t i = 0; i < num_groups; i++)
        num_parts +=
            1 + count_children(request, cohort__partition_group(all, request->arity, i).count);
    double children = count_children(request, group.count);
    cost.startups = (num_groups - 1) * (1 + children) + children * num_parts;
    cost.bytes = (size * (num_sites - size) + (size - 1) * num_sites) * (double)request->bytes;
    if (group.count > 1) {
        uint32_t part = cohort__partition_group(group, request->arity, 1).count;
        struct cohort__cost below = cohort__cost_scatter(part, request->arity, row_bytes);
        cost.startups += 2 * below.startups;
        cost.bytes += 2 * below.bytes;
    }
    cost.messages = (num_sites - num_groups) * (1 + num_parts) + (num_groups - 1) * num_parts;
    cost.moved =
        2 * cost.moved + cohort__all_to_all_between_groups(request) * (double)request->bytes;
    return cost;
}

const struct cohort__algorithm cohort__all_to_all_streamed = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "streamed",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
