/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_LAYOUT_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_LAYOUT_H

#include "collectives/algo/pattern/tree.h"

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

/* A primitive that moves blocks of weights[rank] * bytes between the ranks of a level and rank 0:
 * cohort__gather_linear_fragment or cohort__scatter_linear_fragment. */
typedef cohort_status cohort__level_fragment(const struct cohort__request *request,
                                             const uint32_t *weights,
                                             struct cohort__plan **ret_plan);

/* Embeds this primitive for one level. A rank's block is the blocks of its group. Returns what
 * cohort__plan_embed does. */
uint32_t cohort__layout_embed(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                              uint32_t level, const struct cohort__layout *layout,
                              cohort__level_fragment *build, unsigned phase, uint32_t after,
                              uint32_t recv_after);

#endif
