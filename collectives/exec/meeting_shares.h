/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_SHARES_H
#define COHORT_COLLECTIVES_EXEC_MEETING_SHARES_H

#include "collectives/exec/meeting.h"
#include "collectives/exec/meetings.h"

/* An all_reduce of much data among several localities, each of which reduces a share of it. */

/* Whether the localities share the reduction. */
bool cohort__meeting_has_shares(const struct cohort__meetings *meetings,
                                const struct cohort__meeting *meeting);

/* If so: this locality's share, from *RET_BEGIN to *RET_END in bytes. Only this locality reads what
 * the others bring of it, and no other locality reads what this one brings of it. */
void cohort__meeting_own_share(const struct cohort__meetings *meetings,
                               const struct cohort__meeting *meeting, size_t *ret_begin,
                               size_t *ret_end);

/* Without the lock, when all shares are made: copies them to the outputs. */
void cohort__meeting_collect(struct cohort__meeting *meeting);

/* Without the lock: makes this locality's share of the result. True: it is made. False: it is much,
 * so works make it, and the last of them calls OVER. */
bool cohort__meeting_reduce(struct cohort__meeting *meeting,
                            void (*over)(struct cohort__crew *crew));

#endif
