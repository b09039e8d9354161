/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, ring in both directions, as all_to_all/ring.c. Blocks for the nearer half of the
 * others go forwards, those for the other half backwards, in about N/2 rounds each.
 * Cost: about (t_s + t_w m N/4)(N-1) if a site has one port, half of that if it has one for each
 * neighbour. TMP: up to 2 N - 8 blocks.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.1, with the links
 * used both ways. */
#include "collectives/algo/pattern/all_to_all_lines.h"
#include "collectives/algo/table.h"

static struct cohort__mesh mesh_of(const struct cohort__request *request)
{
    return (struct cohort__mesh){.num_dimensions = 1, .extents = {request->num_sites}};
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh(request, "all_to_all_bidirectional_ring", &mesh, true,
                                      ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = mesh_of(request);
    return cohort__all_to_all_on_mesh_cost(request, &mesh, true);
}

const struct cohort__algorithm cohort__all_to_all_bidirectional_ring = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "bidirectional_ring",
    .build = build,
    .cost = cost,
};
