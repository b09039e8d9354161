/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, hierarchical: reduce up the tree to site 0 (phase 1), broadcast down (phase 3). The
 * tree is over the sites in their order, so the reduction need not commute.
 * Cost: 2 L levels of at most arity - 1 messages at each parent, 2 (N-1) messages in all.
 * TMP: at a representative the blocks that it receives, as in reduce/linear.c, for each level;
 * results are kept in OUT.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/compose.h"

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
