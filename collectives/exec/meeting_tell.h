/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_TELL_H
#define COHORT_COLLECTIVES_EXEC_MEETING_TELL_H

#include <stdbool.h>

#include "collectives/exec/meeting.h"
#include "collectives/exec/participant.h"

/* How the participants of a meeting learn that it is over, each in its own endpoint's turn. */

/* Prepares the bunches of a new meeting of NUM_LOCAL sites of this locality. False: there is no
 * memory. */
bool cohort__meeting_bunches_create(struct cohort__meeting *meeting, uint32_t num_local);

/* With the lock held: PARTICIPANT, which the calling worker has made, has entered. */
void cohort__meeting_bunch(struct cohort__meeting *meeting,
                           struct cohort__participant *participant);

/* Forgets who is in which bunch. */
void cohort__meeting_bunches_empty(struct cohort__meeting *meeting);

/* Without the lock: tells each of PARTICIPANTS, a list, that its meeting has failed. */
void cohort__participants_tell(struct cohort__participant *participants);

/* All are there, and the data has been moved, or the user's operation has failed: tells all
 * participants. */
void cohort__meeting_over(struct cohort__meeting *meeting);

/* In the turn of its endpoint: PARTICIPANT has been told, and its operation has failed: unless
 * somebody has done so, tells the sites that are not in its meeting. */
void cohort__participant_tell_outside(const struct cohort__participant *participant);

#endif
