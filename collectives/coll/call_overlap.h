/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_OVERLAP_H
#define COHORT_COLLECTIVES_COLL_CALL_OVERLAP_H

#include "collectives/coll/call_sides.h"

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
