/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_OBJECT_STEPS_H
#define COHORT_COLLECTIVES_EXEC_OBJECT_STEPS_H

#include "collectives/exec/execution.h"

/* Objects of any length by the plans for blocks: each byte of IN, OUT and TMP stands for a slot
 * with one object. So a plan for blocks of one byte moves one object for each block, a SEND is one
 * message of as many objects as it has bytes, and a COPY shares. */
extern const struct cohort__step_mode cohort__object_mode;

/* How much memory the slots of PLAN take. */
size_t cohort__object_slots_bytes(const struct cohort__plan *plan);

#endif
