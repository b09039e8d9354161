/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast over a binomial tree in each dimension of a mesh, see mesh_tree.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh_tree.h"

/* Broadcast, binomial. The root sends the block to its partner in the other half of the sites. Then
 * both do the same in their halves; see mesh_tree.h. For a power of two sites it is the template of
 * the hypercube. For all others there are still ceil(log2 N) steps.
 * Cost: (t_s + t_w m) ceil(log2 N). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: one-to-all broadcast, general hypercube template. */
static void binomial_build(struct cohort__plan_builder *builder,
                           const struct cohort__request *request)
{
    cohort__broadcast_over_mesh(builder, request, cohort__mesh_line(request->num_sites));
}

static struct cohort__cost binomial_cost(const struct cohort__request *request)
{
    return cohort__broadcast_cost_over_mesh(cohort__mesh_line(request->num_sites), request->bytes);
}

const struct cohort__algorithm cohort__broadcast_binomial = {
    .collective = COHORT__BROADCAST,
    .name = "binomial",
    .build = binomial_build,
    .cost = binomial_cost,
};

/* Broadcast, mesh: the root's row first, binomially, then all columns at the same time.
 * Cost: (t_s + t_w m) (ceil(log2 columns) + ceil(log2 rows)). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: broadcast on a mesh. */
static void mesh_build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__broadcast_over_mesh(builder, request, cohort__mesh_square(request->num_sites));
}

static struct cohort__cost mesh_cost(const struct cohort__request *request)
{
    return cohort__broadcast_cost_over_mesh(cohort__mesh_square(request->num_sites),
                                            request->bytes);
}

const struct cohort__algorithm cohort__broadcast_mesh = {
    .collective = COHORT__BROADCAST,
    .name = "mesh",
    .build = mesh_build,
    .cost = mesh_cost,
};

/* Broadcast, mesh with a dimension for each prime factor of N: as broadcast_mesh, dimension by
 * dimension.
 * Cost: (t_s + t_w m) times the sum of ceil(log2 extent). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: broadcast on a mesh, "generalizes to higher dimensions". */
static void mesh_nd_build(struct cohort__plan_builder *builder,
                          const struct cohort__request *request)
{
    cohort__broadcast_over_mesh(builder, request, cohort__mesh_of_factors(request->num_sites));
}

static struct cohort__cost mesh_nd_cost(const struct cohort__request *request)
{
    return cohort__broadcast_cost_over_mesh(cohort__mesh_of_factors(request->num_sites),
                                            request->bytes);
}

const struct cohort__algorithm cohort__broadcast_mesh_nd = {
    .collective = COHORT__BROADCAST,
    .name = "mesh_nd",
    .build = mesh_nd_build,
    .cost = mesh_nd_cost,
};
