/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce over a binomial tree in each dimension of a mesh, see mesh_tree.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh_tree.h"

/* Reduce, binomial: broadcast_binomial reversed. A site reduces the result of its own half with
 * what comes from its partner in the other half. The halves are neighbours in the order of the
 * sites, so nothing has to commute, for every root.
 * Cost: (t_s + t_w m + t_r m) ceil(log2 N). TMP: see reduce_mesh.
 * Source: Grama, Gupta, Karypis, Kumar: all-to-one reduction. */
const struct cohort__algorithm cohort__reduce_binomial = {
    .collective = COHORT__REDUCE,
    .name = "binomial",
    .mesh = cohort__mesh_line,
    .build_on = cohort__reduce_over_mesh,
    .cost_on = cohort__reduce_cost_over_mesh,
};

/* Reduce, mesh. First all rows at the same time, binomially. Then the root's column of their
 * results. A row is a range of sites, so nothing has to commute.
 * Cost: (t_s + t_w m + t_r m) (ceil(log2 columns) + ceil(log2 rows)). TMP: a block for the result,
 * except at the root, and one for each block that is received, as far as cohort__reduce_buffers
 * allows.
 * Source: Grama, Gupta, Karypis, Kumar: all-to-one reduction, a broadcast on a mesh reversed. */
const struct cohort__algorithm cohort__reduce_mesh = {
    .collective = COHORT__REDUCE,
    .name = "mesh",
    .mesh = cohort__mesh_square,
    .build_on = cohort__reduce_over_mesh,
    .cost_on = cohort__reduce_cost_over_mesh,
};

/* Reduce, mesh with a dimension for each prime factor of N: as reduce_mesh, dimension by
 * dimension.
 * Cost: (t_s + t_w m + t_r m) times the sum of ceil(log2 extent). TMP: see reduce_mesh.
 * Source: Grama, Gupta, Karypis, Kumar: all-to-one reduction, in higher dimensions. */
const struct cohort__algorithm cohort__reduce_mesh_nd = {
    .collective = COHORT__REDUCE,
    .name = "mesh_nd",
    .mesh = cohort__mesh_of_factors,
    .build_on = cohort__reduce_over_mesh,
    .cost_on = cohort__reduce_cost_over_mesh,
};
