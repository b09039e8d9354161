/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_STEPS_H
#define COHORT_COLLECTIVES_EXEC_STEPS_H

#include "collectives/comm/message.h"
#include "collectives/exec/execution.h"

/* Each kind of step goes its way from here. Between enter and leave of the execution. */

/* STEP, which waits for no other step any more, begins. */
void cohort__step_start(struct cohort__execution *execution, uint32_t step);

/* A message for a RECV. Takes MESSAGE. */
void cohort__step_message(struct cohort__execution *execution, struct cohort__message *message);

#endif
