/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_AGREEMENT_H
#define COHORT_COLLECTIVES_ALGO_AGREEMENT_H

#include "collectives/algo/algorithm.h"

/* Agreement in front of a collective, a decoration of its plan: in phase 0 all sites take the
 * minimum of their 8 bytes CHECK, four int16, then a GUARD looks at it, and nothing of the
 * collective starts before. */

/* The all_reduce that does it, for the sites of CALL: a row for this request is chosen and built by
 * who decorates. Depends on nothing but the sites and the arity, so all sites choose the same one,
 * whatever is wrong with their arguments. */
struct cohort__request cohort__agreement_request(const struct cohort__request *call);

/* MINIMUM is the plan for that request. COLLECTIVE comes after it; NULL: nothing does. Both stay
 * the caller's. */
cohort_status cohort__agreement_build(const struct cohort__plan *minimum,
                                      const struct cohort__plan *collective,
                                      struct cohort__plan **ret_plan);

#endif
