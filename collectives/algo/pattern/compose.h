/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_COMPOSE_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_COMPOSE_H

#include "collectives/algo/algorithm.h"

/* The collectives of two phases, up a tree (phase 1) and down again (phase 3). With an arity of
 * num_sites the tree has one level, and they are compositions of two linear primitives. NAME is the
 * plan's. */

/* Reduce, then broadcast. */
cohort_status cohort__all_reduce_compose(const struct cohort__request *request, uint32_t arity,
                                         const char *name, struct cohort__plan **ret_plan);
struct cohort__cost cohort__all_reduce_compose_cost(const struct cohort__request *request,
                                                    uint32_t arity);

/* Gather, then broadcast. */
cohort_status cohort__all_gather_compose(const struct cohort__request *request, uint32_t arity,
                                         const char *name, struct cohort__plan **ret_plan);

#endif
