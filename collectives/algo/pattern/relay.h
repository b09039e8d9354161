/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_RELAY_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_RELAY_H

#include "collectives/algo/algorithm.h"

/* One block at each site, all of which move at the same time, hop by hop: in each hop every site
 * passes on the block that it has to one site and gets that of one other, or keeps it. */

/* What this site does in one hop: both are this site, or none is. */
struct cohort__hop {
    uint32_t to;
    uint32_t from;
};

/* From IN to OUT over NUM_HOPS hops, the same number at all sites. TMP: a block at a site with two
 * hops or more: received blocks take turns in it and OUT. */
cohort_status cohort__relay_build(const struct cohort__request *request, const char *name,
                                  const struct cohort__hop *hops, uint32_t num_hops,
                                  struct cohort__plan **ret_plan);

/* NUM_HOPS hops in which all sites move. */
struct cohort__cost cohort__relay_cost(const struct cohort__request *request, uint32_t num_hops);

#endif
