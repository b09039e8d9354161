/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, mesh. First all rows at the same time, binomially. Then the root's column of their
 * results. A row is a range of sites, so nothing has to commute.
 * Cost: (t_s + t_w m + t_r m) (ceil(log2 columns) + ceil(log2 rows)). TMP: a block for the result,
 * except at the root, and one for each block that is received, as far as cohort__reduce_buffers
 * allows.
 * Source: Grama, Gupta, Karypis, Kumar: all-to-one reduction, a broadcast on a mesh reversed. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__reduce_over_mesh(request, &mesh, "reduce_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__reduce_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__reduce_mesh = {
    .collective = COHORT__REDUCE,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
