/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, hierarchical, up the tree. In each level the representatives of the groups send the
 * results of their groups to the first one, which reduces them in the order of the groups. If the
 * reduction does not commute, the tree is not renumbered from the root. Then site 0 gets the result
 * and sends it to the root (phase 3).
 * Cost: L levels of at most arity - 1 messages into, and as many reductions at, each parent; one
 * message more if site 0 sends the result to the root. TMP: at a representative one block for its
 * result (the root's is OUT) and those of reduce/linear.c for each level.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

enum { PHASE = 1, HAND_OVER_PHASE = 3, TAG = 0 };

/* Sends the result from site 0 to the root, which may have used OUT for the result of its
 * subtree. */
static void hand_over(struct cohort__plan_builder *builder, const struct cohort__request *request,
                      uint32_t result, uint32_t after)
{
    uint32_t step = COHORT__NO_STEP;
    if (request->this_site == 0)
        step = cohort__plan_send(builder, HAND_OVER_PHASE, request->root, TAG, &result, 1);
    else if (request->this_site == request->root)
        step = cohort__plan_recv(builder, HAND_OVER_PHASE, 0, TAG, &result, 1);
    if (step != COHORT__NO_STEP)
        cohort__plan_after(builder, step, after);
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t tree_root = request->commutative ? request->root : 0;
    struct cohort__tree tree = cohort__tree_of(request, request->arity, tree_root);
    uint32_t result = COHORT__NO_BLOCK;
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    if (request->this_site == request->root)
        result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    else if (cohort__tree_has_children(&tree))
        result = cohort__plan_tmp(builder, request->bytes);
    uint32_t end = cohort__reduce_up(builder, &tree, own, result, request->bytes, PHASE);
    if (tree_root != request->root)
        hand_over(builder, request, result, end);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    bool hands_over = !request->commutative && request->root != 0;
    struct cohort__cost cost =
        cohort__cost_reduce(request->num_sites, request->arity, request->bytes);
    cost.memory = cohort__reduce_up_memory(request->num_sites, request->arity, request->bytes);
    if (hands_over) { /* site 0 has no OUT */
        cost = cohort__cost_then(cost, cohort__cost_message(request->bytes));
        cost.memory += cohort__cost_tmp(1, request->bytes);
    }
    return cost;
}

const struct cohort__algorithm cohort__reduce_hierarchical = {
    .collective = COHORT__REDUCE,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
