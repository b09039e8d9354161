/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_EXCEPTIONS_H
#define COHORT_RUNTIME_TASK_EXCEPTIONS_H

#include <stdbool.h>

/* Exceptions of C++. Its runtime library keeps what is caught, and how many are on their way, for
 * each thread, since it takes a thread for a stack. So who leaves a stack takes that along. Cohort
 * itself has no C++: where no such library is in the process there is nothing to do. */

/* What the C++ ABI (Itanium) calls __cxa_eh_globals. */
struct cohort__exceptions {
    void *caught;          /* a list, the latest first */
    unsigned num_uncaught; /* std::uncaught_exceptions() */
#if defined(__ARM_EABI_UNWINDER__)
    void *propagating;
#endif
};

/* Looks for the library. Returns whether there is one. A program in C may have opened it with a
 * plugin. Any thread. */
bool cohort__exceptions_watch(void);

/* Moves the calling thread's exceptions to *RET_LEFT, so that it has none. */
void cohort__exceptions_leave(struct cohort__exceptions *ret_left);

/* Gives LEFT to the calling thread, which has none. It may be another thread than that of leave. */
void cohort__exceptions_return(const struct cohort__exceptions *left);

#endif
