/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_TREE_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_TREE_H

#include "collectives/algo/algorithm.h"
#include "collectives/plan/embed.h"
#include "collectives/plan/partition.h"

enum { COHORT__TREE_MAX_LEVELS = 32 };

/* A level of the tree. `range` is partitioned into groups, and their representatives exchange data,
 * one rank for each group. This holds for the lowest level, too: its groups are single sites. */
struct cohort__tree_level {
    struct cohort__range range;
    uint32_t num_ranks;
    uint32_t this_rank;
};

/* The levels in which one site takes part. Sites are renumbered from the root. So the root is
 * number 0 and represents every range that it is in. Ranges and groups are of these numbers. In its
 * first level a site has its parent at rank 0. In all other levels it is rank 0 itself. Only the
 * root is rank 0 in its first level, too. */
struct cohort__tree {
    struct cohort__range sites; /* the sites of the tree */
    uint32_t arity;
    uint32_t root; /* its index in `sites` */
    uint32_t this_number;
    uint32_t num_levels;
    struct cohort__tree_level levels[COHORT__TREE_MAX_LEVELS];
};

/* ROOT and THIS_SITE are site numbers. ARITY >= 2. */
void cohort__tree_init(struct cohort__tree *tree, struct cohort__range sites, uint32_t arity,
                       uint32_t root, uint32_t this_site);

bool cohort__tree_is_root(const struct cohort__tree *tree);

/* Whether other sites send to this one on the way up. If so, they do in its last level. */
bool cohort__tree_has_children(const struct cohort__tree *tree);

/* The numbers of the sites that this one represents towards the root, itself first. */
struct cohort__range cohort__tree_subtree(const struct cohort__tree *tree);

/* The group that RANK represents in LEVEL. */
struct cohort__range cohort__tree_group(const struct cohort__tree *tree, uint32_t level,
                                        uint32_t rank);

/* The site with NUMBER. */
uint32_t cohort__tree_site(const struct cohort__tree *tree, uint32_t number);

/* The request to a linear primitive for LEVEL. Its root is rank 0. */
struct cohort__request cohort__tree_level_request(const struct cohort__tree *tree, uint32_t level,
                                                  size_t bytes);

/* How many ranks of LEVEL, from 0 on, this site has to know: rank 0 all of them, the others only
 * rank 0. So what n sites do for a level of n ranks does not grow with n at each of them. */
uint32_t cohort__tree_level_peers(const struct cohort__tree *tree, uint32_t level);

/* Embeds FRAGMENT, which a linear primitive has made for that request, for one level. Sets `sites`
 * of EMBEDDING. Takes the caller's reference. FRAGMENT NULL (no memory) fails the builder. */
uint32_t cohort__tree_embed(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                            uint32_t level, struct cohort__plan *fragment,
                            struct cohort__embedding embedding);

#endif
