/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_UNUSUAL_H
#define COHORT_RUNTIME_TASK_UNUSUAL_H

#include <stdatomic.h>

/* What is unusual about this process, in one byte, so that what is called often asks only once. */
enum {
    COHORT__UNUSUAL_CHILD = 1,  /* it was forked while the runtime was up, see fork.h */
    COHORT__UNUSUAL_SCOPES = 2, /* a scope has been created in it */
    COHORT__UNUSUAL_HOOKS = 4,  /* cohort_hooks_set */
    COHORT__UNUSUAL_OVER = 8,   /* the runtime has ended, and with it all that it had */
};

extern atomic_uchar cohort__unusual; /* fork.c's */

/* Mostly 0. */
static inline unsigned cohort__what_is_unusual(void)
{
    return atomic_load_explicit(&cohort__unusual, memory_order_relaxed);
}

#endif
