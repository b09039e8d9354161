/* SPDX-License-Identifier: Apache-2.0 */
/* Barrier, hierarchical: all_gather_hierarchical of no bytes. Up the tree each site tells its
 * representative that its whole group is there (phase 1). Down the tree site 0 tells all (phase 3).
 * Cost: 2 L levels of at most arity - 1 messages at each parent, 2 (N-1) messages in all. TMP:
 * none.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025). */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/compose.h"
#include "collectives/algo/pattern/cost.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__request empty = *request;
    empty.bytes = 0;
    return cohort__all_gather_compose(&empty, request->arity, "barrier_hierarchical", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__cost way = cohort__cost_broadcast(request->num_sites, request->arity, 0);
    return cohort__cost_then(way, way);
}

const struct cohort__algorithm cohort__barrier_hierarchical = {
    .collective = COHORT__BARRIER,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
