/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_BYTE_STEPS_H
#define COHORT_COLLECTIVES_EXEC_BYTE_STEPS_H

#include "collectives/exec/execution.h"

/* SEND, RECV, COPY, ZERO and REDUCE where the blocks of a plan are the bytes of the caller. */
extern const struct cohort__step_mode cohort__byte_mode;

#endif
