/* SPDX-License-Identifier: Apache-2.0 */
/* Scatter, mesh. First the root's column, binomially: each site of it gets the blocks of whole
 * rows. Then all rows at the same time. A site receives its own block in OUT.
 * Cost: t_s (ceil(log2 rows) + ceil(log2 columns)) + t_w m (N-1). TMP: the blocks that a site sends
 * on; the root sends directly from IN.
 * Source: Grama, Gupta, Karypis, Kumar: scatter, with the structure of the broadcast on a mesh. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

enum { PHASE = 1, TAG = 0 };

static void send_append(struct cohort__plan_builder *builder,
                        const struct cohort__mesh_store *store,
                        const struct cohort__mesh_child *child, uint32_t after)
{
    uint32_t parts[COHORT__MESH_MAX_PARTS];
    uint32_t num_parts = cohort__mesh_store_parts(builder, store, child->sites, parts);
    uint32_t send = cohort__plan_send(builder, PHASE, child->site, TAG, parts, num_parts);
    cohort__plan_after(builder, send, after);
}

cohort_status cohort__scatter_over_mesh(const struct cohort__request *request,
                                        const struct cohort__mesh *mesh, const char *name,
                                        struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__mesh_tree tree;
    uint32_t recv = COHORT__NO_STEP;
    size_t bytes = request->bytes;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    cohort__mesh_tree_init(&tree, mesh, COHORT__MESH_ROWS_LAST, request->root, request->this_site);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, bytes);
    struct cohort__mesh_store store =
        cohort__mesh_store_make(builder, &tree, COHORT__SPACE_IN, own, bytes);
    if (tree.parent != COHORT__NO_SITE) {
        uint32_t parts[COHORT__MESH_MAX_PARTS];
        uint32_t num_parts = cohort__mesh_store_parts(builder, &store, tree.sites, parts);
        recv = cohort__plan_recv(builder, PHASE, tree.parent, TAG, parts, num_parts);
    }
    for (uint32_t i = 0; i < tree.num_children; i++)
        send_append(builder, &store, &tree.children[i], recv);
    if (tree.parent == COHORT__NO_SITE) {
        uint32_t place =
            cohort__plan_range(builder, COHORT__SPACE_IN, request->root * bytes, bytes);
        cohort__plan_copy(builder, PHASE, own, place);
    }
    return cohort__plan_finish(builder, ret_plan);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__scatter_over_mesh(request, &mesh, "scatter_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__scatter_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__scatter_mesh = {
    .collective = COHORT__SCATTER,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
