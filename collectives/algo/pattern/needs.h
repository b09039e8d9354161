/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_NEEDS_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_NEEDS_H

#include "collectives/algo/algorithm.h"

/* The `needs` and `accepts` of several rows. */
extern const char cohort__needs_power_of_two[];
bool cohort__is_power_of_two(const struct cohort__request *request);

extern const char cohort__needs_commutative[];
bool cohort__is_commutative(const struct cohort__request *request);

/* Whether NUM_SITES sites can handle blocks of COUNT elements of ELEMENT bytes, with any row. The
 * blocks that one site may have, the caller's and the row's own, must take less memory than can be
 * addressed. */
bool cohort__sizes_fit(enum cohort__collective collective, uint32_t num_sites, size_t count,
                       size_t element);

#endif
