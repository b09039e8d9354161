/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a timer that lets what has already arrived be read first. */
#ifndef COHORT_TOOLS_COHORTRUN_DEADLINE_H
#define COHORT_TOOLS_COHORTRUN_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/loop/loop.h"

/* Calls FUNCTION(CONTEXT) once, when a time is over. Until then it can be set again or cleared.
 * Before the call, the loop reads what has already arrived: if this process was stopped, or had no
 * core, it may not have read it in time. A deadline has to outlive the loop. */
struct deadline {
    struct cohort__timer timer;
    struct cohort__loop *loop;
    void (*function)(void *context);
    void *context;
    uint64_t at;   /* in the clock's nanoseconds; 0: not set */
    bool running;  /* the timer, perhaps for an earlier deadline */
    bool hurried;  /* the timer was cancelled, to start it again */
    bool listened; /* the loop has run once since the deadline */
};

void deadline_init(struct deadline *deadline, struct cohort__loop *loop,
                   void (*function)(void *context), void *context);

/* Replaces what was set before. */
void deadline_set(struct deadline *deadline, uint64_t nanoseconds);
void deadline_clear(struct deadline *deadline);
bool deadline_is_set(const struct deadline *deadline);

#endif
