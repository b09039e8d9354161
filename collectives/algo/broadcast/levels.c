/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast that follows the machine: among the leaders of the largest subgroups (phase 2), then in
 * each subgroup from its leader, level by level (phase 3). The root leads all subgroups that it is
 * in. See pattern/levels.h.
 * Cost: that of its parts. TMP: that of its parts.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/levels.h"

static uint32_t append(struct cohort__levels *levels, size_t offset, uint32_t after)
{
    const struct cohort__request *request = levels->request;
    const bool is_root = request->this_site == request->root;
    struct cohort__area area = {is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT, offset};
    const uint32_t end =
        cohort__levels_at_top(levels, COHORT__BROADCAST, area, area, request->bytes, after);
    cohort__levels_broadcast_down(levels, area, request->bytes, end);
    return after; /* there is no way up */
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__levels_build_segments(builder, request, append);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    const struct cohort__request segment = cohort__levels_longest_segment(request);
    cohort__levels_stages(
        &segment, (struct cohort__levels_way){.collective = COHORT__NUM_COLLECTIVES},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST, .bytes = segment.bytes},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST, .bytes = segment.bytes},
        ret_stages);
    ret_stages->num_segments = cohort__levels_num_segments(request);
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
