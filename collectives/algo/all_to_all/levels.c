/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all that follows the machine: the leader of each subgroup gathers all blocks of its sites,
 * level by level (phase 1). The leaders of the largest subgroups sort them by the subgroups that
 * they are for, exchange them, one message for each ordered pair of leaders with the linear row,
 * and sort what they get by its sites (phase 2). Then it goes back (phase 3). See pattern/levels.h.
 * Cost: that of its parts. TMP: at the leader of the largest of g sites, 4 g blocks for each site.
 * Source: Graham et al., Cheetah (CCGrid 2011); Träff, Rougier (EuroMPI 2014) for messages of
 * several blocks. */
#include <stdlib.h>

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"
#include "collectives/algo/table.h"

/* What a leader of a largest subgroup does. */
struct exchange {
    struct cohort__levels *levels;
    uint32_t top;
    size_t bytes;
    struct cohort__slice own;   /* the places of its subgroup */
    struct cohort__part *parts; /* by rank: the blocks of its subgroup for that one's */
    bool is_ragged;
    struct cohort__shelf rows;    /* what its sites have for all sites */
    struct cohort__shelf columns; /* what they get from all sites */
    struct cohort__area sent, received;
};

static bool init(struct exchange *self, struct cohort__levels *levels)
{
    uint32_t num = levels->tiers[levels->num_used].num;
    self->levels = levels;
    self->top = levels->num_used;
    self->bytes = levels->request->bytes;
    self->own = cohort__levels_slice(levels, self->top, levels->tiers[self->top].this_rank);
    self->parts = calloc(num, sizeof(*self->parts));
    if (!self->parts)
        return false;
    struct cohort__lengths width = {.bytes = self->own.num * self->bytes};
    self->is_ragged = cohort__levels_parts(levels, self->top, width, self->parts);
    size_t all = (size_t)self->own.num * levels->request->num_sites * self->bytes;
    self->sent = cohort__levels_tmp(levels, all);
    self->received = cohort__levels_tmp(levels, all);
    return true;
}

static uint32_t pieces(const struct exchange *self, struct cohort__area area, uint32_t count,
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
        copy(self, pieces(self, at(to, i * self->bytes), self->own.num, bytes, width),
             pieces(self, at(from, site * self->bytes), self->own.num, bytes, row), after, end);
    }
}

/* What the sites of RANK's subgroup have sent, by the sites of this one. */
static void sort_columns(const struct exchange *self, uint32_t rank, uint32_t after, uint32_t end)
{
    const struct cohort__levels *levels = self->levels;
    struct cohort__slice slice = cohort__levels_slice(levels, self->top, rank);
    size_t width = self->own.num * self->bytes;
    struct cohort__area from = at(self->received, self->parts[rank].offset);
    for (uint32_t i = 0, num; i < slice.num; i += num) {
        num = cohort__levels_run(levels, slice.first + i, slice.first + slice.num);
        uint32_t site = cohort__levels_site_at(levels, slice.first + i);
        for (uint32_t column = 0; column < self->own.num; column++) {
            struct cohort__area to = cohort__shelf_at(&self->columns, self->own.first + column);
            copy(self, pieces(self, at(to, site * self->bytes), 1, num * self->bytes, 0),
                 pieces(self, at(from, i * width + column * self->bytes), num, self->bytes, width),
                 after, end);
        }
    }
}

typedef void sort_function(const struct exchange *self, uint32_t rank, uint32_t after,
                           uint32_t end);

static uint32_t sort_all(const struct exchange *self, sort_function *sort, uint32_t after)
{
    uint32_t end = cohort__plan_join(self->levels->builder, COHORT__LEVELS_TOP);
    cohort__plan_after(self->levels->builder, end, after);
    for (uint32_t rank = 0; rank < self->levels->tiers[self->top].num; rank++)
        sort(self, rank, after, end);
    return end;
}

static uint32_t exchange(struct exchange *self, uint32_t after)
{
    after = sort_all(self, sort_rows, after);
    after = cohort__levels_append(self->levels, self->top,
                                  &(struct cohort__tier_part){.collective = COHORT__ALL_TO_ALL,
                                                              .phase = COHORT__LEVELS_TOP,
                                                              .bytes = self->parts[0].bytes,
                                                              .is_ragged = self->is_ragged,
                                                              .in = self->sent,
                                                              .out = self->received,
                                                              .in_parts = self->parts,
                                                              .out_parts = self->parts},
                                  after);
    return sort_all(self, sort_columns, after);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__levels levels;
    struct exchange self = {0};
    cohort_status status = cohort__levels_init(&levels, request, "all_to_all_levels");
    if (status)
        return status;
    struct cohort__lengths row = {.bytes = request->num_sites * request->bytes};
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__shelf rows = cohort__levels_shelf(&levels, row, false);
    uint32_t end = cohort__levels_gather_up(&levels, &in, &rows);
    struct cohort__shelf columns = cohort__levels_shelf(&levels, row, false);
    if (levels.height == levels.num_used && init(&self, &levels)) {
        self.rows = (struct cohort__shelf){.area = in, .first = self.own.first, .lengths = row};
        self.columns =
            (struct cohort__shelf){.area = cohort__levels_below_top(&levels, out, &columns),
                                   .first = self.own.first,
                                   .lengths = row};
        end = exchange(&self, end);
    } else if (levels.height == levels.num_used) {
        cohort__plan_builder_fail(levels.builder);
    }
    free(self.parts);
    cohort__levels_scatter_down(&levels, out, &columns, end);
    return cohort__plan_finish(levels.builder, ret_plan);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    double largest = cohort__levels_largest(request);
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
    ret_stages->memory = 4 * cohort__cost_tmp(1, largest * request->num_sites * request->bytes);
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
