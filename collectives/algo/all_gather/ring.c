/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, ring. In each of N-1 steps a site sends to the next one what it received in the step
 * before. In the first step it sends its own block.
 * Cost: (t_s + t_w m)(N-1). TMP: none.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__all_gather_rings(request, &mesh, "all_gather_ring", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    struct cohort__vector blocks = cohort__vector_of_blocks(request, COHORT__SPACE_OUT, NULL);
    return cohort__rings_all_gather_cost(&mesh, &blocks);
}

const struct cohort__algorithm cohort__all_gather_ring = {
    .collective = COHORT__ALL_GATHER,
    .name = "ring",
    .ragged = true,
    .build = build,
    .cost = cost,
};
