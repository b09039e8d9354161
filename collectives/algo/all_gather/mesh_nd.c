/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, mesh of d dimensions, one for each prime factor of N. Rings along one dimension after
 * the other. Each message has all that was collected before its dimension.
 * Cost: t_s (sum of extents - d) + t_w m (N-1). TMP: none.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_of_factors(request->num_sites);
    return cohort__all_gather_rings(request, &mesh, "all_gather_mesh_nd", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_of_factors(request->num_sites);
    struct cohort__vector blocks = cohort__vector_of_blocks(request, COHORT__SPACE_OUT, NULL);
    return cohort__rings_all_gather_cost(&mesh, &blocks);
}

const struct cohort__algorithm cohort__all_gather_mesh_nd = {
    .collective = COHORT__ALL_GATHER,
    .name = "mesh_nd",
    .build = build,
    .cost = cost,
};
