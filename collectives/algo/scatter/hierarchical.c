/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter, hierarchical, down the tree. In each level the first representative sends to those of
 * the other groups all that their groups get. A representative receives its own block into OUT and
 * the rest into TMP as one message. The root sends directly from IN. A message there has at most
 * two pieces, where the numbers of the tree pass the last site.
 * Cost: L levels of at most arity - 1 messages out of each parent; N-1 blocks out of the root. TMP:
 * the blocks of a representative's subtree, except its own; none at the root.
 * Source: as gather/hierarchical.c, reversed. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

enum { PHASE = 1 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__tree tree = cohort__tree_of(request, request->arity, request->root);
    struct cohort__layout layout;
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    if (cohort__tree_is_root(&tree))
        layout = cohort__layout_by_site(COHORT__SPACE_IN, COHORT__NO_BLOCK, request->bytes);
    else
        layout = cohort__layout_in_tmp(builder, &tree, own, request->bytes);
    cohort__scatter_down(builder, &tree, &layout, PHASE, COHORT__NO_STEP);
    if (cohort__tree_is_root(&tree)) {
        uint32_t place = cohort__plan_range(builder, COHORT__SPACE_IN,
                                            request->this_site * request->bytes, request->bytes);
        cohort__plan_copy(builder, PHASE, own, place);
    }
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__cost cost =
        cohort__cost_scatter(request->num_sites, request->arity, request->bytes);
    cost.memory = cohort__layout_memory(request->num_sites, request->arity, request->bytes);
    return cost;
}

const struct cohort__algorithm cohort__scatter_hierarchical = {
    .collective = COHORT__SCATTER,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
