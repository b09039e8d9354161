/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, mesh with a dimension for each prime factor of N: as reduce/mesh.c, dimension by
 * dimension.
 * Cost: (t_s + t_w m + t_r m) times the sum of ceil(log2 extent). TMP: see reduce/mesh.c.
 * Source: Grama, Gupta, Karypis, Kumar: all-to-one reduction, in higher dimensions. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_of_factors(request->num_sites);
    return cohort__reduce_over_mesh(request, &mesh, "reduce_mesh_nd", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_of_factors(request->num_sites);
    return cohort__reduce_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__reduce_mesh_nd = {
    .collective = COHORT__REDUCE,
    .name = "mesh_nd",
    .build = build,
    .cost = cost,
};
