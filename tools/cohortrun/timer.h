/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a timer that lets what has already arrived be read first. */
#ifndef COHORT_TOOLS_COHORTRUN_TIMER_H
#define COHORT_TOOLS_COHORTRUN_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/loop/loop.h"

/* Calls FUNCTION(CONTEXT) once, when a time is over. Until then it can be set again or cleared.
 * Before the call, the loop reads what has already arrived: if this process was stopped, or had no
 * core, it may not have read it in time. A timer has to outlive the loop. */
struct timer {
    struct cohort__timer own;
    struct cohort__loop *loop;
    void (*function)(void *context);
    void *context;
    uint64_t at;   /* in the clock's nanoseconds; 0: not set */
    bool running;  /* `own`, perhaps for an earlier time */
    bool hurried;  /* it was cancelled, to start it again */
    bool listened; /* the loop has run once since that time */
};

void timer_init(struct timer *timer, struct cohort__loop *loop, void (*function)(void *context),
                void *context);

/* Replaces what was set before. */
void timer_set(struct timer *timer, uint64_t nanoseconds);
void timer_clear(struct timer *timer);
bool timer_is_set(const struct timer *timer);

#endif
