/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_ALL_TO_ALL_BRUCK_H
#define COHORT_COLLECTIVES_ALGO_ALL_TO_ALL_BRUCK_H

#include "collectives/algo/algorithm.h"

/* Bruck's all-to-all as a fragment for embedding. Block r is what goes to rank r. Block num_sites +
 * r is what comes from rank r. */
cohort_status cohort__all_to_all_bruck_fragment(const struct cohort__request *request,
                                                struct cohort__plan **ret_plan);

/* The cost for NUM_RANKS ranks, with BYTES from each to each other one. */
struct cohort__cost cohort__all_to_all_bruck_cost(uint32_t num_ranks, size_t bytes);

#endif
