/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, mesh. First all rows at the same time, binomially. Then the root's column, with the
 * blocks of whole rows. A site sends its own block from IN.
 * Cost: t_s (ceil(log2 columns) + ceil(log2 rows)) + t_w m (N-1). TMP: the blocks that a site sends
 * on for others; the root receives directly into OUT.
 * Source: Grama, Gupta, Karypis, Kumar: gather, the reverse of scatter. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__gather_over_mesh(request, &mesh, "gather_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__scatter_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__gather_mesh = {
    .collective = COHORT__GATHER,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
