/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce that follows the machine: a reduction to the leader of each subgroup, level by level
 * (phase 1), an all_reduce among the leaders of the largest subgroups (phase 2), and a broadcast
 * back (phase 3). See pattern/levels.h.
 * Cost: that of its parts. TMP: at a leader a block for each level, and that of the parts.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__levels levels;
    cohort_status status = cohort__levels_init(&levels, request, "all_reduce_levels");
    if (status)
        return status;
    struct cohort__area in = {COHORT__SPACE_IN, 0}, out = {COHORT__SPACE_OUT, 0};
    uint32_t end = cohort__levels_reduce_up(&levels, &in, request->bytes, COHORT__NO_STEP);
    if (levels.height == levels.num_used)
        end = cohort__levels_append(&levels, levels.num_used,
                                    &(struct cohort__tier_part){.collective = COHORT__ALL_REDUCE,
                                                                .phase = COHORT__LEVELS_TOP,
                                                                .bytes = request->bytes,
                                                                .in = in,
                                                                .out = out},
                                    end);
    cohort__levels_broadcast_down(&levels, out, request->bytes, end);
    return cohort__plan_finish(levels.builder, ret_plan);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request, (struct cohort__levels_way){.collective = COHORT__REDUCE, .bytes = request->bytes},
        (struct cohort__levels_way){.collective = COHORT__ALL_REDUCE, .bytes = request->bytes},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST, .bytes = request->bytes},
        ret_stages);
    ret_stages->memory = cohort__cost_tmp(cohort__levels_num_used(request), request->bytes);
}

const struct cohort__algorithm cohort__all_reduce_levels = {
    .collective = COHORT__ALL_REDUCE,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__ALL_REDUCE,
};
