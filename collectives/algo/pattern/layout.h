/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_LAYOUT_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_LAYOUT_H

#include "collectives/algo/pattern/tree.h"

/* No block of its own: it is where those of the others are. */
#define COHORT__NO_BLOCK UINT32_MAX

/* Where a site of a tree keeps a block for each site that it stands for, on the way up or down. */
struct cohort__layout {
    size_t bytes;             /* of one site's block */
    uint32_t own;             /* the block of this site's own, or COHORT__NO_BLOCK */
    enum cohort__space space; /* of the others */
    bool by_site;             /* in the order of the sites; else of the tree's numbers, ... */
    uint32_t first;           /* ... beginning with this one ... */
    size_t offset;            /* ... here */
    uint32_t tag;             /* of the messages */
};

/* Its own block in OWN, those of the rest of its subtree in new TMP, none if it is alone. */
struct cohort__layout cohort__layout_in_tmp(struct cohort__plan_builder *builder,
                                            const struct cohort__tree *tree, uint32_t own,
                                            size_t bytes);

/* How many bytes that is at most, over all sites of a tree but the root. */
double cohort__layout_memory(uint32_t num_sites, uint32_t arity, size_t bytes);

/* In a buffer of the caller's, in the order of the sites; but its own block in OWN. */
struct cohort__layout cohort__layout_by_site(enum cohort__space space, uint32_t own, size_t bytes);

/* A primitive that moves blocks of weights[rank] * bytes between the ranks of a level and rank 0:
 * cohort__gather_linear_fragment or cohort__scatter_linear_fragment. */
typedef cohort_status cohort__level_fragment(const struct cohort__request *request,
                                             const uint32_t *weights,
                                             struct cohort__plan **ret_plan);

/* Embeds it for one level, with a rank's block being the blocks of its group. As
 * cohort__plan_embed. */
uint32_t cohort__layout_embed(struct cohort__plan_builder *builder, const struct cohort__tree *tree,
                              uint32_t level, const struct cohort__layout *layout,
                              cohort__level_fragment *build, unsigned phase, uint32_t after,
                              uint32_t recv_after);

#endif
