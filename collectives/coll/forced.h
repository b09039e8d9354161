/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_FORCED_H
#define COHORT_COLLECTIVES_COLL_FORCED_H

#include "collectives/algo/algorithm.h"
#include "collectives/comm/endpoint.h"

/* Algorithms that the user forces by name. "levels(ring)" is the composed row levels, whose leaders
 * use the row ring. */

/* The row called NAME. COHORT_ERR_BAD_PARAMETER if there is none, with the names that there are. */
cohort_status cohort__forced_find(enum cohort__collective collective, const char *name,
                                  struct cohort__forced *ret_forced);

/* Reads "all_to_all=bruck,all_reduce=ring" (NULL and "" are empty) into FORCED, which has a place
 * for each collective. COHORT_ERR_BAD_PARAMETER, with a message that says what is wrong. */
cohort_status cohort__forced_parse(const char *text, struct cohort__forced *forced);

/* The reverse, in the order of the collectives. Cut off at BYTES. */
void cohort__forced_print(const struct cohort__forced *forced, char *text, size_t bytes);

#endif
