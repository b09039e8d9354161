/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/walk.h"

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/linear.h"

uint32_t cohort__gather_up(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                           const struct cohort__layout *layout, unsigned phase, uint32_t after)
{
    for (uint32_t level = tree->num_levels; level-- > 0;)
        after = cohort__layout_embed(builder, tree, level, layout, cohort__gather_linear_fragment,
                                     phase, after, COHORT__NO_STEP);
    return after;
}

uint32_t cohort__reduce_up(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                           uint32_t own, uint32_t result, size_t bytes, unsigned phase)
{
    uint32_t after = COHORT__NO_STEP;
    for (uint32_t level = tree->num_levels; level-- > 0;) {
        struct cohort__request request = cohort__tree_level_request(tree, level, bytes);
        struct cohort__block_list lists[] = {{.blocks = &own, .num_blocks = 1},
                                             {.blocks = &result, .num_blocks = 1}};
        struct cohort__embedding embedding = {
            .block_map = lists, .phase = phase, .after = after, .recv_after = COHORT__NO_STEP};
        struct cohort__plan *fragment = NULL;
        cohort__reduce_linear_fragment(&request, &fragment);
        after = cohort__tree_embed(builder, tree, level, fragment, embedding);
        own = result;
    }
    return after;
}

double cohort__reduce_up_memory(uint32_t num_sites, uint32_t arity, size_t bytes)
{
    struct cohort__range range = {.first = 0, .count = num_sites};
    double memory = 0;
    while (range.count > 1) {
        uint32_t num_received = cohort__partition_count(range.count, arity) - 1;
        memory += cohort__cost_tmp(cohort__reduce_buffers(bytes, num_received), bytes);
        range = cohort__partition_group(range, arity, 0);
    }
    return memory;
}

void cohort__scatter_down(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                          const struct cohort__layout *layout, unsigned phase, uint32_t after)
{
    for (uint32_t level = 0; level < tree->num_levels; level++) {
        uint32_t end = cohort__layout_embed(builder, tree, level, layout,
                                            cohort__scatter_linear_fragment, phase, after, after);
        if (tree->levels[level].this_rank > 0)
            after = end;
    }
}

void cohort__broadcast_down(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                            uint32_t block, size_t bytes, unsigned phase, uint32_t after)
{
    struct cohort__block_list list = {.blocks = &block, .num_blocks = 1};
    for (uint32_t level = 0; level < tree->num_levels; level++) {
        struct cohort__request request = cohort__tree_level_request(tree, level, bytes);
        struct cohort__embedding embedding = {
            .block_map = &list, .phase = phase, .after = after, .recv_after = after};
        struct cohort__plan *fragment = NULL;
        cohort__broadcast_linear_fragment(&request, &fragment);
        uint32_t end = cohort__tree_embed(builder, tree, level, fragment, embedding);
        if (tree->levels[level].this_rank > 0)
            after = end;
    }
}
