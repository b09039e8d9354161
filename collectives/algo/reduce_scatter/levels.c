/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter that follows the machine: a reduction of all blocks to the leader of each
 * subgroup, level by level (phase 1), a reduce_scatter among the leaders of the largest subgroups
 * (phase 2), and a scatter back (phase 3). See pattern/levels.h. Where blocks have different sizes,
 * the scatter is by messages in a locality, too, and each site has its IN in the machine's order
 * first.
 * Cost: that of its parts. TMP: at a leader all blocks for each level, once more if the sites of a
 * subgroup are not next to each other, and the blocks of its subgroup.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"

/* Blocks of different sizes, which may be in other places of IN at each site, are reduced in the
 * machine's order. */
static void append_ragged(struct cohort__levels *levels, const size_t *before)
{
    const struct cohort__part *parts = levels->request->in_parts;
    const uint32_t num_sites = levels->request->num_sites;
    struct cohort__lengths lengths = {.before = before};
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    uint32_t end = COHORT__NO_STEP;
    if (cohort__levels_row(levels, &lengths, parts, 0) == num_sites) {
        in.offset = parts[cohort__levels_site_at(levels, 0)].offset;
    } else {
        struct cohort__shelf sorted = cohort__levels_shelf(levels, lengths, true);
        end = cohort__levels_sort(levels, COHORT__LEVELS_UP, &sorted, in, parts, true, end);
        in = sorted.area;
    }
    end = cohort__levels_reduce_up(levels, &in, before[num_sites], end);
    struct cohort__shelf shelf = cohort__levels_shelf(levels, lengths, false);
    end = cohort__levels_blocks_top(levels, COHORT__REDUCE_SCATTER, in,
                                    cohort__levels_part_at(levels, levels->num_used, out, &shelf),
                                    lengths, end);
    cohort__levels_scatter_down(levels, out, &shelf, end);
}

static void append_parts(struct cohort__levels *levels)
{
    size_t *before = cohort__levels_before(levels, levels->request->in_parts);
    if (before)
        append_ragged(levels, before);
    free(before);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__levels levels;
    cohort__levels_init(&levels, builder, request);
    if (request->in_parts) {
        append_parts(&levels);
        return;
    }
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__lengths lengths = {.bytes = request->bytes};
    uint32_t end = cohort__levels_reduce_up(&levels, &in, request->num_sites * request->bytes,
                                            COHORT__NO_STEP);
    if (cohort__levels_is_at_top(&levels) && !levels.keeps_order) {
        struct cohort__shelf sorted = cohort__levels_shelf(&levels, lengths, true);
        end = cohort__levels_sort(&levels, COHORT__LEVELS_TOP, &sorted, in, NULL, true, end);
        in = sorted.area;
    }
    struct cohort__shelf shelf = cohort__levels_shelf(&levels, lengths, false);
    end = cohort__levels_blocks_top(&levels, COHORT__REDUCE_SCATTER, in,
                                    cohort__levels_part_at(&levels, levels.num_used, out, &shelf),
                                    lengths, end);
    cohort__levels_scatter_down(&levels, out, &shelf, end);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request,
        (struct cohort__levels_way){.collective = COHORT__REDUCE,
                                    .bytes = request->num_sites * request->bytes},
        (struct cohort__levels_way){
            .collective = COHORT__REDUCE_SCATTER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){
            .collective = COHORT__SCATTER, .bytes = request->bytes, .is_for_each = true},
        ret_stages);
    ret_stages->memory =
        cohort__cost_tmp(cohort__levels_num_used(request) + 2, request->num_sites * request->bytes);
}

const struct cohort__algorithm cohort__reduce_scatter_levels = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "levels",
    .ragged = true,
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__REDUCE_SCATTER,
};
