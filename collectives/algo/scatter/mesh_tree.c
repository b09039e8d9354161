/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter over a binomial tree in each dimension of a mesh, see mesh_tree.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh_tree.h"

/* Scatter, binomial. The root sends all blocks of the other half of the sites to its partner there.
 * Then both do the same in their halves; see mesh_tree.h. The blocks of a half are consecutive, so
 * the root sends directly from IN.
 * Cost: t_s ceil(log2 N) + t_w m (N-1), for all N. TMP: see scatter_mesh.
 * Source: Grama, Gupta, Karypis, Kumar: scatter on a hypercube. */
static void binomial_build(struct cohort__plan_builder *builder,
                           const struct cohort__request *request)
{
    cohort__scatter_over_mesh(builder, request, cohort__mesh_line(request->num_sites));
}

static struct cohort__cost binomial_cost(const struct cohort__request *request)
{
    return cohort__scatter_cost_over_mesh(cohort__mesh_line(request->num_sites), request->bytes);
}

const struct cohort__algorithm cohort__scatter_binomial = {
    .collective = COHORT__SCATTER,
    .name = "binomial",
    .build = binomial_build,
    .cost = binomial_cost,
};

/* Scatter, mesh. First the root's column, binomially: each site of it gets the blocks of whole
 * rows. Then all rows at the same time. A site receives its own block in OUT.
 * Cost: t_s (ceil(log2 rows) + ceil(log2 columns)) + t_w m (N-1). TMP: the blocks that a site sends
 * on; the root sends directly from IN.
 * Source: Grama, Gupta, Karypis, Kumar: scatter, with the structure of the broadcast on a mesh. */
static void mesh_build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__scatter_over_mesh(builder, request, cohort__mesh_square(request->num_sites));
}

static struct cohort__cost mesh_cost(const struct cohort__request *request)
{
    return cohort__scatter_cost_over_mesh(cohort__mesh_square(request->num_sites), request->bytes);
}

const struct cohort__algorithm cohort__scatter_mesh = {
    .collective = COHORT__SCATTER,
    .name = "mesh",
    .build = mesh_build,
    .cost = mesh_cost,
};
