/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast, hierarchical, down the tree. In each level the first representative sends the block to
 * those of the other groups. A site that has the block sends it to all levels below, without
 * waiting between them.
 * Cost: L levels of at most arity - 1 messages out of each parent. TMP: none.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

enum { PHASE = 1 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__tree tree = cohort__tree_of(request, request->arity, request->root);
    bool is_root = cohort__tree_is_root(&tree);
    uint32_t block = cohort__plan_range(builder, is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT, 0,
                                        request->bytes);
    cohort__broadcast_down(builder, &tree, block, request->bytes, PHASE, COHORT__NO_STEP);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    return cohort__cost_broadcast(request->num_sites, request->arity, request->bytes);
}

const struct cohort__algorithm cohort__broadcast_hierarchical = {
    .collective = COHORT__BROADCAST,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
