/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_SIDES_H
#define COHORT_COLLECTIVES_COLL_CALL_SIDES_H

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

#endif
