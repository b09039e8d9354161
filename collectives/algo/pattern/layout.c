/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/layout.h"

#include <stdlib.h>

/* The most blocks that a range of numbers can have: the own one, and two if the order of the sites
 * begins again at site 0 in between. */
enum { MAX_PARTS = 3 };

/* What embedding needs, for each rank of a level that this site has to know. */
struct arrays {
    uint32_t *weights;                /* as the fragment takes them */
    uint32_t *blocks;                 /* MAX_PARTS for each list */
    struct cohort__block_list *lists; /* of the fragment: its own block, then one for each rank */
};

struct cohort__layout cohort__layout_in_tmp(struct cohort__plan_builder *builder,
                                            const struct cohort__tree *tree, uint32_t own,
                                            size_t bytes)
{
    uint32_t num_others = cohort__tree_subtree(tree).count - 1;
    uint32_t tmp = cohort__plan_tmp(builder, num_others * bytes);
    return (struct cohort__layout){.bytes = bytes,
                                   .own = own,
                                   .space = COHORT__SPACE_TMP,
                                   .first = tree->this_number + 1,
                                   .offset = cohort__plan_get_block(builder, tmp).offset};
}

double cohort__layout_memory(uint32_t num_sites, uint32_t arity, size_t bytes)
{
    struct cohort__range all = {.first = 0, .count = num_sites};
    return num_sites > 1 ? (cohort__partition_group(all, arity, 1).count - 1.0) * (double)bytes : 0;
}

struct cohort__layout cohort__layout_by_site(enum cohort__space space, uint32_t own, size_t bytes)
{
    return (struct cohort__layout){.bytes = bytes, .own = own, .space = space, .by_site = true};
}

static uint32_t range_append(struct cohort__plan_builder *builder,
                             const struct cohort__layout *layout, uint32_t first, uint32_t count)
{
    return cohort__plan_range(builder, layout->space, layout->offset + first * layout->bytes,
                              count * layout->bytes);
}

/* The blocks of RANGE in the order of the tree's numbers. Returns how many. */
static uint32_t parts_append(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                             const struct cohort__layout *layout, struct cohort__range range,
                             uint32_t *ret_parts)
{
    uint32_t num_parts = 0;
    if (layout->own != COHORT__NO_BLOCK && range.first == tree->this_number) {
        ret_parts[num_parts++] = layout->own;
        range.first++;
        range.count--;
    }
    if (range.count == 0)
        return num_parts;
    if (!layout->by_site) {
        uint32_t first = range.first - layout->first;
        ret_parts[num_parts++] = range_append(builder, layout, first, range.count);
        return num_parts;
    }
    uint32_t first = cohort__tree_site(tree, range.first) - tree->sites.first;
    uint32_t before_end = tree->sites.count - first;
    uint32_t count = range.count < before_end ? range.count : before_end;
    ret_parts[num_parts++] = range_append(builder, layout, first, count);
    if (range.count > count)
        ret_parts[num_parts++] = range_append(builder, layout, 0, range.count - count);
    return num_parts;
}

static bool arrays_init(struct arrays *arrays, const struct cohort__tree *tree, uint32_t level)
{
    uint32_t this_rank = tree->levels[level].this_rank;
    uint32_t num_peers = cohort__tree_level_peers(tree, level);
    size_t num_lists = num_peers + (size_t)1;
    arrays->weights = calloc(num_peers, sizeof(*arrays->weights));
    arrays->blocks = calloc(num_lists * MAX_PARTS, sizeof(*arrays->blocks));
    arrays->lists = calloc(num_lists, sizeof(*arrays->lists));
    for (uint32_t i = 0; arrays->weights && i < num_peers; i++)
        arrays->weights[i] = cohort__tree_group(tree, level, this_rank + i).count;
    return arrays->weights && arrays->blocks && arrays->lists;
}

static void arrays_fini(struct arrays *arrays)
{
    free(arrays->weights);
    free(arrays->blocks);
    free(arrays->lists);
}

static void list_fill(struct arrays *arrays, uint32_t index, struct cohort__plan_builder *builder,
                      const struct cohort__tree *tree, const struct cohort__layout *layout,
                      struct cohort__range group)
{
    uint32_t *parts = &arrays->blocks[(size_t)index * MAX_PARTS];
    uint32_t num_parts = parts_append(builder, tree, layout, group, parts);
    arrays->lists[index] = (struct cohort__block_list){.blocks = parts, .num_blocks = num_parts};
}

uint32_t cohort__layout_embed(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                              uint32_t level, const struct cohort__layout *layout,
                              cohort__level_fragment *build, unsigned phase, uint32_t after,
                              uint32_t recv_after)
{
    struct cohort__request request = cohort__tree_level_request(tree, level, layout->bytes);
    struct cohort__plan *fragment = NULL;
    struct arrays arrays;
    if (arrays_init(&arrays, tree, level)) {
        struct cohort__range group = cohort__tree_group(tree, level, request.this_site);
        list_fill(&arrays, 0, builder, tree, layout, group);
        for (uint32_t rank = 0; request.this_site == 0 && rank < request.num_sites; rank++) {
            group = cohort__tree_group(tree, level, rank);
            list_fill(&arrays, 1 + rank, builder, tree, layout, group);
        }
        build(&request, arrays.weights, &fragment);
    }
    struct cohort__embedding embedding = {.block_map = arrays.lists,
                                          .phase = phase,
                                          .tag = layout->tag,
                                          .after = after,
                                          .recv_after = recv_after};
    uint32_t end = cohort__tree_embed(builder, tree, level, fragment, embedding);
    arrays_fini(&arrays);
    return end;
}
