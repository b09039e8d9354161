/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce, mesh. First all rows at the same time, binomially. Then the root's column of their
 * results. A row is a range of sites, so nothing has to commute.
 * Cost: (t_s + t_w m + t_r m) (ceil(log2 columns) + ceil(log2 rows)). TMP: a block for the result,
 * except at the root, and one for each block that is received, as far as cohort__reduce_buffers
 * allows.
 * Source: Grama, Gupta, Karypis, Kumar: all-to-one reduction, a broadcast on a mesh reversed. */
#include "collectives/algo/pattern/linear.h"
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/table.h"

enum { PHASE = 1, TAG = 0 };

/* Child I in the order from the leaves. The last child, which has fewest sites below it, comes
 * first. */
static const struct cohort__mesh_child *child_at(const struct cohort__mesh_tree *tree, uint32_t i)
{
    return &tree->children[tree->num_children - 1 - i];
}

/* Appends the RECVs, then one REDUCE for each. Returns the last REDUCE. */
static uint32_t children_append(struct cohort__plan_builder *builder,
                                const struct cohort__mesh_tree *tree, uint32_t own, uint32_t result,
                                size_t bytes, unsigned phase)
{
    uint32_t first_recv = cohort__plan_num_steps(builder);
    uint32_t num = tree->num_children;
    uint32_t num_buffers = cohort__reduce_buffers(bytes, num);
    uint32_t buffers[COHORT__MESH_MAX_CHILDREN];
    uint32_t reduce = COHORT__NO_STEP;
    for (uint32_t i = 0; i < num_buffers; i++)
        buffers[i] = cohort__plan_tmp(builder, bytes);
    for (uint32_t i = 0; i < num; i++)
        cohort__plan_recv(builder, phase, child_at(tree, i)->site, TAG, &buffers[i % num_buffers],
                          1);
    for (uint32_t i = 0; i < num; i++) {
        uint32_t last = reduce;
        uint32_t block = buffers[i % num_buffers];
        uint32_t sum = i == 0 ? own : result;
        bool is_left = child_at(tree, i)->is_left;
        reduce = cohort__plan_reduce(builder, phase, result, is_left ? block : sum,
                                     is_left ? sum : block);
        cohort__plan_after(builder, reduce, first_recv + i);
        cohort__plan_after(builder, reduce, last);
        if (i + num_buffers < num)
            cohort__plan_after(builder, first_recv + i + num_buffers, reduce);
    }
    return reduce;
}

uint32_t cohort__mesh_tree_reduce(struct cohort__plan_builder *builder,
                                  const struct cohort__mesh_tree *tree, uint32_t own,
                                  uint32_t result, size_t bytes, unsigned phase)
{
    uint32_t end = COHORT__NO_STEP;
    if (tree->num_children > 0)
        end = children_append(builder, tree, own, result, bytes, phase);
    if (tree->parent != COHORT__NO_SITE) {
        uint32_t block = tree->num_children > 0 ? result : own;
        uint32_t send = cohort__plan_send(builder, phase, tree->parent, TAG, &block, 1);
        cohort__plan_after(builder, send, end);
        end = tree->num_children > 0 ? send : COHORT__NO_STEP;
    }
    return end;
}

cohort_status cohort__reduce_over_mesh(const struct cohort__request *request,
                                       const struct cohort__mesh *mesh, const char *name,
                                       struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__mesh_tree tree;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    cohort__mesh_tree_init(&tree, mesh, COHORT__MESH_ROWS_LAST, request->root, request->this_site);
    bool is_root = tree.parent == COHORT__NO_SITE;
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t result = own;
    if (is_root)
        result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    else if (tree.num_children > 0)
        result = cohort__plan_tmp(builder, request->bytes);
    if (request->num_sites > 1)
        cohort__mesh_tree_reduce(builder, &tree, own, result, request->bytes, PHASE);
    else
        cohort__plan_copy(builder, PHASE, result, own);
    return cohort__plan_finish(builder, ret_plan);
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__reduce_over_mesh(request, &mesh, "reduce_mesh", ret_plan);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    return cohort__reduce_cost_over_mesh(&mesh, request->bytes);
}

const struct cohort__algorithm cohort__reduce_mesh = {
    .collective = COHORT__REDUCE,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
