/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all that follows the machine: the leader of each subgroup gathers all blocks of its sites,
 * level by level (phase 1). The leaders of the largest subgroups sort them by the subgroups that
 * they are for, exchange them, one message for each ordered pair of leaders with the linear row,
 * and sort what they get by its sites (phase 2). Then it goes back (phase 3). See pattern/levels.h.
 * Much is sorted and goes back in pieces, each as soon as it has come, unless the blocks from a
 * subgroup are in several places of OUT.
 * Cost: that of its parts; less where pieces go back while the leaders still exchange others. TMP:
 * at the leader of the largest of g sites, 4 g blocks for each site.
 * Source: Graham et al., Cheetah (CCGrid 2011); Träff, Rougier (EuroMPI 2014) for messages of
 * several blocks. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"

/* What a leader of a largest subgroup does. */
struct exchange {
    struct cohort__levels *levels;
    uint32_t top;
    size_t bytes;
    struct cohort__slice own;   /* the places of its subgroup */
    struct cohort__part *parts; /* by rank: the blocks of its subgroup for that one's */
    bool is_ragged;
    struct cohort__shelf rows; /* what its sites have for all sites */
    struct cohort__area sent;
    struct cohort__shelf received; /* for its sites, by the site that it comes from */
};

static bool init(struct exchange *self)
{
    struct cohort__levels *levels = self->levels;
    uint32_t num = levels->tiers[levels->num_used].num;
    self->top = levels->num_used;
    self->bytes = levels->request->bytes;
    self->own = cohort__levels_slice(levels, self->top, levels->tiers[self->top].this_rank);
    self->parts = calloc(num, sizeof(*self->parts));
    if (!self->parts)
        return false;
    const struct cohort__lengths width = {.bytes = self->own.num * self->bytes};
    self->is_ragged = cohort__levels_parts(levels, self->top, width, self->parts);
    size_t all = (size_t)self->own.num * levels->request->num_sites * self->bytes;
    self->sent = cohort__levels_tmp(levels, all);
    self->received = (struct cohort__shelf){.area = cohort__levels_tmp(levels, all),
                                            .places.num = levels->request->num_sites,
                                            .lengths = width};
    return true;
}

static uint32_t strided(const struct exchange *self, struct cohort__area area, uint32_t count,
                        size_t bytes, size_t stride)
{
    return cohort__plan_block(self->levels->builder, (struct cohort__block){.space = area.space,
                                                                            .count = count,
                                                                            .offset = area.offset,
                                                                            .bytes = bytes,
                                                                            .stride = stride});
}

static struct cohort__area at(struct cohort__area area, size_t offset)
{
    area.offset += offset;
    return area;
}

static void copy(const struct exchange *self, uint32_t to, uint32_t from, uint32_t after,
                 uint32_t end)
{
    uint32_t step = cohort__plan_copy(self->levels->builder, COHORT__LEVELS_TOP, to, from);
    cohort__plan_after(self->levels->builder, step, after);
    cohort__plan_after(self->levels->builder, end, step);
}

/* The rows of this subgroup's sites, of each the columns for the sites of RANK's. They are cut
 * where the numbers of these sites are not consecutive. */
static void sort_rows(const struct exchange *self, uint32_t rank, uint32_t after, uint32_t end)
{
    const struct cohort__levels *levels = self->levels;
    struct cohort__slice slice = cohort__levels_slice(levels, self->top, rank);
    size_t width = slice.num * self->bytes;
    size_t row = levels->request->num_sites * self->bytes;
    struct cohort__area to = at(self->sent, self->parts[rank].offset);
    struct cohort__area from = cohort__shelf_at(&self->rows, self->own.first);
    for (uint32_t i = 0, num; i < slice.num; i += num) {
        num = cohort__levels_run(levels, slice.first + i, slice.first + slice.num);
        uint32_t site = cohort__levels_site_at(levels, slice.first + i);
        size_t bytes = num * self->bytes;
        copy(self, strided(self, at(to, i * self->bytes), self->own.num, bytes, width),
             strided(self, at(from, site * self->bytes), self->own.num, bytes, row), after, end);
    }
}

/* What has come in PIECE, by the sites of this subgroup. COLUMNS has room for it. */
static uint32_t sort_columns(const struct exchange *self, const struct cohort__piece *piece,
                             const struct cohort__shelf *columns)
{
    const struct cohort__levels *levels = self->levels;
    const struct cohort__slice from = piece->shelf.places;
    const size_t width = self->own.num * self->bytes;
    uint32_t end = cohort__plan_join(levels->builder, COHORT__LEVELS_TOP);
    cohort__plan_after(levels->builder, end, piece->come);
    for (uint32_t i = 0, num; i < from.num; i += num) {
        uint32_t site = cohort__levels_site_at(levels, from.first + i);
        struct cohort__area received = cohort__shelf_at(&piece->shelf, from.first + i);
        num = cohort__levels_run(levels, from.first + i, from.first + from.num);
        for (uint32_t column = 0; column < self->own.num; column++) {
            struct cohort__area to = cohort__shelf_at(columns, self->own.first + column);
            to = at(to, (site - from.first) * self->bytes);
            copy(self, strided(self, to, 1, num * self->bytes, 0),
                 strided(self, at(received, column * self->bytes), num, self->bytes, width),
                 piece->come, end);
        }
    }
    return end;
}

static void exchange(struct exchange *self, uint32_t after)
{
    struct cohort__plan_builder *builder = self->levels->builder;
    uint32_t sorted = cohort__plan_join(builder, COHORT__LEVELS_TOP);
    cohort__plan_after(builder, sorted, after);
    for (uint32_t rank = 0; rank < self->levels->tiers[self->top].num; rank++)
        sort_rows(self, rank, after, sorted);
    cohort__levels_append(self->levels, self->top,
                          &(struct cohort__tier_part){.collective = COHORT__ALL_TO_ALL,
                                                      .phase = COHORT__LEVELS_TOP,
                                                      .bytes = self->parts[0].bytes,
                                                      .is_ragged = self->is_ragged,
                                                      .in = self->sent,
                                                      .out = self->received.area,
                                                      .in_parts = self->parts,
                                                      .out_parts = self->parts},
                          sorted);
}

/* OWN: where this site gets the blocks of PIECE. */
static void go_down(const struct exchange *self, const struct cohort__piece *piece,
                    struct cohort__area own)
{
    struct cohort__levels *levels = self->levels;
    struct cohort__lengths lengths = {.bytes = piece->shelf.places.num * levels->request->bytes};
    struct cohort__shelf columns = cohort__levels_shelf(levels, lengths, false);
    uint32_t end = piece->come;
    columns.piece = piece->shelf.piece;
    if (cohort__levels_is_at_top(levels)) {
        struct cohort__shelf whole = columns;
        whole.area = cohort__levels_part_at(levels, levels->num_used, own, &columns);
        end = sort_columns(self, piece, &whole);
    }
    cohort__levels_scatter_down(levels, own, &columns, end);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    struct exchange self = {.levels = &levels};
    cohort__levels_init(&levels, builder, request);
    struct cohort__lengths row = {.bytes = request->num_sites * request->bytes};
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__shelf rows = cohort__levels_shelf(&levels, row, false);
    struct cohort__piece pieces[COHORT__LEVELS_PIECES];
    uint32_t num = levels.keeps_order ? cohort__levels_num_pieces(&levels, row.bytes) : 1;
    uint32_t end = cohort__levels_gather_up(&levels, &in, &rows);
    if (cohort__levels_is_at_top(&levels) && init(&self)) {
        self.rows = (struct cohort__shelf){.area = in, .places = self.own, .lengths = row};
        exchange(&self, end);
    } else if (cohort__levels_is_at_top(&levels)) {
        cohort__plan_builder_fail(levels.builder);
    }
    free(self.parts);
    cohort__levels_cut(&levels, &self.received, num, end, pieces);
    for (uint32_t i = 0; i < num; i++)
        go_down(&self, &pieces[i], at(out, pieces[i].shelf.places.first * request->bytes));
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    const double of_leader =
        (double)cohort__levels_largest(request) * request->num_sites * (double)request->bytes;
    cohort__levels_stages(
        request,
        (struct cohort__levels_way){.collective = COHORT__GATHER,
                                    .bytes = request->num_sites * request->bytes,
                                    .is_for_each = true},
        (struct cohort__levels_way){.collective = COHORT__ALL_TO_ALL,
                                    .bytes = cohort__levels_largest(request) * request->bytes,
                                    .is_for_each = true},
        (struct cohort__levels_way){.collective = COHORT__SCATTER,
                                    .bytes = request->num_sites * request->bytes,
                                    .is_for_each = true},
        ret_stages);
    ret_stages->memory =
        4 * cohort__cost_tmp(1, of_leader) + cohort__cost_tmp(COHORT__LEVELS_PIECES, 1);
    ret_stages->copied = 2 * of_leader; /* all rows are sorted, and all columns */
}

const struct cohort__algorithm cohort__all_to_all_levels = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__ALL_TO_ALL,
};
