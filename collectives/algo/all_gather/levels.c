/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather that follows the machine: a gather to the leader of each subgroup, level by level
 * (phase 1), an all_gather among the leaders of the largest subgroups (phase 2), and a broadcast
 * back (phase 3). See pattern/levels.h.
 * Cost: that of its parts. TMP: none; if the sites of a subgroup are not next to each other, at a
 * leader the blocks of its subgroup, at the top all blocks.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__levels levels;
    cohort_status status = cohort__levels_init(&levels, request, "all_gather_levels");
    if (status)
        return status;
    bool is_top = levels.height == levels.num_used;
    struct cohort__area own = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    struct cohort__shelf shelf = {.area = out, .bytes = request->bytes};
    if (!levels.keeps_order)
        shelf = cohort__levels_shelf(&levels, request->bytes, is_top);
    uint32_t end = cohort__levels_gather_up(&levels, &own, &shelf);
    end = cohort__levels_blocks_top(&levels, COHORT__ALL_GATHER, own, shelf.area, request->bytes,
                                    end);
    if (is_top && !levels.keeps_order)
        end = cohort__levels_sort(&levels, COHORT__LEVELS_TOP, &shelf, out, false, end);
    cohort__levels_broadcast_down(&levels, out, request->num_sites * request->bytes, end);
    return cohort__plan_finish(levels.builder, ret_plan);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request,
        (struct cohort__levels_way){
            .collective = COHORT__GATHER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){
            .collective = COHORT__ALL_GATHER, .bytes = request->bytes, .is_for_each = true},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST,
                                    .bytes = request->num_sites * request->bytes},
        ret_stages);
    ret_stages->memory = cohort__cost_tmp(1, request->num_sites * request->bytes);
}

const struct cohort__algorithm cohort__all_gather_levels = {
    .collective = COHORT__ALL_GATHER,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
};
