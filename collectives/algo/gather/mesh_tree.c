/* SPDX-License-Identifier: Apache-2.0 */
/* Gather over a binomial tree in each dimension of a mesh, see mesh_tree.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh_tree.h"

/* Gather, binomial: scatter_binomial reversed. The blocks of a half of the sites are consecutive,
 * so the root receives directly into OUT.
 * Cost: t_s ceil(log2 N) + t_w m (N-1), for all N. TMP: see gather_mesh.
 * Source: Grama, Gupta, Karypis, Kumar: gather on a hypercube. */
const struct cohort__algorithm cohort__gather_binomial = {
    .collective = COHORT__GATHER,
    .name = "binomial",
    .mesh = cohort__mesh_line,
    .build_on = cohort__gather_over_mesh,
    .cost_on = cohort__scatter_cost_over_mesh,
};

/* Gather, mesh. First all rows at the same time, binomially. Then the root's column, with the
 * blocks of whole rows. A site sends its own block from IN.
 * Cost: t_s (ceil(log2 columns) + ceil(log2 rows)) + t_w m (N-1). TMP: the blocks that a site sends
 * on for others; the root receives directly into OUT.
 * Source: Grama, Gupta, Karypis, Kumar: gather, the reverse of scatter. */
const struct cohort__algorithm cohort__gather_mesh = {
    .collective = COHORT__GATHER,
    .name = "mesh",
    .mesh = cohort__mesh_square,
    .build_on = cohort__gather_over_mesh,
    .cost_on = cohort__scatter_cost_over_mesh,
};
