/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter, ring. Block j starts at the site after j and goes round the ring to j. Each site
 * on the way adds its own block. So the order of the reduction is that of the ring, beginning after
 * j.
 * Cost: (t_s + (t_w + t_r) m)(N-1). TMP: two blocks, which take turns (N = 3: one, N = 2: none).
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4: all-to-all reduction. */
#include "collectives/algo/pattern/needs.h"
#include "collectives/algo/pattern/rings.h"
#include "collectives/algo/table.h"

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    return cohort__reduce_scatter_rings(request, &mesh, "reduce_scatter_ring", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_line(request->num_sites);
    struct cohort__vector blocks = cohort__vector_of_blocks(request, COHORT__SPACE_IN, NULL);
    return cohort__rings_reduce_scatter_cost(&mesh, &blocks, false);
}

const struct cohort__algorithm cohort__reduce_scatter_ring = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "ring",
    .ragged = true,
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .build = build,
    .cost = cost,
};
