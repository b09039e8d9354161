/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, hierarchical: gather up the tree to site 0 (phase 1), broadcast down (phase 3).
 * Cost: 2 L levels of at most arity - 1 messages at each parent, 2 (N-1) messages in all, N blocks
 * in each one on the way down. TMP: none, blocks are gathered in their places in OUT.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

static struct cohort__cost cost(const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    return cohort__cost_then(
        cohort__cost_scatter(num_sites, request->arity, request->bytes), /* as gather */
        cohort__cost_broadcast(num_sites, request->arity, num_sites * request->bytes));
}

const struct cohort__algorithm cohort__all_gather_hierarchical = {
    .collective = COHORT__ALL_GATHER,
    .name = "hierarchical",
    .hierarchical = true,
    .build = cohort__all_gather_compose,
    .cost = cost,
};
