/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast, mesh: the root's row first, binomially, then all columns at the same time.
 * Cost: (t_s + t_w m) (ceil(log2 columns) + ceil(log2 rows)). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: broadcast on a mesh. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__broadcast_over_mesh(request, &mesh, "broadcast_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__broadcast_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__broadcast_mesh = {
    .collective = COHORT__BROADCAST,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
