/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast, scatter and all-gather. The block is cut into N pieces, at any byte. They are
 * scattered binomially (phase 1). Then every site passes pieces on to the next one round the ring
 * until all have all (phase 2, a piece's number is its tag). No site is sent what it already has:
 * nothing goes to the root, and a site that has passed pieces on in the scatter keeps them. With
 * fewer bytes than sites, some pieces are empty.
 * Cost: t_s (ceil(log2 N) + N - 1) + 2 t_w m (N-1) / N, all of it at the root's port. TMP: none.
 * Source: van de Geijn's broadcast of long vectors, as described by Thakur, Rabenseifner and Gropp
 * (IJHPCA 2005), without the messages that bring nothing new. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/mesh_tree.h"
#include "collectives/algo/pattern/vector.h"

enum { PHASE = 1, RING_PHASE = 2, TAG = 0 };

static bool has(const struct cohort__mesh_tree *tree, uint32_t piece)
{
    return piece - tree->sites.first < tree->sites.count;
}

static uint32_t pieces_append(struct cohort__plan_builder *builder,
                              const struct cohort__request *request, struct cohort__range pieces)
{
    bool is_root = request->this_site == request->root;
    return cohort__plan_range(
        builder, is_root ? COHORT__SPACE_IN : COHORT__SPACE_OUT,
        cohort__cut(request->bytes, 1, request->num_sites, pieces.first),
        cohort__cut_bytes(request->bytes, 1, request->num_sites, pieces.first, pieces.count));
}

/* Returns the step after which this site has its pieces. */
static uint32_t scatter_append(struct cohort__plan_builder *builder,
                               const struct cohort__request *request,
                               const struct cohort__mesh_tree *tree)
{
    uint32_t recv = COHORT__NO_STEP;
    if (tree->parent != COHORT__NO_SITE) {
        uint32_t block = pieces_append(builder, request, tree->sites);
        recv = cohort__plan_recv(builder, PHASE, tree->parent, TAG, &block, 1);
    }
    for (uint32_t i = 0; i < tree->num_children; i++) {
        uint32_t block = pieces_append(builder, request, tree->children[i].sites);
        uint32_t send = cohort__plan_send(builder, PHASE, tree->children[i].site, TAG, &block, 1);
        cohort__plan_after(builder, send, recv);
    }
    return recv;
}

/* This site's own piece goes first. Then pieces come and go in falling order. A site that has
 * pieces to send long before their turn sends them in turn, so that pieces from far away get
 * through. */
static void ring_append(struct cohort__plan_builder *builder, const struct cohort__request *request,
                        const struct cohort__mesh_tree *tree, uint32_t scattered)
{
    uint32_t num_sites = request->num_sites;
    uint32_t before = (request->this_site + num_sites - 1) % num_sites;
    uint32_t next = (request->this_site + 1) % num_sites;
    struct cohort__mesh line = cohort__mesh_line(num_sites);
    struct cohort__mesh_tree next_tree;
    bool in_turn = tree->parent != COHORT__NO_SITE && tree->num_children > 0;
    uint32_t last = COHORT__NO_STEP;
    cohort__mesh_tree_init(&next_tree, &line, COHORT__MESH_ROWS_LAST, request->root, next);
    for (uint32_t i = 0; i < num_sites; i++) {
        uint32_t piece =
            request->this_site >= i ? request->this_site - i : request->this_site + num_sites - i;
        bool is_here = has(tree, piece);
        bool is_there = has(&next_tree, piece);
        uint32_t there = scattered;
        if (is_here && is_there)
            continue;
        uint32_t block =
            pieces_append(builder, request, (struct cohort__range){.first = piece, .count = 1});
        if (!is_here)
            there = cohort__plan_recv(builder, RING_PHASE, before, piece, &block, 1);
        if (!is_there) {
            uint32_t send = cohort__plan_send(builder, RING_PHASE, next, piece, &block, 1);
            cohort__plan_after(builder, send, there);
            cohort__plan_after(builder, send, last);
            last = in_turn ? send : COHORT__NO_STEP;
        }
    }
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__mesh line = cohort__mesh_line(request->num_sites);
    struct cohort__mesh_tree tree;
    cohort__mesh_tree_init(&tree, &line, COHORT__MESH_ROWS_LAST, request->root, request->this_site);
    uint32_t scattered = scatter_append(builder, request, &tree);
    ring_append(builder, request, &tree, scattered);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    double others = num_sites - 1.0;
    size_t smallest = cohort__cut_bytes(request->bytes, 1, num_sites, num_sites - 1, 1);
    struct cohort__cost cost = cohort__cost_scatter(num_sites, 2, 1);
    /* What has been moved in the scatter, counted as one byte a piece, need not go round. */
    cost.messages += num_sites * others - cost.moved;
    cost.startups += others;
    cost.bytes = num_sites > 1 ? 2 * (double)(request->bytes - smallest) : 0;
    cost.moved = others * (double)request->bytes;
    return cost;
}

const struct cohort__algorithm cohort__broadcast_scatter_all_gather = {
    .collective = COHORT__BROADCAST,
    .name = "scatter_all_gather",
    .build = build,
    .cost = cost,
};
