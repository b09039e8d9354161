/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEET_H
#define COHORT_COLLECTIVES_EXEC_MEET_H

#include "collectives/exec/execution.h"
#include "collectives/exec/participant.h"

/* The MEET steps of a plan: this site in the meetings of its locality. It enters all of them when
 * the call starts, so that nobody takes it for one that has left the call out, and is ready for
 * each of them when the step starts. From entering until it has left, it counts as an activity. All
 * of this, except init, happens in the endpoint's turn, between enter and leave of the execution.
 */
struct cohort__meet {
    struct cohort__participant participant;
    struct cohort__execution *execution;
    uint32_t step;
    struct cohort__error early; /* why the meeting has failed before the sites have agreed */
    bool is_early_told;         /* the sites that depend on it know that */
    bool is_over;               /* it has been told, or has failed */
};

/* By the caller's thread, when the rest of the execution is initialised. */
void cohort__meets_init(struct cohort__execution *execution);

/* The call starts: enters all meetings. */
void cohort__meets_enter(struct cohort__execution *execution);

/* STEP starts. */
void cohort__meet_start(struct cohort__execution *execution, uint32_t step);

/* The execution fails. Sites that wait for this one in a meeting fail, too. */
void cohort__meets_fail(struct cohort__execution *execution);

/* It has waited for long: asks those for whom meetings wait that have started. */
void cohort__meets_stalled(struct cohort__execution *execution);
void cohort__meets_answer(struct cohort__execution *execution, uint32_t site,
                          enum cohort__answer answer);

/* A site that has answered one of them that it has not called, or COHORT__NO_SITE. */
uint32_t cohort__meets_find_absent(const struct cohort__execution *execution);

/* Appends for whom they wait. Returns the new length. */
size_t cohort__meets_describe(const struct cohort__execution *execution, char *text, size_t used,
                              size_t capacity);

#endif
