/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/bfs_check.h"

#include <stdlib.h>
#include <string.h>

#include "examples/bfs_graph.h"
#include "examples/number.h"
#include "examples/outbox.h"

/* IN: vertices of this part. OUT: their levels, as they are now. */
static cohort_status tell_levels(const cohort_object *in, cohort_object *ret_out, void *context)
{
    size_t num = in->bytes / sizeof(struct bfs_edge), index;
    const struct bfs_edge *edges = in->data;
    uint32_t *levels = malloc(num * sizeof(*levels) + 1);
    (void)context;
    if (!levels)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu levels", num);
    for (size_t i = 0; i < num; i++) {
        if (!bfs_graph_find(edges[i].from, &index)) {
            free(levels);
            return cohort_fail(COHORT_ERR_PROTOCOL, "vertex %llu is not here",
                               (unsigned long long)edges[i].from);
        }
        levels[i] = bfs_graph_level(index);
    }
    *ret_out = (cohort_object){levels, num * sizeof(*levels)};
    return COHORT_OK;
}

/* The item I of BATCH: the vertex of this part that asked, and the level that came back. */
static uint32_t answer(const struct outbox_batch *batch, size_t i, size_t *ret_index)
{
    const struct bfs_edge *edges = (const struct bfs_edge *)batch->items;
    const uint32_t *levels = batch->out.data;
    return bfs_graph_find(edges[i].to, ret_index) &&
                   batch->out.bytes == batch->num_items * sizeof(*levels)
               ? levels[i]
               : BFS_NO_LEVEL;
}

/* A round: vertices whose parent has a level get theirs ---------------------------------------- */

/* *CONTEXT counts them. They are set after all have asked, so that each round is one level. */
static cohort_status take_parents_levels(void *context, const struct outbox_batch *batch)
{
    uint64_t *num_set = context;
    size_t index;
    for (size_t i = 0; i < batch->num_items; i++) {
        uint32_t level = answer(batch, i, &index);
        if (level == BFS_NO_LEVEL)
            continue;
        bfs_graph_set_level(index, level + 1);
        ++*num_set;
    }
    return COHORT_OK;
}

/* OUT: how many vertices have got a level. */
static cohort_status level(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint64_t num_set = 0;
    struct outbox outbox = {.function = "bfs.tell_levels",
                            .item_bytes = sizeof(struct bfs_edge),
                            .take = take_parents_levels,
                            .context = &num_set};
    (void)in;
    (void)context;
    cohort_status status = outbox_begin(&outbox);
    for (size_t i = 0; !status && i < bfs_graph_num_vertices(); i++) {
        uint64_t vertex = bfs_graph_vertex(i), parent = bfs_graph_parent(i);
        if (!bfs_graph_is_visited(i) || bfs_graph_level(i) != BFS_NO_LEVEL)
            continue;
        if (parent == vertex) { /* the root, or so it says */
            bfs_graph_set_level(i, 0);
            num_set++;
        } else {
            status =
                outbox_put(&outbox, bfs_graph_owner(parent), &(struct bfs_edge){parent, vertex});
        }
    }
    status = outbox_end(&outbox, status);
    return status ? status : number_give(num_set, ret_out);
}

/* All edges ------------------------------------------------------------------------------------ */

static cohort_status compare_levels(void *context, const struct outbox_batch *batch)
{
    (void)context;
    const struct bfs_edge *edges = (const struct bfs_edge *)batch->items;
    size_t index = 0;
    for (size_t i = 0; i < batch->num_items; i++) {
        uint32_t other = answer(batch, i, &index), own = bfs_graph_level(index);
        bool is_right = own == BFS_NO_LEVEL || other == BFS_NO_LEVEL
                            ? own == other
                            : own <= other + 1 && other <= own + 1;
        if (!is_right)
            return cohort_fail(COHORT_ERR_FAILED,
                               "the edge of vertices %llu and %llu joins levels %d and %d",
                               (unsigned long long)edges[i].to, (unsigned long long)edges[i].from,
                               (int)own, (int)other);
    }
    return COHORT_OK;
}

/* What can be said of vertex I of this part alone. */
static cohort_status check_vertex(size_t i, uint64_t root)
{
    uint64_t vertex = bfs_graph_vertex(i), parent = bfs_graph_parent(i);
    if (!bfs_graph_is_visited(i))
        return COHORT_OK;
    if (bfs_graph_level(i) == BFS_NO_LEVEL)
        return cohort_fail(COHORT_ERR_FAILED, "vertex %llu is in a circle",
                           (unsigned long long)vertex);
    if ((parent == vertex) != (vertex == root))
        return cohort_fail(COHORT_ERR_FAILED, "vertex %llu is its own parent, or the root is not",
                           (unsigned long long)vertex);
    if (vertex != root && !bfs_graph_has_edge(i, parent))
        return cohort_fail(COHORT_ERR_FAILED, "there is no edge from vertex %llu to its parent",
                           (unsigned long long)vertex);
    return COHORT_OK;
}

/* IN: the root. OUT: how many vertices are in the tree. */
static cohort_status check(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct outbox outbox = {.function = "bfs.tell_levels",
                            .item_bytes = sizeof(struct bfs_edge),
                            .take = compare_levels};
    uint64_t num_visited = 0, root;
    size_t num;
    (void)context;
    if (in->bytes != sizeof(root))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no vertex", in->bytes);
    memcpy(&root, in->data, sizeof(root));
    cohort_status status = outbox_begin(&outbox);
    for (size_t i = 0; !status && i < bfs_graph_num_vertices(); i++) {
        const uint64_t *targets = bfs_graph_targets(i, &num);
        status = check_vertex(i, root);
        num_visited += bfs_graph_is_visited(i);
        for (size_t j = 0; !status && j < num; j++)
            status = outbox_put(&outbox, bfs_graph_owner(targets[j]),
                                &(struct bfs_edge){targets[j], bfs_graph_vertex(i)});
    }
    status = outbox_end(&outbox, status);
    return status ? status : number_give(num_visited, ret_out);
}

cohort_status bfs_check(uint64_t root, uint64_t num_visited, bfs_step *step)
{
    uint64_t num_set = 1, num_in_tree = 0;
    cohort_status status = COHORT_OK;
    while (!status && num_set > 0)
        status = step("bfs.level", NULL, &num_set);
    if (!status)
        status = step("bfs.check", &(cohort_object){&root, sizeof(root)}, &num_in_tree);
    if (!status && num_in_tree != num_visited)
        status = cohort_fail(COHORT_ERR_FAILED, "%llu vertices are in the tree, %llu were visited",
                             (unsigned long long)num_in_tree, (unsigned long long)num_visited);
    return status;
}

cohort_status bfs_check_register(void)
{
    cohort_status status = cohort_remote_register("bfs.tell_levels", tell_levels, NULL);
    if (!status)
        status = cohort_remote_register("bfs.level", level, NULL);
    return status ? status : cohort_remote_register("bfs.check", check, NULL);
}
