/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, hierarchical: reduce up the tree to site 0 (phase 1), broadcast down (phase 3). The
 * tree is over the sites in their order, so the reduction need not commute.
 * Cost: 2 L levels of at most arity - 1 messages at each parent, 2 (N-1) messages in all.
 * TMP: at a representative the blocks that it receives, as in reduce/linear.c, for each level;
 * results are kept in OUT.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025). */
#include "collectives/algo/pattern/compose.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/walk.h"
#include "collectives/algo/table.h"

enum { UP = 1, DOWN = 3 };

cohort_status cohort__all_reduce_compose(const struct cohort__request *request, uint32_t arity,
                                         const char *name, struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    struct cohort__tree tree;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    cohort__tree_init(&tree, all, arity, 0, request->this_site);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    uint32_t end = cohort__reduce_up(builder, &tree, own, result, request->bytes, UP);
    /* A site without children sends from IN, so it may receive into OUT at any time. */
    if (!cohort__tree_has_children(&tree))
        end = COHORT__NO_STEP;
    cohort__broadcast_down(builder, &tree, result, request->bytes, DOWN, end);
    if (request->num_sites == 1)
        cohort__plan_copy(builder, UP, result, own);
    return cohort__plan_finish(builder, ret_plan);
}

struct cohort__cost cohort__all_reduce_compose_cost(const struct cohort__request *request,
                                                    uint32_t arity)
{
    struct cohort__cost cost =
        cohort__cost_then(cohort__cost_reduce(request->num_sites, arity, request->bytes),
                          cohort__cost_broadcast(request->num_sites, arity, request->bytes));
    cost.memory = cohort__reduce_up_memory(request->num_sites, arity, request->bytes);
    return cost;
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__all_reduce_compose(request, request->arity, "all_reduce_hierarchical", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    return cohort__all_reduce_compose_cost(request, request->arity);
}

const struct cohort__algorithm cohort__all_reduce_hierarchical = {
    .collective = COHORT__ALL_REDUCE,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
