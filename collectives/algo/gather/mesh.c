/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, mesh. First all rows at the same time, binomially. Then the root's column, with the
 * blocks of whole rows. A site sends its own block from IN.
 * Cost: t_s (ceil(log2 columns) + ceil(log2 rows)) + t_w m (N-1). TMP: the blocks that a site sends
 * on for others; the root receives directly into OUT.
 * Source: Grama, Gupta, Karypis, Kumar: gather, the reverse of scatter. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

enum { PHASE = 1, TAG = 0 };

cohort_status cohort__gather_over_mesh(const struct cohort__request *request,
                                       const struct cohort__mesh *mesh, const char *name,
                                       struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__mesh_tree tree;
    uint32_t parts[COHORT__MESH_MAX_PARTS], num_parts;
    size_t bytes = request->bytes;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    cohort__mesh_tree_init(&tree, mesh, COHORT__MESH_ROWS_LAST, request->root, request->this_site);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, bytes);
    struct cohort__mesh_store store =
        cohort__mesh_store_make(builder, &tree, COHORT__SPACE_OUT, own, bytes);
    for (uint32_t i = tree.num_children; i-- > 0;) {
        num_parts = cohort__mesh_store_parts(builder, &store, tree.children[i].sites, parts);
        cohort__plan_recv(builder, PHASE, tree.children[i].site, TAG, parts, num_parts);
    }
    if (tree.parent == COHORT__NO_SITE) {
        uint32_t place =
            cohort__plan_range(builder, COHORT__SPACE_OUT, request->root * bytes, bytes);
        cohort__plan_copy(builder, PHASE, place, own);
        return cohort__plan_finish(builder, ret_plan);
    }
    num_parts = cohort__mesh_store_parts(builder, &store, tree.sites, parts);
    uint32_t send = cohort__plan_send(builder, PHASE, tree.parent, TAG, parts, num_parts);
    for (uint32_t i = 0; i < tree.num_children; i++)
        cohort__plan_after(builder, send, i); /* the RECVs are steps 0, 1 .. */
    return cohort__plan_finish(builder, ret_plan);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__gather_over_mesh(request, &mesh, "gather_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__scatter_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__gather_mesh = {
    .collective = COHORT__GATHER,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
