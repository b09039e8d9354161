/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, ring. A site sends all that it has for others as one message to the next site. A site
 * that gets a message takes its own part, which is the first one, and passes the rest on, in N-1
 * rounds.
 * Cost: (t_s + t_w m N/2)(N-1), which is optimal on a ring. TMP: 2 N - 5 blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.1. */
#include "collectives/algo/pattern/all_to_all_lines.h"
#include "collectives/algo/table.h"

static struct cohort__mesh mesh_of(const struct cohort__request *request)
{
    return (struct cohort__mesh){.num_dimensions = 1, .extents = {request->num_sites}};
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh(request, "all_to_all_ring", &mesh, false, ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh_cost(request, &mesh, false);
}

const struct cohort__algorithm cohort__all_to_all_ring = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "ring",
    .build = build,
    .cost = cost,
};
