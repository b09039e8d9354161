/* SPDX-License-Identifier: Apache-2.0 */
/* Gather over a binomial tree in each dimension of a mesh, see mesh_tree.h. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh_tree.h"

/* Gather, binomial: scatter_binomial reversed. The blocks of a half of the sites are consecutive,
 * so the root receives directly into OUT.
 * Cost: t_s ceil(log2 N) + t_w m (N-1), for all N. TMP: see gather_mesh.
 * Source: Grama, Gupta, Karypis, Kumar: gather on a hypercube. */
static void binomial_build(struct cohort__plan_builder *builder,
                           const struct cohort__request *request)
{
    cohort__gather_over_mesh(builder, request, cohort__mesh_line(request->num_sites));
}

static struct cohort__cost binomial_cost(const struct cohort__request *request)
{
    return cohort__scatter_cost_over_mesh(cohort__mesh_line(request->num_sites), request->bytes);
}

const struct cohort__algorithm cohort__gather_binomial = {
    .collective = COHORT__GATHER,
    .name = "binomial",
    .build = binomial_build,
    .cost = binomial_cost,
};

/* Gather, mesh. First all rows at the same time, binomially. Then the root's column, with the
 * blocks of whole rows. A site sends its own block from IN.
 * Cost: t_s (ceil(log2 columns) + ceil(log2 rows)) + t_w m (N-1). TMP: the blocks that a site sends
 * on for others; the root receives directly into OUT.
 * Source: Grama, Gupta, Karypis, Kumar: gather, the reverse of scatter. */
static void mesh_build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    cohort__gather_over_mesh(builder, request, cohort__mesh_square(request->num_sites));
}

static struct cohort__cost mesh_cost(const struct cohort__request *request)
{
    return cohort__scatter_cost_over_mesh(cohort__mesh_square(request->num_sites), request->bytes);
}

const struct cohort__algorithm cohort__gather_mesh = {
    .collective = COHORT__GATHER,
    .name = "mesh",
    .build = mesh_build,
    .cost = mesh_cost,
};
