/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_MOVE_H
#define COHORT_COLLECTIVES_EXEC_MEETING_MOVE_H

#include "collectives/exec/meeting.h"

/* Without the lock. All are there: moves the data, by works if it is much, and tells all. */
void cohort__meeting_move(struct cohort__meeting *meeting);

#endif
