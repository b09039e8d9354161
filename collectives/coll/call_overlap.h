/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_OVERLAP_H
#define COHORT_COLLECTIVES_COLL_CALL_OVERLAP_H

#include "collectives/coll/call.h"

/* Fails if blocks that CALL receives overlap, or, where IN and OUT are one array, one that it
 * receives and one that it sends. Slow, so only done for new plans. */
cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__shape *shape);

#endif
