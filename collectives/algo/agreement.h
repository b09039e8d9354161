/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_AGREEMENT_H
#define COHORT_COLLECTIVES_ALGO_AGREEMENT_H

#include "collectives/algo/algorithm.h"

/* An agreement in front of a collective, as a decoration of its plan. In phase 0 all sites take the
 * minimum of their 8 bytes CHECK, four int16. Then a GUARD looks at it. Nothing of the collective
 * starts before, except for early SENDs: those that wait for nothing else, and are short. */

/* At most so many bytes, or objects, are sent early. With so many bytes a message is about as long
 * as one that shares a packet with others may be (COHORT__OFI_MAX_BATCHED): an early SEND is to
 * leave together with the agreement's. The receiver keeps what it sends until the sites agree. Not
 * measured. */
enum { COHORT__EARLY_BYTES = 4000 };

/* The all_reduce of the agreement, for the sites of CALL. The caller chooses a row for it and
 * builds that. The request depends only on the sites and the arity. So all sites choose the same
 * row, even if their arguments are wrong. */
struct cohort__request cohort__agreement_request(const struct cohort__request *call);

/* MINIMUM is the plan for that request. COLLECTIVE comes after it, or NULL: nothing does. Both stay
 * the caller's. */
cohort_status cohort__agreement_build(const struct cohort__plan *minimum,
                                      const struct cohort__plan *collective,
                                      struct cohort__plan **ret_plan);

#endif
