/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_RELAY_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_RELAY_H

#include "collectives/algo/algorithm.h"

/* One block at each site. All blocks move at the same time, hop by hop. In each hop every site
 * sends its block to one site and receives that of another one, or keeps its block. */

/* What this site does in one hop. If it keeps its block, both are this site. Else none is. */
struct cohort__hop {
    uint32_t to;
    uint32_t from;
};

/* Moves the block from IN to OUT over NUM_HOPS hops, which must be the same number at all sites.
 * TMP: a block at a site that moves in two hops or more. Received blocks take turns in it and
 * OUT. */
cohort_status cohort__relay_build(const struct cohort__request *request, const char *name,
                                  const struct cohort__hop *hops, uint32_t num_hops,
                                  struct cohort__plan **ret_plan);

/* The cost of NUM_HOPS hops in which all sites move. */
struct cohort__cost cohort__relay_cost(const struct cohort__request *request, uint32_t num_hops);

#endif
