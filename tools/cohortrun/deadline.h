/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a timer that lets what has already arrived be read first. */
#ifndef COHORT_TOOLS_COHORTRUN_DEADLINE_H
#define COHORT_TOOLS_COHORTRUN_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/loop/timer.h"

/* Calls FUNCTION(CONTEXT) once after a while; may be put off or called off meanwhile. What has come
 * in by then is read first: who was stopped, or had no core, has not listened. It has to outlive
 * the loop. */
struct deadline {
    struct cohort__timer timer;
    struct cohort__loop *loop;
    void (*function)(void *context);
    void *context;
    uint64_t at;   /* in the clock's nanoseconds; 0: not set */
    bool running;  /* the timer, perhaps for an earlier deadline */
    bool hurried;  /* and it was cancelled, to begin anew */
    bool listened; /* the loop has had a turn since the deadline */
};

void deadline_init(struct deadline *deadline, struct cohort__loop *loop,
                   void (*function)(void *context), void *context);

/* In place of what was set before. */
void deadline_set(struct deadline *deadline, uint64_t nanoseconds);
void deadline_clear(struct deadline *deadline);
bool deadline_is_set(const struct deadline *deadline);

#endif
