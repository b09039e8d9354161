/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_STEP_DEFECT_H
#define COHORT_COLLECTIVES_PLAN_STEP_DEFECT_H

#include "collectives/plan/plan.h"

/* What the checks of a plan say about a step that is wrong. */

/* COHORT_ERR_BAD_PARAMETER, with a message about STEP of PLAN. */
cohort_status cohort__step_defect_fail(const struct cohort__plan *plan, uint32_t step,
                                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
