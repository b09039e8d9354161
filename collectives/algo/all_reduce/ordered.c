/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, ordered: for large vectors whose bits must not depend on the algorithm. The vector is
 * cut into N pieces, which may be empty. reduce_scatter_linear (phase 1) reduces piece i at site i
 * strictly from the left. all_gather_ring (phase 3) spreads the pieces.
 * Cost: (2 t_s + (2 t_w + t_r) m/N)(N-1). TMP: that of reduce_scatter/linear.c for a piece.
 * Source: as all_reduce_ring, with the direct exchange. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/pattern/subplans.h"

enum { GATHER = 3 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__vector in = cohort__vector_of_cut(request, COHORT__SPACE_IN);
    struct cohort__vector out = cohort__vector_of_cut(request, COHORT__SPACE_OUT);
    struct cohort__rings rings = {.mesh = cohort__mesh_line(request->num_sites),
                                  .this_site = request->this_site,
                                  .phase = GATHER};
    uint32_t own = cohort__vector_block(builder, &out, request->this_site, 1);
    uint32_t end = cohort__reduce_scatter_direct(builder, request, &in, own);
    cohort__rings_all_gather(builder, &rings, &out, own, end, end);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    struct cohort__vector in = cohort__vector_of_cut(request, COHORT__SPACE_IN);
    return cohort__cost_then(cohort__reduce_scatter_direct_cost(&in),
                             cohort__rings_all_gather_cost(&mesh, &in));
}

const struct cohort__algorithm cohort__all_reduce_ordered = {
    .collective = COHORT__ALL_REDUCE,
    .name = "ordered",
    .ordered = true,
    .build = build,
    .cost = cost,
};
