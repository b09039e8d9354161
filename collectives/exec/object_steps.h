/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_OBJECT_STEPS_H
#define COHORT_COLLECTIVES_EXEC_OBJECT_STEPS_H

#include "collectives/exec/execution.h"

/* Runs plans for blocks with objects of any length: each byte of IN, OUT and TMP stands for a slot
 * with one object. So a plan for blocks of one byte moves one object for each block. A SEND is one
 * message of as many objects as it has bytes. A COPY shares the objects. */
extern const struct cohort__step_mode cohort__object_mode;

/* How many bytes the slots of PLAN take. */
size_t cohort__object_slots_bytes(const struct cohort__plan *plan);

/* What this mode and that of sparse calls have in common: handlers of struct cohort__step_mode, and
 * their parts. */
void cohort__objects_send(struct cohort__execution *execution, uint32_t step);
void cohort__objects_receive(struct cohort__execution *execution, uint32_t step,
                             struct cohort__message *message);
void cohort__objects_compute(struct cohort__execution *execution, uint32_t step);

/* Makes all slots empty, for a new run. */
void cohort__objects_init(struct cohort__execution *execution);

/* Empties the slots of SPACE. */
void cohort__objects_empty(struct cohort__execution *execution, enum cohort__space space);

/* Empties all slots. */
void cohort__objects_release(struct cohort__execution *execution);

#endif
