/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/tree.h"

#include <stdlib.h>

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

struct cohort__request cohort__tree_level_request(const struct cohort__tree *tree, uint32_t level,
                                                  size_t bytes)
{
    return (struct cohort__request){.num_sites = tree->levels[level].num_ranks,
                                    .this_site = tree->levels[level].this_rank,
                                    .arity = tree->arity,
                                    .bytes = bytes};
}

uint32_t cohort__tree_level_peers(const struct cohort__tree *tree, uint32_t level)
{
    return tree->levels[level].this_rank == 0 ? tree->levels[level].num_ranks : 1;
}

uint32_t cohort__tree_embed(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                            uint32_t level, struct cohort__plan *fragment,
                            struct cohort__embedding embedding)
{
    uint32_t num_peers = cohort__tree_level_peers(tree, level);
    uint32_t *sites = calloc(num_peers, sizeof(*sites));
    uint32_t end = COHORT__NO_STEP;
    if (fragment && sites) {
        for (uint32_t rank = 0; rank < num_peers; rank++)
            sites[rank] = cohort__tree_site(tree, cohort__tree_group(tree, level, rank).first);
        embedding.sites = sites;
        end = cohort__plan_embed(builder, fragment, &embedding);
    } else {
        cohort__plan_builder_fail(builder);
    }
    free(sites);
    cohort__plan_unref(fragment);
    return end;
}
