/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_FORK_H
#define COHORT_RUNTIME_TASK_FORK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cohort/future.h"

/* What is unusual about this process, in one byte, so that what is called often asks only once. */
enum {
    COHORT__UNUSUAL_CHILD = 1,  /* it was forked while the runtime was up, see below */
    COHORT__UNUSUAL_SCOPES = 2, /* a scope has been created in it */
    COHORT__UNUSUAL_HOOKS = 4,  /* cohort_hooks_set */
};

extern atomic_uchar cohort__unusual;

/* Mostly 0. */
static inline unsigned cohort__what_is_unusual(void)
{
    return atomic_load_explicit(&cohort__unusual, memory_order_relaxed);
}

/* A child that is forked while the runtime is up (by a task, by an operation of the user's, or by a
 * thread outside) has no runtime: its other threads are missing, and the messages, the shared
 * memory and the job that it sees are its parent's. To the child the scheduler looks as before the
 * start, so that nothing waits or is started there. What would act for the locality asks first
 * whether this is a child, and a function that the runtime has called does not return to it. */

/* Whether this process is such a child. */
static inline bool cohort__fork_is_child(void)
{
    return __builtin_expect(cohort__what_is_unusual() & COHORT__UNUSUAL_CHILD, 0);
}

/* From now on forks are noticed. COHORT_ERR_NO_MEMORY. Once is enough, more does no harm. */
cohort_status cohort__fork_watch(void);

/* COHORT_ERR_STATE, with a message: FUNCTION was called in a child. */
cohort_status cohort__fork_refuse(const char *function);
cohort_future *cohort__fork_refused(const char *function); /* the same in a future */

/* Ends the child: its exit status is 0 where STATUS is COHORT_OK, else 1. */
_Noreturn void cohort__fork_end(cohort_status status);

#endif
