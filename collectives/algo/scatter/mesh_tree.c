/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter over a binomial tree in each dimension of a mesh, see mesh_tree.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh_tree.h"

/* Scatter, binomial. The root sends all blocks of the other half of the sites to its partner there.
 * Then both do the same in their halves; see mesh_tree.h. The blocks of a half are consecutive, so
 * the root sends directly from IN.
 * Cost: t_s ceil(log2 N) + t_w m (N-1), for all N. TMP: see scatter_mesh.
 * Source: Grama, Gupta, Karypis, Kumar: scatter on a hypercube. */
const struct cohort__algorithm cohort__scatter_binomial = {
    .collective = COHORT__SCATTER,
    .name = "binomial",
    .mesh = cohort__mesh_line,
    .build_on = cohort__scatter_over_mesh,
    .cost_on = cohort__scatter_cost_over_mesh,
};

/* Scatter, mesh. First the root's column, binomially: each site of it gets the blocks of whole
 * rows. Then all rows at the same time. A site receives its own block in OUT.
 * Cost: t_s (ceil(log2 rows) + ceil(log2 columns)) + t_w m (N-1). TMP: the blocks that a site sends
 * on; the root sends directly from IN.
 * Source: Grama, Gupta, Karypis, Kumar: scatter, with the structure of the broadcast on a mesh. */
const struct cohort__algorithm cohort__scatter_mesh = {
    .collective = COHORT__SCATTER,
    .name = "mesh",
    .mesh = cohort__mesh_square,
    .build_on = cohort__scatter_over_mesh,
    .cost_on = cohort__scatter_cost_over_mesh,
};
