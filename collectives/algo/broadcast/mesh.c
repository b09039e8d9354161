/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast, mesh: the root's row first, binomially, then all columns at the same time.
 * Cost: (t_s + t_w m) (ceil(log2 columns) + ceil(log2 rows)). TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar: broadcast on a mesh. */
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

enum { PHASE = 1, TAG = 0 };

void cohort__mesh_tree_broadcast(struct cohort__plan_builder *builder,
                                 const struct cohort__mesh_tree *tree, uint32_t block,
                                 unsigned phase, uint32_t after)
{
    if (tree->parent != COHORT__NO_SITE) {
        uint32_t recv = cohort__plan_recv(builder, phase, tree->parent, TAG, &block, 1);
        cohort__plan_after(builder, recv, after);
        after = recv;
    }
    for (uint32_t i = 0; i < tree->num_children; i++) {
        uint32_t send = cohort__plan_send(builder, phase, tree->children[i].site, TAG, &block, 1);
        cohort__plan_after(builder, send, after);
    }
}

cohort_status cohort__broadcast_over_mesh(const struct cohort__request *request,
                                          const struct cohort__mesh *mesh, const char *name,
                                          struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__mesh_tree tree;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    cohort__mesh_tree_init(&tree, mesh, COHORT__MESH_ROWS_FIRST, request->root, request->this_site);
    bool is_root = tree.parent == COHORT__NO_SITE;
    uint32_t block = cohort__plan_range(builder, is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT, 0,
                                        request->bytes);
    cohort__mesh_tree_broadcast(builder, &tree, block, PHASE, COHORT__NO_STEP);
    return cohort__plan_finish(builder, ret_plan);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__broadcast_over_mesh(request, &mesh, "broadcast_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__broadcast_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__broadcast_mesh = {
    .collective = COHORT__BROADCAST,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
