/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter, mesh: the reverse of all_gather/mesh.c. First rings along the columns, with the
 * blocks of a whole row in each message, then rings along the rows.
 * Cost: t_s (rows + columns - 2) + (t_w + t_r) m (N-1). TMP: three rows of blocks and two blocks,
 * less on small meshes.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: all-to-all reduction. */
#include "collectives/algo/pattern/needs.h"
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__reduce_scatter_rings(request, &mesh, "reduce_scatter_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    struct cohort__vector blocks = cohort__vector_of_blocks(request, COHORT__SPACE_IN, NULL);
    return cohort__rings_reduce_scatter_cost(&mesh, &blocks, false);
}

const struct cohort__algorithm cohort__reduce_scatter_mesh = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "mesh",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .build = build,
    .cost = cost,
};
