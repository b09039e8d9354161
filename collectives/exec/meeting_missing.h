/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_MISSING_H
#define COHORT_COLLECTIVES_EXEC_MEETING_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/message.h"
#include "collectives/exec/inquiry.h"
#include "collectives/exec/participant.h"

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
