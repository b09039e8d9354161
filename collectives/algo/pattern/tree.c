/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/tree.h"

#include <stdlib.h>

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/subplans.h"

void cohort__tree_init(struct cohort__tree *tree, struct cohort__range sites, uint32_t arity,
                       uint32_t root, uint32_t this_site)
{
    uint32_t place = this_site - sites.first;
    uint32_t root_place = root - sites.first;
    *tree = (struct cohort__tree){.sites = sites, .arity = arity, .root = root_place};
    tree->this_number = place >= root_place ? place - root_place : place + sites.count - root_place;
    struct cohort__range range = {.first = 0, .count = sites.count};
    while (range.count > 1) {
        uint32_t rank = cohort__partition_find(range, arity, tree->this_number);
        struct cohort__range group = cohort__partition_group(range, arity, rank);
        if (group.first == tree->this_number)
            tree->levels[tree->num_levels++] = (struct cohort__tree_level){
                .range = range,
                .num_ranks = cohort__partition_count(range.count, arity),
                .this_rank = rank};
        range = group;
    }
}

struct cohort__tree cohort__tree_of(const struct cohort__request *request, uint32_t arity,
                                    uint32_t root)
{
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    struct cohort__tree tree;
    cohort__tree_init(&tree, all, arity, root, request->this_site);
    return tree;
}

bool cohort__tree_is_root(const struct cohort__tree *tree)
{
    return tree->this_number == 0;
}

bool cohort__tree_has_children(const struct cohort__tree *tree)
{
    return tree->num_levels > 0 && tree->levels[tree->num_levels - 1].this_rank == 0;
}

struct cohort__range cohort__tree_subtree(const struct cohort__tree *tree)
{
    if (cohort__tree_is_root(tree))
        return (struct cohort__range){.first = 0, .count = tree->sites.count};
    return cohort__tree_group(tree, 0, tree->levels[0].this_rank);
}

struct cohort__range cohort__tree_group(const struct cohort__tree *tree, uint32_t level,
                                        uint32_t rank)
{
    return cohort__partition_group(tree->levels[level].range, tree->arity, rank);
}

uint32_t cohort__tree_site(const struct cohort__tree *tree, uint32_t number)
{
    uint64_t place = (uint64_t)number + tree->root;
    return tree->sites.first + (uint32_t)(place % tree->sites.count);
}

/* The request to a linear primitive for LEVEL. Its root is rank 0. */
static struct cohort__request tree_level_request(const struct cohort__tree *tree, uint32_t level,
                                                 size_t bytes)
{
    return (struct cohort__request){.num_sites = tree->levels[level].num_ranks,
                                    .this_site = tree->levels[level].this_rank,
                                    .arity = tree->arity,
                                    .bytes = bytes};
}

/* How many ranks of LEVEL, from 0 on, this site has to know: rank 0 all of them, the others only
 * rank 0. So what n sites do for a level of n ranks does not grow with n at each of them. */
static uint32_t tree_level_peers(const struct cohort__tree *tree, uint32_t level)
{
    return tree->levels[level].this_rank == 0 ? tree->levels[level].num_ranks : 1;
}

/* Embeds SUBPLAN, which a linear primitive has made for that request, for one level. Sets `sites`
 * of EMBEDDING. Takes the caller's reference. SUBPLAN NULL (no memory) fails the builder. */
static uint32_t tree_embed(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                           uint32_t level, struct cohort__plan *subplan,
                           struct cohort__embedding embedding)
{
    uint32_t num_peers = tree_level_peers(tree, level);
    uint32_t *sites = calloc(num_peers, sizeof(*sites));
    uint32_t end = COHORT__NO_STEP;
    if (subplan && sites) {
        for (uint32_t rank = 0; rank < num_peers; rank++)
            sites[rank] = cohort__tree_site(tree, cohort__tree_group(tree, level, rank).first);
        embedding.sites = sites;
        end = cohort__plan_embed(builder, subplan, &embedding);
    } else {
        cohort__plan_builder_fail(builder);
    }
    free(sites);
    cohort__plan_unref(subplan);
    return end;
}

/* Where blocks are -------------------------------------------------------------------------- */

/* The most blocks that a range of numbers can have: the own one, and two if the order of the sites
 * begins again at site 0 in between. */
enum { MAX_PARTS = 3 };

/* What embedding needs, for each rank of a level that this site has to know. */
struct arrays {
    uint32_t *weights;                /* as the subplan takes them */
    uint32_t *blocks;                 /* MAX_PARTS for each list */
    struct cohort__block_list *lists; /* of the subplan: its own block, then one for each rank */
};

struct cohort__layout cohort__layout_in_tmp(struct cohort__plan_builder *builder,
                                            const struct cohort__tree *tree, uint32_t own,
                                            size_t bytes)
{
    uint32_t num_others = cohort__tree_subtree(tree).count - 1;
    uint32_t tmp = cohort__plan_tmp(builder, num_others * bytes);
    return (struct cohort__layout){.bytes = bytes,
                                   .own = own,
                                   .space = COHORT__SPACE_TMP,
                                   .first = tree->this_number + 1,
                                   .offset = cohort__plan_get_block(builder, tmp).offset};
}

double cohort__layout_memory(uint32_t num_sites, uint32_t arity, size_t bytes)
{
    struct cohort__range all = {.first = 0, .count = num_sites};
    return num_sites > 1 ? (cohort__partition_group(all, arity, 1).count - 1.0) * (double)bytes : 0;
}

struct cohort__layout cohort__layout_by_site(enum cohort__space space, uint32_t own, size_t bytes)
{
    return (struct cohort__layout){.bytes = bytes, .own = own, .space = space, .by_site = true};
}

static uint32_t range_append(struct cohort__plan_builder *builder,
                             const struct cohort__layout *layout, uint32_t first, uint32_t count)
{
    return cohort__plan_range(builder, layout->space, layout->offset + first * layout->bytes,
                              count * layout->bytes);
}

/* The blocks of RANGE in the order of the tree's numbers. Returns how many. */
static uint32_t parts_append(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                             const struct cohort__layout *layout, struct cohort__range range,
                             uint32_t *ret_parts)
{
    uint32_t num_parts = 0;
    if (layout->own != COHORT__NO_BLOCK && range.first == tree->this_number) {
        ret_parts[num_parts++] = layout->own;
        range.first++;
        range.count--;
    }
    if (range.count == 0)
        return num_parts;
    if (!layout->by_site) {
        uint32_t first = range.first - layout->first;
        ret_parts[num_parts++] = range_append(builder, layout, first, range.count);
        return num_parts;
    }
    uint32_t first = cohort__tree_site(tree, range.first) - tree->sites.first;
    uint32_t before_end = tree->sites.count - first;
    uint32_t count = range.count < before_end ? range.count : before_end;
    ret_parts[num_parts++] = range_append(builder, layout, first, count);
    if (range.count > count)
        ret_parts[num_parts++] = range_append(builder, layout, 0, range.count - count);
    return num_parts;
}

static bool arrays_init(struct arrays *arrays, const struct cohort__tree *tree, uint32_t level)
{
    uint32_t this_rank = tree->levels[level].this_rank;
    uint32_t num_peers = tree_level_peers(tree, level);
    size_t num_lists = num_peers + (size_t)1;
    arrays->weights = calloc(num_peers, sizeof(*arrays->weights));
    arrays->blocks = calloc(num_lists * MAX_PARTS, sizeof(*arrays->blocks));
    arrays->lists = calloc(num_lists, sizeof(*arrays->lists));
    for (uint32_t i = 0; arrays->weights && i < num_peers; i++)
        arrays->weights[i] = cohort__tree_group(tree, level, this_rank + i).count;
    return arrays->weights && arrays->blocks && arrays->lists;
}

static void arrays_fini(struct arrays *arrays)
{
    free(arrays->weights);
    free(arrays->blocks);
    free(arrays->lists);
}

static void list_fill(struct arrays *arrays, uint32_t index, struct cohort__plan_builder *builder,
                      const struct cohort__tree *tree, const struct cohort__layout *layout,
                      struct cohort__range group)
{
    uint32_t *parts = &arrays->blocks[(size_t)index * MAX_PARTS];
    uint32_t num_parts = parts_append(builder, tree, layout, group, parts);
    arrays->lists[index] = (struct cohort__block_list){.blocks = parts, .num_blocks = num_parts};
}

/* Embeds a linear gather or scatter for one level. A rank's block is the blocks of its group.
 * Returns what cohort__plan_embed does. */
static uint32_t layout_embed(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                             uint32_t level, const struct cohort__layout *layout,
                             enum cohort__collective collective, unsigned phase, uint32_t after,
                             uint32_t recv_after)
{
    struct cohort__request request = tree_level_request(tree, level, layout->bytes);
    request.collective = collective;
    struct cohort__plan *subplan = NULL;
    struct arrays arrays;
    if (arrays_init(&arrays, tree, level)) {
        struct cohort__range group = cohort__tree_group(tree, level, request.this_site);
        list_fill(&arrays, 0, builder, tree, layout, group);
        for (uint32_t rank = 0; request.this_site == 0 && rank < request.num_sites; rank++) {
            group = cohort__tree_group(tree, level, rank);
            list_fill(&arrays, 1 + rank, builder, tree, layout, group);
        }
        cohort__rooted_linear_subplan(&request, arrays.weights, &subplan);
    }
    struct cohort__embedding embedding = {.block_map = arrays.lists,
                                          .phase = phase,
                                          .tag = layout->tag,
                                          .after = after,
                                          .recv_after = recv_after};
    uint32_t end = tree_embed(builder, tree, level, subplan, embedding);
    arrays_fini(&arrays);
    return end;
}

/* Up and down ------------------------------------------------------------------------------- */

uint32_t cohort__gather_up(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                           const struct cohort__layout *layout, unsigned phase, uint32_t after)
{
    for (uint32_t level = tree->num_levels; level-- > 0;)
        after = layout_embed(builder, tree, level, layout, COHORT__GATHER, phase, after,
                             COHORT__NO_STEP);
    return after;
}

uint32_t cohort__reduce_up(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                           uint32_t own, uint32_t result, size_t bytes, unsigned phase)
{
    uint32_t after = COHORT__NO_STEP;
    for (uint32_t level = tree->num_levels; level-- > 0;) {
        struct cohort__request request = tree_level_request(tree, level, bytes);
        const uint32_t blocks[] = {own, result};
        struct cohort__embedding embedding = {
            .blocks = blocks, .phase = phase, .after = after, .recv_after = COHORT__NO_STEP};
        struct cohort__plan *subplan = NULL;
        cohort__algorithm_plan(&cohort__reduce_linear, &request, &subplan);
        after = tree_embed(builder, tree, level, subplan, embedding);
        own = result;
    }
    return after;
}

double cohort__reduce_up_memory(uint32_t num_sites, uint32_t arity, size_t bytes)
{
    struct cohort__range range = {.first = 0, .count = num_sites};
    double memory = 0;
    while (range.count > 1) {
        uint32_t num_received = cohort__partition_count(range.count, arity) - 1;
        memory += cohort__cost_tmp(cohort__reduce_buffers(bytes, num_received), bytes);
        range = cohort__partition_group(range, arity, 0);
    }
    return memory;
}

void cohort__scatter_down(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                          const struct cohort__layout *layout, unsigned phase, uint32_t after)
{
    for (uint32_t level = 0; level < tree->num_levels; level++) {
        uint32_t end =
            layout_embed(builder, tree, level, layout, COHORT__SCATTER, phase, after, after);
        if (tree->levels[level].this_rank > 0)
            after = end;
    }
}

void cohort__broadcast_down(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                            uint32_t block, size_t bytes, unsigned phase, uint32_t after)
{
    for (uint32_t level = 0; level < tree->num_levels; level++) {
        struct cohort__request request = tree_level_request(tree, level, bytes);
        struct cohort__embedding embedding = {
            .blocks = &block, .phase = phase, .after = after, .recv_after = after};
        struct cohort__plan *subplan = NULL;
        cohort__algorithm_plan(&cohort__broadcast_linear, &request, &subplan);
        uint32_t end = tree_embed(builder, tree, level, subplan, embedding);
        if (tree->levels[level].this_rank > 0)
            after = end;
    }
}

/* Up, then down ----------------------------------------------------------------------------- */

enum { UP = 1, DOWN = 3 };

void cohort__all_reduce_compose(struct cohort__plan_builder *builder,
                                const struct cohort__request *request)
{
    struct cohort__tree tree = cohort__tree_of(request, request->arity, 0);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    uint32_t end = cohort__reduce_up(builder, &tree, own, result, request->bytes, UP);
    /* A site without children sends from IN, so it may receive into OUT at any time. */
    if (!cohort__tree_has_children(&tree))
        end = COHORT__NO_STEP;
    cohort__broadcast_down(builder, &tree, result, request->bytes, DOWN, end);
}

struct cohort__cost cohort__all_reduce_compose_cost(const struct cohort__request *request)
{
    struct cohort__cost cost = cohort__cost_then(
        cohort__cost_reduce(request->num_sites, request->arity, request->bytes),
        cohort__cost_broadcast(request->num_sites, request->arity, request->bytes));
    cost.memory = cohort__reduce_up_memory(request->num_sites, request->arity, request->bytes);
    return cost;
}

/* A representative sends its own block from IN. The root copies its own, since it receives nothing
 * on the way down. */
static uint32_t gather_append(struct cohort__plan_builder *builder,
                              const struct cohort__request *request,
                              const struct cohort__tree *tree)
{
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t ready = COHORT__NO_STEP;
    if (cohort__tree_is_root(tree)) {
        uint32_t place = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
        ready = cohort__plan_copy(builder, UP, place, own);
        own = COHORT__NO_BLOCK;
    }
    struct cohort__layout layout = cohort__layout_by_site(COHORT__SPACE_OUT, own, request->bytes);
    return cohort__gather_up(builder, tree, &layout, UP, ready);
}

void cohort__all_gather_compose(struct cohort__plan_builder *builder,
                                const struct cohort__request *request)
{
    size_t all_bytes = request->num_sites * request->bytes;
    struct cohort__tree tree = cohort__tree_of(request, request->arity, 0);
    uint32_t end = gather_append(builder, request, &tree);
    /* A site without children gathers nothing in OUT, so it may receive into OUT at any time. */
    if (!cohort__tree_has_children(&tree))
        end = COHORT__NO_STEP;
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, all_bytes);
    cohort__broadcast_down(builder, &tree, result, all_bytes, DOWN, end);
}
