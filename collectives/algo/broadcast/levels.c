/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast that follows the machine: among the leaders of the largest subgroups (phase 2), then in
 * each subgroup from its leader, level by level (phase 3). The root leads all subgroups that it is
 * in. See pattern/levels.h.
 * Cost: that of its parts. TMP: that of its parts.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/pattern/levels.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__levels levels;
    bool is_root = request->this_site == request->root;
    cohort_status status = cohort__levels_init(&levels, request, "broadcast_levels");
    if (status)
        return status;
    struct cohort__area area = {is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT, 0};
    uint32_t end = COHORT__NO_STEP;
    if (levels.height == levels.num_used)
        end = cohort__levels_append(&levels, levels.num_used,
                                    &(struct cohort__tier_part){.collective = COHORT__BROADCAST,
                                                                .phase = COHORT__LEVELS_TOP,
                                                                .bytes = request->bytes,
                                                                .in = area,
                                                                .out = area},
                                    end);
    cohort__levels_broadcast_down(&levels, area, request->bytes, end);
    return cohort__plan_finish(levels.builder, ret_plan);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    cohort__levels_stages(
        request, (struct cohort__levels_way){.collective = COHORT__NUM_COLLECTIVES},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST, .bytes = request->bytes},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST, .bytes = request->bytes},
        ret_stages);
}

const struct cohort__algorithm cohort__broadcast_levels = {
    .collective = COHORT__BROADCAST,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__BROADCAST,
};
