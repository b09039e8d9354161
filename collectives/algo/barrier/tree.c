/* SPDX-License-Identifier: Apache-2.0 */
/* Barrier over a tree: up, then down. Linear is the tree of one level. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__request empty = *request;
    empty.bytes = 0;
    cohort__all_gather_compose(builder, &empty);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__cost way = cohort__cost_broadcast(request->num_sites, request->arity, 0);
    return cohort__cost_then(way, way);
}

/* Barrier, linear: gather_linear and broadcast_linear of no bytes. Each site tells site 0 that it
 * is there (phase 1). Then site 0 tells all (phase 3).
 * Cost: 2 (N-1) messages, all of them at site 0. TMP: none.
 * Source: folklore; the composition of the reference design over one group. */
const struct cohort__algorithm cohort__barrier_linear = {
    .collective = COHORT__BARRIER,
    .name = "linear",
    .flat = true,
    .build = build,
    .cost = cost,
};

/* Barrier, hierarchical: all_gather_hierarchical of no bytes. Up the tree each site tells its
 * representative that its whole group is there (phase 1). Down the tree site 0 tells all (phase 3).
 * Cost: 2 L levels of at most arity - 1 messages at each parent, 2 (N-1) messages in all. TMP:
 * none.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025). */
const struct cohort__algorithm cohort__barrier_hierarchical = {
    .collective = COHORT__BARRIER,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
