/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter, mesh. First the root's column, binomially: each site of it gets the blocks of whole
 * rows. Then all rows at the same time. A site receives its own block in OUT.
 * Cost: t_s (ceil(log2 rows) + ceil(log2 columns)) + t_w m (N-1). TMP: the blocks that a site sends
 * on; the root sends directly from IN.
 * Source: Grama, Gupta, Karypis, Kumar: scatter, with the structure of the broadcast on a mesh. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__scatter_over_mesh(request, &mesh, "scatter_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__scatter_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__scatter_mesh = {
    .collective = COHORT__SCATTER,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
