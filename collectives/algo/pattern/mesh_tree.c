/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/mesh_tree.h"

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/subplans.h"

/* A line of the mesh, and the part of it that is left on the way down to one site. Ranges are of
 * coordinates. */
struct line {
    uint32_t first; /* the site with coordinate 0 */
    uint32_t stride;
    struct cohort__range range;
    uint32_t top; /* the site that handles the data of the whole range */
};

struct halves {
    struct cohort__range kept; /* the half of `top` */
    struct cohort__range other;
    uint32_t partner; /* the top of the other half */
};

static struct halves halve(struct cohort__range range, uint32_t top)
{
    uint32_t smaller = range.count / 2;
    uint32_t larger = range.count - smaller;
    bool is_low = top - range.first < larger;
    struct halves halves = {
        .kept = {.first = range.first + (is_low ? 0 : smaller), .count = larger},
        .other = {.first = range.first + (is_low ? larger : 0), .count = smaller}};
    uint32_t place = top - halves.kept.first;
    halves.partner = halves.other.first + (place < smaller ? place : smaller - 1);
    return halves;
}

/* The sites of a range of the line, with all sites that differ from them only in lower
 * dimensions. */
static struct cohort__range line_subtree(const struct line *line, struct cohort__range range)
{
    uint32_t first = line->first + range.first * line->stride;
    return (struct cohort__range){.first = first - first % line->stride,
                                  .count = range.count * line->stride};
}

static void line_descend(struct cohort__mesh_tree *tree, struct line *line, uint32_t coordinate)
{
    while (line->range.count > 1) {
        struct halves halves = halve(line->range, line->top);
        if (coordinate == line->top)
            tree->children[tree->num_children++] =
                (struct cohort__mesh_child){.site = line->first + halves.partner * line->stride,
                                            .is_left = halves.other.first < halves.kept.first,
                                            .sites = line_subtree(line, halves.other)};
        if (coordinate - halves.kept.first < halves.kept.count) {
            line->range = halves.kept;
            continue;
        }
        if (coordinate == halves.partner) {
            tree->parent = line->first + line->top * line->stride;
            tree->sites = line_subtree(line, halves.other);
        }
        line->range = halves.other;
        line->top = halves.partner;
    }
}

void cohort__mesh_tree_init(struct cohort__mesh_tree *tree, const struct cohort__mesh *mesh,
                            enum cohort__mesh_order order, uint32_t root, uint32_t this_site)
{
    uint32_t num = mesh->num_dimensions;
    uint32_t first = num - 1;
    *tree =
        (struct cohort__mesh_tree){.this_site = this_site,
                                   .parent = COHORT__NO_SITE,
                                   .sites = {.first = 0, .count = cohort__mesh_stride(mesh, num)}};
    /* The site gets its data in the last dimension in which it differs from the root. */
    for (; first > 0; first--) {
        uint32_t dimension = order == COHORT__MESH_ROWS_FIRST ? first : num - 1 - first;
        if (cohort__mesh_coordinate(mesh, this_site, dimension) !=
            cohort__mesh_coordinate(mesh, root, dimension))
            break;
    }
    for (uint32_t i = first; i < num; i++) {
        uint32_t dimension = order == COHORT__MESH_ROWS_FIRST ? i : num - 1 - i;
        struct line line = {.first = cohort__mesh_move(mesh, this_site, dimension, 0),
                            .stride = cohort__mesh_stride(mesh, dimension),
                            .range = {.first = 0, .count = mesh->extents[dimension]},
                            .top = cohort__mesh_coordinate(mesh, root, dimension)};
        line_descend(tree, &line, cohort__mesh_coordinate(mesh, this_site, dimension));
    }
}

/* Where a site keeps the blocks of its subtree. The root keeps them in the caller's buffer SPACE.
 * Other sites keep their own block in OWN and the others in new TMP. */
struct store {
    const struct cohort__mesh_tree *tree;
    size_t bytes; /* of a block */
    uint32_t own;
    enum cohort__space space;
    size_t offset;
};

static struct store store_make(struct cohort__plan_builder *builder,
                               const struct cohort__mesh_tree *tree, enum cohort__space space,
                               uint32_t own, size_t bytes)
{
    struct store store = {.tree = tree, .bytes = bytes, .own = own, .space = space};
    if (tree->parent != COHORT__NO_SITE) {
        uint32_t tmp = cohort__plan_tmp(builder, (tree->sites.count - 1) * bytes);
        store.space = COHORT__SPACE_TMP;
        store.offset = cohort__plan_get_block(builder, tmp).offset;
    }
    return store;
}

/* COUNT blocks, the first of which is that of site FIRST. In TMP the site's own one is not among
 * them. */
static uint32_t store_range(struct cohort__plan_builder *builder, const struct store *store,
                            uint32_t first, uint32_t count)
{
    uint32_t place = first - store->tree->sites.first;
    if (store->space == COHORT__SPACE_TMP && first > store->tree->this_site)
        place--;
    return cohort__plan_range(builder, store->space, store->offset + place * store->bytes,
                              count * store->bytes);
}

enum { MAX_PARTS = 3 };

/* The blocks of SITES, which are in its subtree, in their order. Returns how many. */
static uint32_t store_parts(struct cohort__plan_builder *builder, const struct store *store,
                            struct cohort__range sites, uint32_t ret_parts[MAX_PARTS])
{
    uint32_t num_before = store->tree->this_site - sites.first;
    uint32_t num_parts = 0;
    if (store->space != COHORT__SPACE_TMP || num_before >= sites.count) {
        ret_parts[0] = store_range(builder, store, sites.first, sites.count);
        return 1;
    }
    if (num_before > 0)
        ret_parts[num_parts++] = store_range(builder, store, sites.first, num_before);
    ret_parts[num_parts++] = store->own;
    if (num_before + 1 < sites.count)
        ret_parts[num_parts++] =
            store_range(builder, store, store->tree->this_site + 1, sites.count - num_before - 1);
    return num_parts;
}

/* Plans -------------------------------------------------------------------------------------- */

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

void cohort__broadcast_over_mesh(struct cohort__plan_builder *builder,
                                 const struct cohort__request *request, struct cohort__mesh mesh)
{
    struct cohort__mesh_tree tree;
    cohort__mesh_tree_init(&tree, &mesh, COHORT__MESH_ROWS_FIRST, request->root,
                           request->this_site);
    bool is_root = tree.parent == COHORT__NO_SITE;
    uint32_t block = cohort__plan_range(builder, is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT, 0,
                                        request->bytes);
    cohort__mesh_tree_broadcast(builder, &tree, block, PHASE, COHORT__NO_STEP);
}

void cohort__reduce_over_mesh(struct cohort__plan_builder *builder,
                              const struct cohort__request *request, struct cohort__mesh mesh)
{
    struct cohort__mesh_tree tree;
    cohort__mesh_tree_init(&tree, &mesh, COHORT__MESH_ROWS_LAST, request->root, request->this_site);
    bool is_root = tree.parent == COHORT__NO_SITE;
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t result = own;
    if (is_root)
        result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    else if (tree.num_children > 0)
        result = cohort__plan_tmp(builder, request->bytes);
    cohort__mesh_tree_reduce(builder, &tree, own, result, request->bytes, PHASE);
}

void cohort__gather_over_mesh(struct cohort__plan_builder *builder,
                              const struct cohort__request *request, struct cohort__mesh mesh)
{
    struct cohort__mesh_tree tree;
    uint32_t parts[MAX_PARTS], num_parts;
    size_t bytes = request->bytes;
    cohort__mesh_tree_init(&tree, &mesh, COHORT__MESH_ROWS_LAST, request->root, request->this_site);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, bytes);
    struct store store = store_make(builder, &tree, COHORT__SPACE_OUT, own, bytes);
    for (uint32_t i = tree.num_children; i-- > 0;) {
        num_parts = store_parts(builder, &store, tree.children[i].sites, parts);
        cohort__plan_recv(builder, PHASE, tree.children[i].site, TAG, parts, num_parts);
    }
    if (tree.parent == COHORT__NO_SITE) {
        uint32_t place =
            cohort__plan_range(builder, COHORT__SPACE_OUT, request->root * bytes, bytes);
        cohort__plan_copy(builder, PHASE, place, own);
        return;
    }
    num_parts = store_parts(builder, &store, tree.sites, parts);
    uint32_t send = cohort__plan_send(builder, PHASE, tree.parent, TAG, parts, num_parts);
    for (uint32_t i = 0; i < tree.num_children; i++)
        cohort__plan_after(builder, send, i); /* the RECVs are steps 0, 1 .. */
}

static void send_append(struct cohort__plan_builder *builder, const struct store *store,
                        const struct cohort__mesh_child *child, uint32_t after)
{
    uint32_t parts[MAX_PARTS];
    uint32_t num_parts = store_parts(builder, store, child->sites, parts);
    uint32_t send = cohort__plan_send(builder, PHASE, child->site, TAG, parts, num_parts);
    cohort__plan_after(builder, send, after);
}

void cohort__scatter_over_mesh(struct cohort__plan_builder *builder,
                               const struct cohort__request *request, struct cohort__mesh mesh)
{
    struct cohort__mesh_tree tree;
    uint32_t recv = COHORT__NO_STEP;
    size_t bytes = request->bytes;
    cohort__mesh_tree_init(&tree, &mesh, COHORT__MESH_ROWS_LAST, request->root, request->this_site);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, bytes);
    struct store store = store_make(builder, &tree, COHORT__SPACE_IN, own, bytes);
    if (tree.parent != COHORT__NO_SITE) {
        uint32_t parts[MAX_PARTS];
        uint32_t num_parts = store_parts(builder, &store, tree.sites, parts);
        recv = cohort__plan_recv(builder, PHASE, tree.parent, TAG, parts, num_parts);
    }
    for (uint32_t i = 0; i < tree.num_children; i++)
        send_append(builder, &store, &tree.children[i], recv);
    if (tree.parent == COHORT__NO_SITE) {
        uint32_t place =
            cohort__plan_range(builder, COHORT__SPACE_IN, request->root * bytes, bytes);
        cohort__plan_copy(builder, PHASE, own, place);
    }
}

/* Costs -------------------------------------------------------------------------------------- */

struct cohort__cost cohort__broadcast_cost_over_mesh(const struct cohort__request *request,
                                                     struct cohort__mesh mesh)
{
    struct cohort__cost cost = {0};
    for (uint32_t i = 0; i < mesh.num_dimensions; i++) {
        struct cohort__cost line = cohort__cost_broadcast(mesh.extents[i], 2, request->bytes);
        cost = cohort__cost_then(cost, cohort__cost_at_once(line, cohort__mesh_stride(&mesh, i)));
    }
    return cost;
}

struct cohort__cost cohort__reduce_cost_over_mesh(const struct cohort__request *request,
                                                  struct cohort__mesh mesh)
{
    struct cohort__cost cost = cohort__broadcast_cost_over_mesh(request, mesh);
    uint32_t top = mesh.extents[cohort__mesh_last_dimension(&mesh)];
    cost.reduced = cost.bytes;
    cost.combined = cost.moved;
    /* The root's result is in OUT. The result of its first child, which has most children of the
     * others, is in TMP. */
    uint32_t at_root = (uint32_t)cost.startups;
    uint32_t at_child = at_root - cohort__log2_ceiling(top) + cohort__log2_ceiling(top / 2);
    uint32_t root_blocks = cohort__reduce_buffers(request->bytes, at_root);
    uint32_t child_blocks = at_child > 0 ? 1 + cohort__reduce_buffers(request->bytes, at_child) : 0;
    cost.memory =
        cohort__cost_tmp(root_blocks > child_blocks ? root_blocks : child_blocks, request->bytes);
    return cost;
}

struct cohort__cost cohort__scatter_cost_over_mesh(const struct cohort__request *request,
                                                   struct cohort__mesh mesh)
{
    struct cohort__cost cost = {0};
    uint32_t top = cohort__mesh_last_dimension(&mesh);
    uint32_t num_sites = cohort__mesh_stride(&mesh, mesh.num_dimensions);
    for (uint32_t i = 0; i < mesh.num_dimensions; i++) {
        uint32_t stride = cohort__mesh_stride(&mesh, i);
        struct cohort__cost line =
            cohort__cost_scatter(mesh.extents[i], 2, stride * request->bytes);
        uint32_t num_lines = num_sites / stride / mesh.extents[i];
        cost = cohort__cost_then(cost, cohort__cost_at_once(line, num_lines));
    }
    uint32_t below = mesh.extents[top] / 2 * cohort__mesh_stride(&mesh, top);
    cost.memory = below > 1 ? (below - 1.0) * (double)request->bytes : 0;
    return cost;
}
