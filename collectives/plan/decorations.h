/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_DECORATIONS_H
#define COHORT_COLLECTIVES_PLAN_DECORATIONS_H

#include "collectives/plan/plan.h"

/* Plans made from others: with what a call wants besides. */

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
