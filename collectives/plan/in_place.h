/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_IN_PLACE_H
#define COHORT_COLLECTIVES_PLAN_IN_PLACE_H

#include "collectives/plan/plan.h"

/* Plans for calls in place, made from any plan without a GUARD. They keep the data that is in place
 * in TMP, which takes as much memory as the part of the buffer that the plan uses. PLAN still
 * belongs to the caller. Both functions may return PLAN itself, with one more reference.
 * COHORT_ERR_NO_MEMORY. */

/* The input is in OUT: byte 0 of IN is byte OFFSET of OUT. What the plan reads of IN is copied from
 * there to TMP before anything else happens at this site. */
cohort_status cohort__plan_in_place(struct cohort__plan *plan, size_t offset,
                                    struct cohort__plan **ret_plan);

/* The caller has no OUT and doesn't want its contents. */
cohort_status cohort__plan_without_out(struct cohort__plan *plan, struct cohort__plan **ret_plan);

#endif
