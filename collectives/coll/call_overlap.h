/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_OVERLAP_H
#define COHORT_COLLECTIVES_COLL_CALL_OVERLAP_H

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

void cohort__sides_init(struct cohort__sides *sides, const struct cohort__call *call,
                        const struct cohort__shape *shape);

/* Whether CALL has that buffer of its own. */
bool cohort__call_has_in(const struct cohort__call *call);
bool cohort__call_has_out(const struct cohort__call *call);

/* Fails if blocks that CALL receives overlap. Slow, so only done for new plans, whose keys say
 * where the blocks are. */
cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__shape *shape);

/* Fails if elements that CALL, which is RAGGED or has layouts, receives in OUT are some of those
 * that it sends from IN. Each call has its own buffers, so this is asked each time. What has been
 * found for IN and OUT that lie among each other is kept with the plan. */
cohort_status cohort__call_check_apart(const struct cohort__call *call,
                                       const struct cohort__sides *sides,
                                       struct cohort__plan_entry *entry);

#endif
