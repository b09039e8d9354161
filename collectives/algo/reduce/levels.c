/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce that follows the machine: to the leader of each subgroup, level by level (phase 1), then
 * among the leaders of the largest subgroups (phase 2). The root leads all subgroups that it is in.
 * If the operation does not commute, the lowest site of each subgroup leads it, and the leader of
 * the root's largest subgroup sends the result to the root (phase 3). See pattern/levels.h.
 * Cost: that of its parts, and perhaps one message. TMP: at a leader a block for each level, and
 * that of the parts.
 * Source: Graham et al., Cheetah (CCGrid 2011); Luo et al., HAN (CLUSTER 2020). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/levels.h"

/* The leader of the largest subgroup that the root is in. */
static uint32_t root_of_top(const struct cohort__levels *levels)
{
    uint32_t level = levels->used[levels->num_used - 1], root = levels->request->root;
    return cohort__machine_leader(levels->machine, level,
                                  cohort__machine_subgroup(levels->machine, level, root),
                                  levels->root, levels->turn);
}

static void hand_over(struct cohort__levels *levels, struct cohort__area result, uint32_t from,
                      uint32_t after)
{
    const struct cohort__request *request = levels->request;
    const uint32_t tag = levels->segment;
    uint32_t step = COHORT__NO_STEP;
    uint32_t block =
        cohort__plan_range(levels->builder, result.space, result.offset, request->bytes);
    if (request->this_site == from)
        step =
            cohort__plan_send(levels->builder, COHORT__LEVELS_DOWN, request->root, tag, &block, 1);
    else
        step = cohort__plan_recv(levels->builder, COHORT__LEVELS_DOWN, from, tag, &block, 1);
    cohort__plan_after(levels->builder, step, after);
}

static uint32_t append(struct cohort__levels *levels, size_t offset, uint32_t after)
{
    const struct cohort__request *request = levels->request;
    const uint32_t site = request->this_site, from = root_of_top(levels);
    struct cohort__area in = {COHORT__SPACE_IN, offset}, out = {COHORT__SPACE_OUT, offset};
    const uint32_t is_up = cohort__levels_reduce_up(levels, &in, request->bytes, after);
    if (from != request->root && site == from)
        out = cohort__levels_tmp(levels, request->bytes);
    const uint32_t end =
        cohort__levels_at_top(levels, COHORT__REDUCE, in, out, request->bytes, is_up);
    if (from != request->root && (site == from || site == request->root))
        hand_over(levels, out, from, end);
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
        (struct cohort__levels_way){.collective = COHORT__REDUCE, .bytes = segment.bytes},
        (struct cohort__levels_way){.collective = COHORT__NUM_COLLECTIVES}, ret_stages);
    ret_stages->num_segments = cohort__levels_num_segments(request);
    ret_stages->memory = ret_stages->num_segments *
                         cohort__cost_tmp(cohort__levels_num_used(request) + 1, segment.bytes);
}

const struct cohort__algorithm cohort__reduce_levels = {
    .collective = COHORT__REDUCE,
    .name = "levels",
    .needs = cohort__levels_needs,
    .accepts = cohort__levels_accepts,
    .build = build,
    .stages = stages,
    .top = COHORT__REDUCE,
};
