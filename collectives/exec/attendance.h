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

/* If PARTICIPANT is to ask for its meeting, asks. Only one that is ready waits for others, and one
 * of them asks for all. *RET_ASKS: whether it is that one. False: the call has failed, and may be
 * gone. */
bool cohort__participant_ask(const struct cohort__participant *participant, bool *ret_asks);

/* Appends to TEXT, of CAPACITY bytes, at USED, for whom the meeting waits, and BEFORE in front of
 * each. Returns the new length. */
size_t cohort__participant_describe(const struct cohort__participant *participant,
                                    const char *before, char *text, size_t used, size_t capacity);

/* A site that is missing and has answered that it has not called, or COHORT__NO_SITE. */
uint32_t cohort__participant_absent(const struct cohort__participant *participant);

/* SITE has answered. */
void cohort__participant_answered(const struct cohort__participant *participant, uint32_t site,
                                  enum cohort__answer answer);

#endif
