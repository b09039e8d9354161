/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce over rings along each dimension of a mesh, see rings.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/rings.h"

enum { UP = 1, DOWN = 3 };

static void rings_build(struct cohort__plan_builder *builder, const struct cohort__request *request,
                        struct cohort__mesh mesh)
{
    struct cohort__rings rings = {.mesh = mesh, .this_site = request->this_site, .phase = UP};
    struct cohort__vector in = cohort__vector_of_cut(request, COHORT__SPACE_IN);
    struct cohort__vector out = cohort__vector_of_cut(request, COHORT__SPACE_OUT);
    uint32_t own = cohort__vector_block(builder, &out, request->this_site, 1);
    uint32_t end = cohort__rings_reduce_scatter(builder, &rings, &in, &out, COHORT__NO_STEP);
    rings.phase = DOWN;
    cohort__rings_all_gather(builder, &rings, &out, own, end, end);
}

static struct cohort__cost rings_cost(const struct cohort__request *request,
                                      struct cohort__mesh mesh)
{
    struct cohort__vector vector = cohort__vector_of_cut(request, COHORT__SPACE_IN);
    return cohort__cost_then(cohort__rings_reduce_scatter_cost(&mesh, &vector, true),
                             cohort__rings_all_gather_cost(&mesh, &vector));
}

/* All-reduce, ring. The vector is cut into N pieces, which may be empty. reduce_scatter_ring (phase
 * 1) reduces piece i at site i. all_gather_ring (phase 3) spreads the pieces. Partial results are
 * in their places in OUT.
 * Cost: 2 (t_s + t_w m/N)(N-1) + t_r m/N (N-1). TMP: none.
 * Source: Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms (JPDC 2009). */
const struct cohort__algorithm cohort__all_reduce_ring = {
    .collective = COHORT__ALL_REDUCE,
    .name = "ring",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .mesh = cohort__mesh_line,
    .build_on = rings_build,
    .cost_on = rings_cost,
};

/* All-reduce, mesh: all_reduce_ring with reduce_scatter_mesh and all_gather_mesh.
 * Cost: 2 t_s (rows + columns - 2) + (2 t_w + t_r) m (N-1)/N. TMP: two pieces.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
const struct cohort__algorithm cohort__all_reduce_mesh = {
    .collective = COHORT__ALL_REDUCE,
    .name = "mesh",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .mesh = cohort__mesh_square,
    .build_on = rings_build,
    .cost_on = rings_cost,
};
