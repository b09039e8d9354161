/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, mesh, over the rows and columns of cohort__mesh_square. First among the sites of a
 * row: the blocks for a whole column go together. Then among the sites of a column. Each is a ring
 * as in all_to_all/ring.c.
 * Cost: (2 t_s + t_w m N)(sqrt(N) - 1) for a square; a ring if N is prime. TMP: up to 3 N blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.2. */
#include "collectives/algo/pattern/all_to_all_lines.h"
#include "collectives/algo/table.h"

static struct cohort__mesh mesh_of(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    if (mesh.extents[1] == 1)
        mesh.num_dimensions = 1;
    return mesh;
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh(request, "all_to_all_mesh", &mesh, false, ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh_cost(request, &mesh, false);
}

const struct cohort__algorithm cohort__all_to_all_mesh = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
