/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast, binomial. The root sends the block to its partner in the other half of the sites. Then
 * both do the same in their halves; see mesh_tree.h. For a power of two sites it is the template of
 * the hypercube. For all others there are still ceil(log2 N) steps.
 * Cost: (t_s + t_w m) ceil(log2 N). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: one-to-all broadcast, general hypercube template. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__broadcast_over_mesh(request, &mesh, "broadcast_binomial", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__broadcast_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__broadcast_binomial = {
    .collective = COHORT__BROADCAST,
    .name = "binomial",
    .build = build,
    .cost = cost,
};
