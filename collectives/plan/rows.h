/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_ROWS_H
#define COHORT_COLLECTIVES_PLAN_ROWS_H

#include "collectives/plan/plan.h"

/* A row of OUT: a range of bytes. */
struct cohort__row {
    size_t offset;
    size_t bytes;
};

/* Makes the same plan as PLAN, with a DONE step for each of the NUM ROWS, which must not overlap.
 * The DONE step waits for all steps that write to its row. (Later steps may still read the row, for
 * instance to send it on.) PLAN has no GUARD, and still belongs to the caller.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__plan_rows(struct cohort__plan *plan, const struct cohort__row *rows,
                                uint32_t num, struct cohort__plan **ret_plan);

#endif
