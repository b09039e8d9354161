/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_LAYOUT_H
#define COHORT_COLLECTIVES_COLL_CALL_LAYOUT_H

#include "collectives/coll/call.h"

/* Where the elements of a call lie: its buffers must not overlap, and may have layouts. */

/* Fails if blocks that CALL receives overlap. Slow, so only done for new plans, whose keys say
 * where the blocks are. */
cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__shape *shape);

/* The options in_layout and out_layout. */

static inline bool cohort__call_has_layouts(const struct cohort__call *call)
{
    return call->options->in_layout || call->options->out_layout;
}

/* Whether CALL, which has layouts, may have them. Says whether it holds rows. */
cohort_status cohort__call_check_layouts(struct cohort__call *call);

/* Checks where the elements of CALL are, which is ragged or has layouts, and whose SHAPE and ENTRY
 * are known. Where its layouts say so, gives it buffers whose elements lie one behind the other,
 * with those of IN in them; from then on `sequel` has to be given to the call. A failure leaves
 * CALL as it was. */
cohort_status cohort__call_lay(struct cohort__call *call, const struct cohort__shape *shape,
                               struct cohort__plan_entry *entry);

#endif
