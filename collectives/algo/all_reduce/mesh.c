/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, mesh: all_reduce/ring.c with reduce_scatter_mesh and all_gather_mesh.
 * Cost: 2 t_s (rows + columns - 2) + (2 t_w + t_r) m (N-1)/N. TMP: two pieces.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
#include "collectives/algo/pattern/needs.h"
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__all_reduce_rings(request, &mesh, "all_reduce_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__all_reduce_rings_cost(request, &mesh);
}

const struct cohort__algorithm cohort__all_reduce_mesh = {
    .collective = COHORT__ALL_REDUCE,
    .name = "mesh",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .build = build,
    .cost = cost,
};
