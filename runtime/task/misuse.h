/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_MISUSE_H
#define COHORT_RUNTIME_TASK_MISUSE_H

#include "cohort/future.h"
#include "runtime/base/misuse.h"

/* What a program has done wrong with a future or a promise. */
enum cohort__misuse_kind {
    COHORT__MISUSE_GONE,     /* used after the last reference was given back */
    COHORT__MISUSE_SHARED,   /* given away, or awaited, twice at a time with one reference */
    COHORT__MISUSE_COMPLETE, /* a promise was fulfilled, or failed, before */
};

/* Ends the program by SIGABRT, after one line on standard error: that public FUNCTION was called
 * for FUTURE, by CALLER (a return address), and what of it is wrong; and what FUTURE is or was, as
 * far as its memory still tells. */
_Noreturn void cohort__misuse(enum cohort__misuse_kind kind, const cohort_future *future,
                              const char *function, const void *caller)
    __attribute__((cold, noinline));

#endif
