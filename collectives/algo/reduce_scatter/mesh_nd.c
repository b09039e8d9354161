/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter, mesh of d dimensions: the reverse of all_gather/mesh_nd.c.
 * Cost: t_s (sum of extents - d) + (t_w + t_r) m (N-1). TMP: less than 2 N m.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: all-to-all
 * reduction. */
#include "collectives/algo/pattern/needs.h"
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_of_factors(request->num_sites);
    return cohort__reduce_scatter_rings(request, &mesh, "reduce_scatter_mesh_nd", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_of_factors(request->num_sites);
    struct cohort__vector blocks = cohort__vector_of_blocks(request, COHORT__SPACE_IN, NULL);
    return cohort__rings_reduce_scatter_cost(&mesh, &blocks, false);
}

const struct cohort__algorithm cohort__reduce_scatter_mesh_nd = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "mesh_nd",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .build = build,
    .cost = cost,
};
