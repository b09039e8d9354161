/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_BRING_H
#define COHORT_COLLECTIVES_EXEC_MEETING_BRING_H

#include "collectives/exec/meeting.h"
#include "collectives/exec/meetings.h"

/* Copies what the sites of this locality bring to a meeting to the board, and posts it. Much data
 * is copied by works, without the lock. Until they are done, no participant is told that the
 * meeting has failed, since after that its buffers may be gone. */

/* With the lock held, for a gathered meeting that is next: copies what its sites bring to the
 * board, and posts it. True: it is posted. False: there is no place yet, or works copy it. The last
 * of these calls OVER, which has to post it. */
bool cohort__meeting_bring(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                           void (*over)(struct cohort__crew *crew));

#endif
