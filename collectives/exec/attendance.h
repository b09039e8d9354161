/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_ATTENDANCE_H
#define COHORT_COLLECTIVES_EXEC_ATTENDANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/message.h"
#include "collectives/exec/meeting.h"
#include "collectives/exec/participant.h"
#include "runtime/base/error.h"

/* How the participants of meetings come, get ready, fail and leave: what their owners call, each in
 * the turn of its endpoint. What a meeting does then is in the meeting_*.c. */

/* Why a participant may not enter. */
struct cohort__refusal {
    struct cohort__error error; /* the caller frees its text */
    bool is_told;               /* the sites that depend on it know that error */
};

/* PARTICIPANT's site comes to the meeting. If it may not, sets *RET_REFUSAL, which is all zero.
 * Else it is told later. But it stays outside, and is not told, if its endpoint has been told
 * already that the call has failed, and is about to fail it.
 *
 * A call enters all its meetings when it starts, in the order of their indices. A site that has
 * come to a meeting of a later call has left out the earlier ones in which it is not. */
void cohort__participant_enter(struct cohort__participant *participant,
                               struct cohort__refusal *ret_refusal);

/* The buffers of PARTICIPANT, which has entered without being ready, may be read and written from
 * now on, until it is told. The data moves when all have entered and are ready. In any order. Does
 * nothing if the meeting has failed, or PARTICIPANT is not inside. */
void cohort__participant_ready(struct cohort__participant *participant);

/* The operation fails, with its `failure`: so does the meeting, now or later. True: now, or
 * PARTICIPANT is not inside; it is not told. False: it will be told. */
bool cohort__participant_fail(struct cohort__participant *participant);

/* It has been told, or the meeting has failed with it. Does nothing if it is not inside. */
void cohort__participant_leave(struct cohort__participant *participant);

/* Which sites a meeting waits for. Asked when an operation has waited for long, in the turn of a
 * participant's endpoint. */

/* Returns how many sites have not come yet, or are not ready. Sets *RET_INQUIRY to some of them,
 * with what they have answered so far: those that are asked now, if any are. */
uint32_t cohort__participant_missing(const struct cohort__participant *participant,
                                     struct cohort__inquiry *ret_inquiry);

/* Whether PARTICIPANT is to ask for its meeting. Only one that is ready waits for others. If so:
 * *RET_INQUIRY is whom, and what they have answered before; and the next look checks all posts that
 * are there, even behind one that is missing. */
bool cohort__participant_inquires(const struct cohort__participant *participant,
                                  struct cohort__inquiry *ret_inquiry);

/* A site that is missing and has answered that it has not called, or COHORT__NO_SITE. */
uint32_t cohort__participant_absent(const struct cohort__participant *participant);

/* SITE has answered. */
void cohort__participant_answered(const struct cohort__participant *participant, uint32_t site,
                                  enum cohort__answer answer);

#endif
