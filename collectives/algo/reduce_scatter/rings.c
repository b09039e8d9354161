/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter over rings along each dimension of a mesh, see rings.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/rings.h"

enum { PHASE = 1 };

static void rings_build(struct cohort__plan_builder *builder, const struct cohort__request *request,
                        struct cohort__mesh mesh)
{
    struct cohort__rings rings = {.mesh = mesh, .this_site = request->this_site, .phase = PHASE};
    struct cohort__vector in =
        cohort__vector_of_blocks(request, COHORT__SPACE_IN, request->in_parts);
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0,
                                         cohort__vector_bytes(&in, request->this_site, 1));
    cohort__rings_reduce_scatter(builder, &rings, &in, NULL, result);
}

static struct cohort__cost rings_cost(const struct cohort__request *request,
                                      struct cohort__mesh mesh)
{
    struct cohort__vector blocks = cohort__vector_of_blocks(request, COHORT__SPACE_IN, NULL);
    return cohort__rings_reduce_scatter_cost(&mesh, &blocks, false);
}

/* Reduce-scatter, ring. Block j starts at the site after j and goes round the ring to j. Each site
 * on the way adds its own block. So the order of the reduction is that of the ring, beginning after
 * j.
 * Cost: (t_s + (t_w + t_r) m)(N-1). TMP: two blocks, which take turns (N = 3: one, N = 2: none).
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: all-to-all reduction. */
const struct cohort__algorithm cohort__reduce_scatter_ring = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "ring",
    .ragged = true,
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .mesh = cohort__mesh_line,
    .build_on = rings_build,
    .cost_on = rings_cost,
};

/* Reduce-scatter, mesh: the reverse of all_gather_mesh. First rings along the columns, with the
 * blocks of a whole row in each message, then rings along the rows.
 * Cost: t_s (rows + columns - 2) + (t_w + t_r) m (N-1). TMP: three rows of blocks and two blocks,
 * less on small meshes.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: all-to-all reduction. */
const struct cohort__algorithm cohort__reduce_scatter_mesh = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "mesh",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .mesh = cohort__mesh_square,
    .build_on = rings_build,
    .cost_on = rings_cost,
};

/* Reduce-scatter, mesh of d dimensions: the reverse of all_gather_mesh_nd.
 * Cost: t_s (sum of extents - d) + (t_w + t_r) m (N-1). TMP: less than 2 N m.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: all-to-all
 * reduction. */
const struct cohort__algorithm cohort__reduce_scatter_mesh_nd = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "mesh_nd",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .mesh = cohort__mesh_of_factors,
    .build_on = rings_build,
    .cost_on = rings_cost,
};
