/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, hierarchical with several leaders in each group. The m top-level groups are divided
 * into L shares of consecutive groups, one for each of the first L sites of a group. L <=
 * min(arity, size of the smallest group). The l-th leader of a group collects from its whole group
 * what is for the sites of share l (phase 1). It sends that to these groups, |G_k| x |G_d| elements
 * to the leader there that has G_k in its share, and receives what they send (phase 2). It gives
 * each site of its group what came from share l (phase 3). Within a group messages go directly,
 * without a tree. A leader handles an L-th of a representative's bytes.
 * Cost, with groups of g sites: 2 (N - m) L + m (m-1) messages; (2 (g-1) + m/L) t_s + t_w m' (3 g -
 * 2) N/L with m' bytes a block. TMP: 2 (g-1) N/L blocks, an L-th of that of
 * all_to_all/hierarchical.c.
 * Source: Kandalla et al., Designing multi-leader-based Allgather algorithms (IPDPS 2009
 * workshops), applied to all-to-all; Träff, Rougier (EuroMPI 2014) for messages of several
 * blocks. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/all_to_all_phases.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/wrap.h"
#include "collectives/plan/partition.h"

enum { GATHER = 1, EXCHANGE = 2, SCATTER = 3, TAG = 0, NUM_PIECES = 3 };

struct leaders {
    const struct cohort__request *request;
    struct cohort__plan_builder *builder;
    struct cohort__range all; /* sites */
    uint32_t num_groups;
    uint32_t num_leaders;
    uint32_t this_group;
    struct cohort__range group;
    uint32_t place;            /* of this site in its group; of a leader also its share's number */
    struct cohort__range ours; /* at a leader: the sites of its share */
    /* At a leader, in TMP: for all other sites of its group, in their order, `share_bytes` each.
     * What they have for the share, and what they get from it. */
    size_t share_bytes;
    size_t rows;
    size_t columns;
};

static struct cohort__range group_at(const struct leaders *self, uint32_t index)
{
    return cohort__partition_group(self->all, self->request->arity, index);
}

static struct cohort__range share_groups(const struct leaders *self, uint32_t share)
{
    struct cohort__range groups = {.first = 0, .count = self->num_groups};
    return cohort__partition_group(groups, self->num_leaders, share);
}

static uint32_t share_find(const struct leaders *self, uint32_t group)
{
    struct cohort__range groups = {.first = 0, .count = self->num_groups};
    return cohort__partition_find(groups, self->num_leaders, group);
}

static struct cohort__range share_sites(const struct leaders *self, uint32_t share)
{
    struct cohort__range groups = share_groups(self, share);
    struct cohort__range first = group_at(self, groups.first);
    struct cohort__range last = group_at(self, groups.first + groups.count - 1);
    return (struct cohort__range){.first = first.first,
                                  .count = last.first + last.count - first.first};
}

/* As many leaders as the smallest group has sites for. But not so many that one more would not
 * shorten the largest share. */
static uint32_t count_leaders(uint32_t num_groups, uint32_t smallest)
{
    uint32_t most = cohort__partition_count(smallest, num_groups);
    uint32_t largest_share = (num_groups + most - 1) / most;
    return (num_groups + largest_share - 1) / largest_share;
}

static void leaders_init(struct leaders *self, const struct cohort__request *request)
{
    *self = (struct leaders){.request = request, .all = {.first = 0, .count = request->num_sites}};
    self->num_groups = cohort__partition_count(request->num_sites, request->arity);
    self->num_leaders = count_leaders(self->num_groups, group_at(self, self->num_groups - 1).count);
    self->this_group = cohort__partition_find(self->all, request->arity, request->this_site);
    self->group = group_at(self, self->this_group);
    self->place = request->this_site - self->group.first;
    if (self->place < self->num_leaders)
        self->ours = share_sites(self, self->place);
    self->share_bytes = self->ours.count * request->bytes;
}

/* Where a leader keeps the data of the site at PLACE of its group. Not for the leader itself. */
static size_t place_offset(const struct leaders *self, uint32_t place)
{
    return (place < self->place ? place : place - 1) * self->share_bytes;
}

static uint32_t sites_block(const struct leaders *self, enum cohort__space space,
                            struct cohort__range sites)
{
    return cohort__plan_range(self->builder, space, sites.first * self->request->bytes,
                              sites.count * self->request->bytes);
}

/* A block of pieces of BYTES, at OFFSET, for the COUNT places from FIRST on. */
static uint32_t places_block(const struct leaders *self, uint32_t first, uint32_t count,
                             size_t offset, size_t bytes)
{
    return cohort__plan_block(self->builder,
                              (struct cohort__block){.space = COHORT__SPACE_TMP,
                                                     .count = count,
                                                     .offset = offset + place_offset(self, first),
                                                     .bytes = bytes,
                                                     .stride = self->share_bytes});
}

/* The pieces for the places before the leader's, then its own block OWN, then the pieces after
 * it. */
static uint32_t pieces_around(const struct leaders *self, uint32_t own, size_t offset, size_t bytes,
                              uint32_t *ret_pieces)
{
    uint32_t after = self->group.count - 1 - self->place;
    uint32_t num_pieces = 0;
    if (self->place > 0)
        ret_pieces[num_pieces++] = places_block(self, 0, self->place, offset, bytes);
    ret_pieces[num_pieces++] = own;
    if (after > 0)
        ret_pieces[num_pieces++] = places_block(self, self->place + 1, after, offset, bytes);
    return num_pieces;
}

/* The rows of this group, in order: what they have for the sites of GROUP. */
static uint32_t rows_for(const struct leaders *self, struct cohort__range group,
                         uint32_t *ret_pieces)
{
    size_t bytes = self->request->bytes;
    return pieces_around(self, sites_block(self, COHORT__SPACE_IN, group),
                         self->rows + (group.first - self->ours.first) * bytes, group.count * bytes,
                         ret_pieces);
}

/* Where the blocks of SITE for this group are received, in the order of the group. */
static uint32_t row_from(const struct leaders *self, uint32_t site, uint32_t *ret_pieces)
{
    struct cohort__range row = {.first = site, .count = 1};
    return pieces_around(self, sites_block(self, COHORT__SPACE_OUT, row),
                         self->columns + (site - self->ours.first) * self->request->bytes,
                         self->request->bytes, ret_pieces);
}

/* Phases 1 and 3 of every site: with all leaders except itself. Sites begin with different
 * leaders. */
static void share_out(struct leaders *self)
{
    for (uint32_t round = 1; round < self->group.count; round++) {
        uint32_t leader = cohort__wrap_after(self->place, round, self->group.count);
        uint32_t peer = self->group.first + leader;
        if (leader >= self->num_leaders)
            continue;
        struct cohort__range sites = share_sites(self, leader);
        uint32_t column = sites_block(self, COHORT__SPACE_OUT, sites);
        uint32_t row = sites_block(self, COHORT__SPACE_IN, sites);
        cohort__plan_recv(self->builder, SCATTER, peer, TAG, &column, 1);
        cohort__plan_send(self->builder, GATHER, peer, TAG, &row, 1);
    }
}

/* Phase 1 at a leader. Returns the step after which all rows are there. */
static uint32_t gather(struct leaders *self)
{
    uint32_t num_others = self->group.count - 1;
    uint32_t end = num_others > 1 ? cohort__plan_join(self->builder, GATHER) : COHORT__NO_STEP;
    for (uint32_t place = 0; place < self->group.count; place++) {
        if (place == self->place)
            continue;
        uint32_t row = places_block(self, place, 1, self->rows, self->share_bytes);
        uint32_t recv =
            cohort__plan_recv(self->builder, GATHER, self->group.first + place, TAG, &row, 1);
        if (num_others > 1)
            cohort__plan_after(self->builder, end, recv);
        else
            end = recv;
    }
    return end;
}

/* The part of phase 2 that stays at the leader, row by row. All pieces of a row come from one row
 * of this group, in its order. */
static void own_group_copy(struct leaders *self, uint32_t after, uint32_t end)
{
    size_t bytes = self->request->bytes;
    for (uint32_t place = 0; place < self->group.count; place++) {
        uint32_t to[NUM_PIECES];
        uint32_t num_pieces = row_from(self, self->group.first + place, to);
        size_t at = self->group.first * bytes;
        bool is_own = place == self->place;
        if (!is_own)
            at = self->rows + place_offset(self, place) +
                 (self->group.first - self->ours.first) * bytes;
        for (uint32_t i = 0; i < num_pieces; i++) {
            struct cohort__block block = cohort__plan_get_block(self->builder, to[i]);
            size_t size = block.count * block.bytes;
            uint32_t from = cohort__plan_range(
                self->builder, is_own ? COHORT__SPACE_IN : COHORT__SPACE_TMP, at, size);
            uint32_t copy = cohort__plan_copy(self->builder, EXCHANGE, to[i], from);
            cohort__plan_after(self->builder, copy, is_own ? COHORT__NO_STEP : after);
            if (end != COHORT__NO_STEP)
                cohort__plan_after(self->builder, end, copy);
            at += size;
        }
    }
}

/* Phase 2 with one other group, at its leader for our group. BLOCKS has room for all pieces. */
static void group_exchange(struct leaders *self, struct cohort__range group, uint32_t after,
                           uint32_t end, uint32_t *blocks)
{
    uint32_t peer = group.first + share_find(self, self->this_group);
    uint32_t num_blocks = 0;
    for (uint32_t i = 0; i < group.count; i++)
        num_blocks += row_from(self, group.first + i, blocks + num_blocks);
    uint32_t recv = cohort__plan_recv(self->builder, EXCHANGE, peer, TAG, blocks, num_blocks);
    if (end != COHORT__NO_STEP)
        cohort__plan_after(self->builder, end, recv);
    num_blocks = rows_for(self, group, blocks);
    uint32_t send = cohort__plan_send(self->builder, EXCHANGE, peer, TAG, blocks, num_blocks);
    cohort__plan_after(self->builder, send, after);
}

/* Phase 2. Each site begins with another group. Returns the step after which all columns are there,
 * or COHORT__NO_STEP if there are no columns except the leader's own. */
static uint32_t exchange(struct leaders *self, uint32_t after)
{
    struct cohort__range groups = share_groups(self, self->place);
    uint32_t first = self->this_group - groups.first < groups.count
                         ? self->this_group - groups.first
                         : self->this_group % groups.count;
    uint32_t end =
        self->group.count > 1 ? cohort__plan_join(self->builder, EXCHANGE) : COHORT__NO_STEP;
    uint32_t *blocks = calloc(NUM_PIECES * (size_t)self->ours.count, sizeof(*blocks));
    for (uint32_t round = 0; blocks && round < groups.count; round++) {
        uint32_t index = groups.first + cohort__wrap_after(first, round, groups.count);
        if (index == self->this_group)
            own_group_copy(self, after, end);
        else
            group_exchange(self, group_at(self, index), after, end, blocks);
    }
    if (!blocks)
        cohort__plan_builder_fail(self->builder);
    free(blocks);
    return end;
}

/* Phase 3 at a leader. */
static void scatter(struct leaders *self, uint32_t after)
{
    for (uint32_t round = 1; round < self->group.count; round++) {
        uint32_t place = cohort__wrap_after(self->place, round, self->group.count);
        uint32_t column = places_block(self, place, 1, self->columns, self->share_bytes);
        uint32_t send =
            cohort__plan_send(self->builder, SCATTER, self->group.first + place, TAG, &column, 1);
        cohort__plan_after(self->builder, send, after);
    }
}

static void lead(struct leaders *self)
{
    size_t bytes = (self->group.count - 1) * self->share_bytes;
    uint32_t rows = cohort__plan_tmp(self->builder, bytes);
    uint32_t columns = cohort__plan_tmp(self->builder, bytes);
    self->rows = cohort__plan_get_block(self->builder, rows).offset;
    self->columns = cohort__plan_get_block(self->builder, columns).offset;
    scatter(self, exchange(self, gather(self)));
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct leaders self;
    leaders_init(&self, request);
    self.builder = builder;
    share_out(&self);
    if (self.place < self.num_leaders)
        lead(&self);
}

/* The time at the port of a leader of the first group, which is a largest one: its share twice with
 * all other sites of the group, and once with the groups of the share except its own. */
static struct cohort__cost leader_cost(const struct leaders *self, uint32_t leader)
{
    struct cohort__range groups = share_groups(self, leader);
    double others = self->group.count - 1.0;
    double width = share_sites(self, leader).count;
    double targets = groups.first == 0 ? width - self->group.count : width;
    double partners = groups.first == 0 ? groups.count - 1.0 : groups.count;
    return (struct cohort__cost){.startups = 2 * others + partners,
                                 .bytes = (2 * others * width + self->group.count * targets) *
                                          (double)self->request->bytes};
}

/* The first leader has the largest share. But it may have to send less of it, so all leaders are
 * compared. */
static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__request first = *request;
    struct leaders self;
    first.this_site = 0;
    leaders_init(&self, &first);
    double num_sites = request->num_sites, num_groups = self.num_groups;
    double collected = (num_sites - num_groups) * num_sites;
    struct cohort__cost cost = leader_cost(&self, 0);
    for (uint32_t leader = 1; leader < self.num_leaders; leader++) {
        struct cohort__cost other = leader_cost(&self, leader);
        cost.startups = other.startups > cost.startups ? other.startups : cost.startups;
        cost.bytes = other.bytes > cost.bytes ? other.bytes : cost.bytes;
    }
    cost.messages = 2 * (num_sites - num_groups) * self.num_leaders + num_groups * (num_groups - 1);
    cost.moved =
        (2 * collected + cohort__all_to_all_between_groups(request)) * (double)request->bytes;
    cost.memory = 2 * cohort__cost_tmp(1, (self.group.count - 1) * self.share_bytes);
    return cost;
}

const struct cohort__algorithm cohort__all_to_all_leaders = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "leaders",
    .hierarchical = true,
    .direct = true,
    .build = build,
    .cost = cost,
};
