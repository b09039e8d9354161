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

/* That of all sites of REQUEST. */
struct cohort__tree cohort__tree_of(const struct cohort__request *request, uint32_t arity,
                                    uint32_t root);

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

/* No own block: it is with those of the others. */
#define COHORT__NO_BLOCK UINT32_MAX

/* Where a site of a tree keeps a block for each site of its subtree, on the way up or down. */
struct cohort__layout {
    size_t bytes;             /* of one site's block */
    uint32_t own;             /* this site's own block, or COHORT__NO_BLOCK */
    enum cohort__space space; /* of the other blocks */
    bool by_site;             /* ordered by sites; else by the tree's numbers */
    uint32_t first;           /* the first of these numbers */
    size_t offset;            /* where the other blocks begin */
    uint32_t tag;             /* of the messages */
};

/* This site's own block in OWN, those of the rest of its subtree in new TMP. No TMP if there is no
 * rest. */
struct cohort__layout cohort__layout_in_tmp(struct cohort__plan_builder *builder,
                                            const struct cohort__tree *tree, uint32_t own,
                                            size_t bytes);

/* The most bytes of TMP that this takes, over all sites of a tree except the root. */
double cohort__layout_memory(uint32_t num_sites, uint32_t arity, size_t bytes);

/* In a buffer of the caller, in the order of the sites. The own block is in OWN. */
struct cohort__layout cohort__layout_by_site(enum cohort__space space, uint32_t own, size_t bytes);

/* Up and down a tree: the linear primitives, embedded level by level. Steps may be
 * COHORT__NO_STEP. */

/* Gathers a block of each site at the root. The root's own block is where LAYOUT says after AFTER.
 * A site sends up after AFTER, and after it has received all. Returns the step after which this
 * site's part is done. */
uint32_t cohort__gather_up(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                           const struct cohort__layout *layout, unsigned phase, uint32_t after);

/* Reduces the OWN blocks in the order of the tree's numbers. A site with children has the result of
 * its subtree in RESULT. Other sites need no RESULT. Returns the step after which this site's part
 * is done. */
uint32_t cohort__reduce_up(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                           uint32_t own, uint32_t result, size_t bytes, unsigned phase);

/* The TMP that this takes besides RESULT at the root, which needs most. */
double cohort__reduce_up_memory(uint32_t num_sites, uint32_t arity, size_t bytes);

/* Scatters a block to each site from the root. At this site nothing of it starts before AFTER. */
void cohort__scatter_down(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                          const struct cohort__layout *layout, unsigned phase, uint32_t after);

/* Spreads BLOCK from the root. At this site nothing of it starts before AFTER. */
void cohort__broadcast_down(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                            uint32_t block, size_t bytes, unsigned phase, uint32_t after);

/* The collectives of two phases, up a tree (phase 1) and down again (phase 3). In a tree of one
 * level they are compositions of two linear primitives. */

/* Reduce, then broadcast. */
void cohort__all_reduce_compose(struct cohort__plan_builder *builder,
                                const struct cohort__request *request);
struct cohort__cost cohort__all_reduce_compose_cost(const struct cohort__request *request);

/* Gather, then broadcast. */
void cohort__all_gather_compose(struct cohort__plan_builder *builder,
                                const struct cohort__request *request);

#endif
