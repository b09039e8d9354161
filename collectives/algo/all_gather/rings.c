/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather over rings along each dimension of a mesh, see rings.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/rings.h"

enum { PHASE = 1 };

static void rings_build(struct cohort__plan_builder *builder, const struct cohort__request *request,
                        struct cohort__mesh mesh)
{
    struct cohort__rings rings = {.mesh = mesh, .this_site = request->this_site, .phase = PHASE};
    struct cohort__vector all =
        cohort__vector_of_blocks(request, COHORT__SPACE_OUT, request->out_parts);
    if (request->out_parts)
        cohort__plan_set_gaps(builder);
    uint32_t place = cohort__vector_block(builder, &all, request->this_site, 1);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0,
                                      cohort__vector_bytes(&all, request->this_site, 1));
    uint32_t placed = cohort__plan_copy(builder, PHASE, place, own);
    cohort__rings_all_gather(builder, &rings, &all, own, COHORT__NO_STEP, placed);
}

static struct cohort__cost rings_cost(const struct cohort__request *request,
                                      struct cohort__mesh mesh)
{
    struct cohort__vector blocks = cohort__vector_of_blocks(request, COHORT__SPACE_OUT, NULL);
    return cohort__rings_all_gather_cost(&mesh, &blocks);
}

/* All-gather, ring. In each of N-1 steps a site sends to the next one what it received in the step
 * before. In the first step it sends its own block.
 * Cost: (t_s + t_w m)(N-1). TMP: none.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
const struct cohort__algorithm cohort__all_gather_ring = {
    .collective = COHORT__ALL_GATHER,
    .name = "ring",
    .ragged = true,
    .mesh = cohort__mesh_line,
    .build_on = rings_build,
    .cost_on = rings_cost,
};

/* All-gather, mesh, as square as the factors of N allow. First rings along its rows, then rings
 * along its columns, with the blocks of a whole row in each message. A prime N is one ring.
 * Cost: t_s (rows + columns - 2) + t_w m (N-1); on a square 2 t_s (sqrt N - 1) + t_w m (N-1). TMP:
 * none.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
const struct cohort__algorithm cohort__all_gather_mesh = {
    .collective = COHORT__ALL_GATHER,
    .name = "mesh",
    .mesh = cohort__mesh_square,
    .build_on = rings_build,
    .cost_on = rings_cost,
};

/* All-gather, mesh of d dimensions, one for each prime factor of N. Rings along one dimension after
 * the other. Each message has all that was collected before its dimension.
 * Cost: t_s (sum of extents - d) + t_w m (N-1). TMP: none.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
const struct cohort__algorithm cohort__all_gather_mesh_nd = {
    .collective = COHORT__ALL_GATHER,
    .name = "mesh_nd",
    .mesh = cohort__mesh_of_factors,
    .build_on = rings_build,
    .cost_on = rings_cost,
};
