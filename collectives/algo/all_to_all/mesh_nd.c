/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, mesh of many dimensions, one for each prime factor of N. It does in one dimension
 * after the other what all_to_all/mesh.c does in two.
 * Cost: (t_s + t_w m N/2) sum(e - 1) over the factors e. TMP: up to 3 N blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.2 and 4.5.3, of
 * which this is the general case. */
#include "collectives/algo/pattern/all_to_all_lines.h"
#include "collectives/algo/table.h"

static struct cohort__mesh mesh_of(const struct cohort__request *request)
{
    return cohort__mesh_of_factors(request->num_sites);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh(request, "all_to_all_mesh_nd", &mesh, false, ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh_cost(request, &mesh, false);
}

const struct cohort__algorithm cohort__all_to_all_mesh_nd = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "mesh_nd",
    .build = build,
    .cost = cost,
};
