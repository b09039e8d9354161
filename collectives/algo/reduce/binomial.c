/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, binomial: broadcast_binomial reversed. A site reduces the result of its own half with
 * what comes from its partner in the other half. The halves are neighbours in the order of the
 * sites, so nothing has to commute, for every root.
 * Cost: (t_s + t_w m + t_r m) ceil(log2 N). TMP: see reduce/mesh.c.
 * Source: Grama, Gupta, Karypis, Kumar: all-to-one reduction. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__reduce_over_mesh(request, &mesh, "reduce_binomial", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__reduce_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__reduce_binomial = {
    .collective = COHORT__REDUCE,
    .name = "binomial",
    .build = build,
    .cost = cost,
};
