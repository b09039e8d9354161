/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_NEEDS_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_NEEDS_H

#include "collectives/algo/algorithm.h"

/* For `needs` and `accepts` of several rows. */
extern const char cohort__needs_power_of_two[];
bool cohort__is_power_of_two(const struct cohort__request *request);

extern const char cohort__needs_commutative[];
bool cohort__is_commutative(const struct cohort__request *request);

/* Whether blocks of COUNT elements of ELEMENT bytes can be dealt with at NUM_SITES sites, by any
 * row: as many of them as one may have at a site, for the caller or for itself, are less than can
 * be addressed. */
bool cohort__sizes_fit(enum cohort__collective collective, uint32_t num_sites, size_t count,
                       size_t element);

#endif
