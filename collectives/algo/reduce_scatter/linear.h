/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_REDUCE_SCATTER_LINEAR_H
#define COHORT_COLLECTIVES_ALGO_REDUCE_SCATTER_LINEAR_H

#include "collectives/algo/pattern/vector.h"

/* Reduce-scatter, linear, in reduce_scatter/linear.c. Each site sends its pieces of IN directly to
 * the sites that they are for, in phase 1. This site reduces its own piece, strictly from the left,
 * to RESULT. Returns the step after which it is there. For more than one site. */
uint32_t cohort__reduce_scatter_direct(struct cohort__plan_builder *builder,
                                       const struct cohort__request *request,
                                       const struct cohort__vector *in, uint32_t result);

struct cohort__cost cohort__reduce_scatter_direct_cost(const struct cohort__vector *in);

#endif
