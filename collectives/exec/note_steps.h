/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_NOTE_STEPS_H
#define COHORT_COLLECTIVES_EXEC_NOTE_STEPS_H

#include "collectives/exec/execution.h"

/* The POST and READ steps of a plan. All of this happens in the endpoint's turn, between enter and
 * leave of the execution, except init. */
struct cohort__note_step {
    struct cohort__notice notice;
    struct cohort__item item; /* tells that it is ready */
    struct cohort__execution *execution;
    uint32_t step;
};

/* By the caller's thread, when the rest of the execution is initialised. */
void cohort__note_steps_init(struct cohort__execution *execution);

/* The call starts. Fails it if there is no noticeboard. */
void cohort__note_steps_begin(struct cohort__execution *execution);

/* STEP starts. */
void cohort__note_post(struct cohort__execution *execution, uint32_t step);
void cohort__note_read(struct cohort__execution *execution, uint32_t step);

/* The execution fails: those who wait for its notes are told. */
void cohort__note_steps_fail(struct cohort__execution *execution);

/* It is over: nothing of it is under way. */
void cohort__note_steps_end(struct cohort__execution *execution);

/* STEP waits. The site that it waits for: for a READ that has come too late, that which has left
 * out this generation; else its peer. */
uint32_t cohort__note_awaited(const struct cohort__execution *execution, uint32_t step);

/* It has waited for long: asks those for whom a POST has no place. (A READ asks like a RECV.) */
void cohort__note_steps_stalled(struct cohort__execution *execution);

/* Appends for whom they wait. Returns the new length. */
size_t cohort__note_steps_describe(const struct cohort__execution *execution, char *text,
                                   size_t used, size_t capacity);

#endif
