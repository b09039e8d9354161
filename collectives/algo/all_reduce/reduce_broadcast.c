/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce, reduce and broadcast: reduce_binomial to site 0 (phase 1), then broadcast_binomial
 * from it (phase 3). The halves of the tree are neighbours, so the reduction need not commute.
 * Cost: (2 t_s + (2 t_w + t_r) m) ceil(log N), with 2 (N-1) messages in all. TMP: the blocks that
 * are received, as in reduce_binomial; results are kept in OUT.
 * Source: Grama et al., Introduction to Parallel Computing, chapter 4. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/pattern/subplans.h"

enum { UP = 1, DOWN = 3 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__mesh line = cohort__mesh_line(request->num_sites);
    struct cohort__mesh_tree tree;
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    cohort__mesh_tree_init(&tree, &line, COHORT__MESH_ROWS_LAST, 0, request->this_site);
    uint32_t end = cohort__mesh_tree_reduce(builder, &tree, in, out, request->bytes, UP);
    cohort__mesh_tree_broadcast(builder, &tree, out, DOWN, end);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh line = cohort__mesh_line(request->num_sites);
    uint32_t num_children = cohort__log2_ceiling(request->num_sites);
    struct cohort__cost cost = cohort__cost_then(cohort__reduce_cost_over_mesh(request, line),
                                                 cohort__broadcast_cost_over_mesh(request, line));
    cost.memory =
        cohort__reduce_buffers(request->bytes, num_children) * (double)(request->bytes + 64);
    return cost;
}

const struct cohort__algorithm cohort__all_reduce_reduce_broadcast = {
    .collective = COHORT__ALL_REDUCE,
    .name = "reduce_broadcast",
    .build = build,
    .cost = cost,
};
