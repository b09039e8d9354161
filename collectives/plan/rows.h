/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_ROWS_H
#define COHORT_COLLECTIVES_PLAN_ROWS_H

#include "collectives/plan/plan.h"

/* A row of OUT: these bytes. */
struct cohort__row {
    size_t offset;
    size_t bytes;
};

/* The same plan as PLAN, which has no GUARD and stays the caller's, with a DONE step for each of
 * plan->num_sites ROWS, which don't overlap: it waits for all steps that write to that row. (It may
 * still be read afterwards, for sending it on.) COHORT_ERR_NO_MEMORY. */
cohort_status cohort__plan_rows(struct cohort__plan *plan, const struct cohort__row *rows,
                                struct cohort__plan **ret_plan);

#endif
