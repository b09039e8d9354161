/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast over a binomial tree in each dimension of a mesh, see mesh_tree.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh_tree.h"

/* Broadcast, binomial. The root sends the block to its partner in the other half of the sites. Then
 * both do the same in their halves; see mesh_tree.h. For a power of two sites it is the template of
 * the hypercube. For all others there are still ceil(log2 N) steps.
 * Cost: (t_s + t_w m) ceil(log2 N). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: one-to-all broadcast, general hypercube template. */
const struct cohort__algorithm cohort__broadcast_binomial = {
    .collective = COHORT__BROADCAST,
    .name = "binomial",
    .mesh = cohort__mesh_line,
    .build_on = cohort__broadcast_over_mesh,
    .cost_on = cohort__broadcast_cost_over_mesh,
};

/* Broadcast, mesh: the root's row first, binomially, then all columns at the same time.
 * Cost: (t_s + t_w m) (ceil(log2 columns) + ceil(log2 rows)). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: broadcast on a mesh. */
const struct cohort__algorithm cohort__broadcast_mesh = {
    .collective = COHORT__BROADCAST,
    .name = "mesh",
    .mesh = cohort__mesh_square,
    .build_on = cohort__broadcast_over_mesh,
    .cost_on = cohort__broadcast_cost_over_mesh,
};

/* Broadcast, mesh with a dimension for each prime factor of N: as broadcast_mesh, dimension by
 * dimension.
 * Cost: (t_s + t_w m) times the sum of ceil(log2 extent). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: broadcast on a mesh, "generalizes to higher dimensions". */
const struct cohort__algorithm cohort__broadcast_mesh_nd = {
    .collective = COHORT__BROADCAST,
    .name = "mesh_nd",
    .mesh = cohort__mesh_of_factors,
    .build_on = cohort__broadcast_over_mesh,
    .cost_on = cohort__broadcast_cost_over_mesh,
};
