/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_DIRECT_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_DIRECT_H

#include "collectives/algo/algorithm.h"

/* All-to-alls in which every block goes directly to its site, in num_sites - 1 rounds. */

/* The partners of site i in round j = 1 .. num_sites - 1. */
enum cohort__partners {
    COHORT__PARTNERS_BY_OFFSET, /* sends to i + j, receives from i - j, modulo num_sites */
    COHORT__PARTNERS_BY_XOR,    /* both with i XOR j; num_sites is a power of two */
};

/* The message of round j is sent when those of round j - WINDOW have been sent and received. So at
 * most WINDOW are under way in each direction. Receives are posted at once: they cost nothing, and
 * what comes early goes directly to its place. A window of num_sites is no limit. */
cohort_status cohort__all_to_all_direct(const struct cohort__request *request, const char *name,
                                        enum cohort__partners partners, uint32_t window,
                                        struct cohort__plan **ret_plan);

/* The same steps for the builder's first 2 num_ranks blocks. Block r goes to rank r. Block
 * num_ranks + r comes from there. */
void cohort__all_to_all_direct_append(struct cohort__plan_builder *builder, uint32_t num_ranks,
                                      uint32_t this_rank, enum cohort__partners partners,
                                      uint32_t window);

struct cohort__cost cohort__all_to_all_direct_cost(const struct cohort__request *request);

#endif
