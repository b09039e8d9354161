/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, binomial: scatter_binomial reversed. The blocks of a half of the sites are consecutive,
 * so the root receives directly into OUT.
 * Cost: t_s ceil(log2 N) + t_w m (N-1), for all N. TMP: see gather/mesh.c.
 * Source: Grama, Gupta, Karypis, Kumar: gather on a hypercube. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__gather_over_mesh(request, &mesh, "gather_binomial", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__scatter_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__gather_binomial = {
    .collective = COHORT__GATHER,
    .name = "binomial",
    .build = build,
    .cost = cost,
};
