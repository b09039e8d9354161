/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_IN_PLACE_H
#define COHORT_COLLECTIVES_PLAN_IN_PLACE_H

#include "collectives/plan/plan.h"

/* Plans for calls in place, made from any plan without a GUARD, by what is in place being kept in
 * TMP: as much as the part of the buffer that the plan reaches into. PLAN stays the caller's. Both
 * may give back PLAN itself, with one reference more. COHORT_ERR_NO_MEMORY. */

/* Byte 0 of IN is byte OFFSET of OUT: what is read of IN is copied from there to TMP before
 * anything else happens at this site. */
cohort_status cohort__plan_in_place(struct cohort__plan *plan, size_t offset,
                                    struct cohort__plan **ret_plan);

/* The caller has no OUT and doesn't want what would be in it. */
cohort_status cohort__plan_without_out(struct cohort__plan *plan, struct cohort__plan **ret_plan);

#endif
