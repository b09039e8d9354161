/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter, hierarchical. All blocks are reduced up the tree to site 0 (phase 1) and
 * scattered down (phase 3). The tree is over the sites in their order, so the reduction need not
 * commute.
 * Cost: 2 L levels of at most arity - 1 messages at each parent, N blocks in each one on the way
 * up. TMP: at a representative N blocks, which are used for both ways, and those of reduce/linear.c
 * for each level.
 * Source: as all_reduce_hierarchical. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

enum { UP = 1, DOWN = 3 };

/* What comes down for a subtree comes to the same place as its result on the way up, which has been
 * sent by then. */
static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__tree tree = cohort__tree_of(request, request->arity, 0);
    size_t bytes = request->bytes;
    size_t all_bytes = request->num_sites * bytes;
    bool has_children = cohort__tree_has_children(&tree);
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, all_bytes);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, bytes);
    uint32_t result = has_children ? cohort__plan_tmp(builder, all_bytes) : COHORT__NO_BLOCK;
    uint32_t end = cohort__reduce_up(builder, &tree, in, result, all_bytes, UP);
    size_t offset = has_children ? cohort__plan_get_block(builder, result).offset : 0;
    struct cohort__layout layout = {.bytes = bytes,
                                    .own = out,
                                    .space = COHORT__SPACE_TMP,
                                    .first = tree.this_number + 1,
                                    .offset = offset};
    if (cohort__tree_is_root(&tree)) {
        uint32_t own = cohort__plan_range(builder, COHORT__SPACE_TMP, offset, bytes);
        cohort__plan_after(builder, cohort__plan_copy(builder, DOWN, out, own), end);
        layout.offset += bytes; /* after the root's own block, which is the first */
    }
    cohort__scatter_down(builder, &tree, &layout, DOWN, has_children ? end : COHORT__NO_STEP);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    size_t all_bytes = num_sites * request->bytes;
    struct cohort__cost cost =
        cohort__cost_then(cohort__cost_reduce(num_sites, request->arity, all_bytes),
                          cohort__cost_scatter(num_sites, request->arity, request->bytes));
    if (num_sites > 1)
        cost.memory =
            (double)all_bytes + cohort__reduce_up_memory(num_sites, request->arity, all_bytes);
    return cost;
}

const struct cohort__algorithm cohort__reduce_scatter_hierarchical = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
