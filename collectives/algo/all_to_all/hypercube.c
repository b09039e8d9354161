/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, hypercube. In step i a site exchanges with site XOR 2^i the half of its blocks that
 * is for the other half of the hypercube. It is the mesh whose extents are all 2.
 * Cost: (t_s + t_w m N/2) log N: few messages, but log N / 2 times the bytes. TMP: N blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.3. */
#include "collectives/algo/pattern/all_to_all_lines.h"
#include "collectives/algo/pattern/needs.h"
#include "collectives/algo/table.h"

static struct cohort__mesh mesh_of(const struct cohort__request *request)
{
    return cohort__mesh_of_factors(request->num_sites);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh(request, "all_to_all_hypercube", &mesh, false, ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh_cost(request, &mesh, false);
}

const struct cohort__algorithm cohort__all_to_all_hypercube = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "hypercube",
    .needs = cohort__needs_power_of_two,
    .accepts = cohort__is_power_of_two,
    .build = build,
    .cost = cost,
};
