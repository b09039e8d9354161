/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce that follows the machine: a reduction to the leader of each subgroup, level by level
 * (phase 1), an all_reduce among the leaders of the largest subgroups (phase 2), and a broadcast
 * back (phase 3). See pattern/levels.h.
 * Cost: that of its parts. TMP: at a leader a block for each level, and that of the parts.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"

static uint32_t append(struct cohort__levels *levels, size_t offset, uint32_t after)
{
    const size_t bytes = levels->request->bytes;
    struct cohort__area in = {COHORT__SPACE_IN, offset}, out = {COHORT__SPACE_OUT, offset};
    const uint32_t is_up = cohort__levels_reduce_up(levels, &in, bytes, after);
    const uint32_t end = cohort__levels_at_top(levels, COHORT__ALL_REDUCE, in, out, bytes, is_up);
    cohort__levels_broadcast_down(levels, out, bytes, end);
    return is_up;
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__levels_build_segments(builder, request, append);
}

static void stages(const struct cohort__request *request, struct cohort__stages *ret_stages)
{
    const struct cohort__request segment = cohort__levels_longest_segment(request);
    cohort__levels_stages(
        &segment, (struct cohort__levels_way){.collective = COHORT__REDUCE, .bytes = segment.bytes},
        (struct cohort__levels_way){.collective = COHORT__ALL_REDUCE, .bytes = segment.bytes},
        (struct cohort__levels_way){.collective = COHORT__BROADCAST, .bytes = segment.bytes},
        ret_stages);
    ret_stages->num_segments = cohort__levels_num_segments(request);
    ret_stages->memory = ret_stages->num_segments *
                         cohort__cost_tmp(cohort__levels_num_used(request), segment.bytes);
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
