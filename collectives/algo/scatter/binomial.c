/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter, binomial. The root sends all blocks of the other half of the sites to its partner there.
 * Then both do the same in their halves; see mesh_tree.h. The blocks of a half are consecutive, so
 * the root sends directly from IN.
 * Cost: t_s ceil(log2 N) + t_w m (N-1), for all N. TMP: see scatter/mesh.c.
 * Source: Grama, Gupta, Karypis, Kumar: scatter on a hypercube. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__scatter_over_mesh(request, &mesh, "scatter_binomial", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__scatter_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__scatter_binomial = {
    .collective = COHORT__SCATTER,
    .name = "binomial",
    .build = build,
    .cost = cost,
};
