/* SPDX-License-Identifier: Apache-2.0 */
/* All-gather, mesh, as square as the factors of N allow. First rings along its rows, then rings
 * along its columns, with the blocks of a whole row in each message. A prime N is one ring.
 * Cost: t_s (rows + columns - 2) + t_w m (N-1); on a square 2 t_s (sqrt N - 1) + t_w m (N-1). TMP:
 * none.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__all_gather_rings(request, &mesh, "all_gather_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    struct cohort__vector blocks = cohort__vector_of_blocks(request, COHORT__SPACE_OUT, NULL);
    return cohort__rings_all_gather_cost(&mesh, &blocks);
}

const struct cohort__algorithm cohort__all_gather_mesh = {
    .collective = COHORT__ALL_GATHER,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
