/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_WALK_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_WALK_H

#include "collectives/algo/pattern/layout.h"

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

#endif
