/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_SUBPLANS_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_SUBPLANS_H

#include "collectives/algo/pattern/vector.h"

/* What rows do that others are made of. Each is in the file of its row. */

/* The linear primitives over one group of ranks, as subplans for embedding. They are plans like
 * those of the rows, but their blocks have an order that a block map can rely on. With WEIGHTS
 * blocks have different sizes. WEIGHTS NULL: all are 1. */

/* Of a GATHER or a SCATTER. Block 0 is this rank's own, its weight times the request's bytes. At
 * the root, block 1 + r is that of rank r. WEIGHTS: at the root a number for each rank, elsewhere
 * only this rank's. */
cohort_status cohort__rooted_linear_subplan(const struct cohort__request *request,
                                            const uint32_t *weights,
                                            struct cohort__plan **ret_plan);

/* The root's steps, in phase 1 with tag 0: reduces its block OWN and what all others send, strictly
 * from the left, to RESULT. Returns the last REDUCE. For more than one rank. */
uint32_t cohort__reduce_linear_append(struct cohort__plan_builder *builder,
                                      const struct cohort__request *request, uint32_t own,
                                      uint32_t result);

/* How many buffers there are for NUM blocks of BYTES that are received and reduced in this order:
 * NUM, but in no more than 4 MiB, or two. */
uint32_t cohort__reduce_buffers(size_t bytes, uint32_t num);

/* Block r is what goes to rank r. Block num_sites + r is what comes from rank r. From rank a to
 * rank b go weights[a] * weights[b] times the request's bytes. */
cohort_status cohort__all_to_all_linear_subplan(const struct cohort__request *request,
                                                const uint32_t *weights,
                                                struct cohort__plan **ret_plan);

/* The cost of Bruck's all_to_all for NUM_RANKS ranks, with BYTES from each to each other one. */
struct cohort__cost cohort__all_to_all_bruck_cost(uint32_t num_ranks, size_t bytes);

/* Reduce-scatter, linear, not as a subplan, but as steps. Each site sends its pieces of IN
 * directly to the sites that they are for, in phase 1. This site reduces its own piece, strictly
 * from the left, to RESULT. Returns the step after which it is there. For more than one site. */
uint32_t cohort__reduce_scatter_direct(struct cohort__plan_builder *builder,
                                       const struct cohort__request *request,
                                       const struct cohort__vector *in, uint32_t result);

struct cohort__cost cohort__reduce_scatter_direct_cost(const struct cohort__vector *in);

#endif
