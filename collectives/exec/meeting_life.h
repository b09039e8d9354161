/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_LIFE_H
#define COHORT_COLLECTIVES_EXEC_MEETING_LIFE_H

#include "collectives/exec/meeting.h"
#include "collectives/exec/meetings.h"

/* How a meeting begins and ends. All of this with the lock held. */

/* A meeting for PARTICIPANT, which is to enter it. NULL: there is no memory. */
struct cohort__meeting *cohort__meeting_open(struct cohort__meetings *meetings,
                                             const struct cohort__participant *participant);

/* Tells the other localities up to which post this one reads none any more: all of the last
 * generation that has ended, or all below one to which all sites here have come. But a meeting that
 * is still under way needs its posts. */
void cohort__meetings_pass(struct cohort__meetings *meetings);

/* The last participant has left. */
void cohort__meeting_end(struct cohort__meetings *meetings, struct cohort__meeting *meeting);

/* Fails MEETING, which is open, gathered or reduced, with ERROR. Adds the participants that are
 * inside, except EXCEPT, to *TOLD. */
void cohort__meeting_fail(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                          const struct cohort__error *error,
                          const struct cohort__participant *except,
                          struct cohort__participant **told);

#endif
