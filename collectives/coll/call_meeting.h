/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COLL_CALL_MEETING_H
#define COHORT_COLLECTIVES_COLL_CALL_MEETING_H

#include "collectives/coll/call.h"

/* Starts CALL without a plan, by a meeting of its sites, which share memory. */
cohort_future *cohort__call_meet(const struct cohort__call *call, uint32_t root, uint32_t shift,
                                 uint64_t fingerprint, const struct cohort__signature *signature);

/* How many bytes a meeting copies at this site because CALL is in place. */
size_t cohort__call_meeting_copies(const struct cohort__call *call);

#endif
