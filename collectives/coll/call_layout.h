/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_LAYOUT_H
#define COHORT_COLLECTIVES_COLL_CALL_LAYOUT_H

#include "collectives/coll/call.h"

/* The two buffers of a call, as far as they are used: what of them is read and written where. */

/* What the call reads of a buffer, or writes there. */
struct cohort__side_parts {
    const struct cohort__part *list;
    uint32_t num;
    struct cohort__part only; /* of which the list may be: blocks have one size */
};

/* One buffer. */
struct cohort__side {
    const char *name;
    unsigned char *base;
    struct cohort__side_parts parts;     /* of OUT: what is written */
    const cohort_layout *layout;         /* of the elements of all parts, by an option; or NULL */
    const cohort_layout *const *layouts; /* of each part, some of them NULL; or NULL */
    size_t end; /* of all that is read and written, if no layout says otherwise */
};

/* Both, and what is read where. A buffer that the call does not have, or that is in place, has the
 * end 0. */
struct cohort__sides {
    struct cohort__side in;
    struct cohort__side out;
    struct cohort__side_parts input; /* of OUT, if that has the input */
};

/* Fails if blocks that CALL receives overlap. Slow, so only done for new plans, whose keys say
 * where the blocks are. */
cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__shape *shape);

/* And the options in_layout and out_layout of a call. */

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
