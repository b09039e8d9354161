/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, ring. The vector is cut into N pieces, which may be empty. reduce_scatter_ring (phase
 * 1) reduces piece i at site i. all_gather_ring (phase 3) spreads the pieces. Partial results are
 * in their places in OUT.
 * Cost: 2 (t_s + t_w m/N)(N-1) + t_r m/N (N-1). TMP: none.
 * Source: Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms (JPDC 2009). */
#include "collectives/algo/pattern/needs.h"
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__all_reduce_rings(request, &mesh, "all_reduce_ring", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__all_reduce_rings_cost(request, &mesh);
}

const struct cohort__algorithm cohort__all_reduce_ring = {
    .collective = COHORT__ALL_REDUCE,
    .name = "ring",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .build = build,
    .cost = cost,
};
