/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_UNCAUGHT_H
#define COHORT_RUNTIME_TASK_UNCAUGHT_H

#include <unwind.h>

/* An exception of C++ that leaves a task, or another function that is called. Below it are frames
 * in C, which hold what would be left as it is, and perhaps a task that catches what is not its
 * own. */

/* Called by who throws an exception that nobody catches above a frame that has the statement
 * COHORT__STOPS_EXCEPTIONS. Says whose it is; then who throws calls std::terminate, on the stack as
 * it is. */
_Unwind_Reason_Code
cohort__uncaught_stop(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
                      struct _Unwind_Exception *exception, struct _Unwind_Context *context)
    __attribute__((visibility("hidden"))); /* so that its place is known in a shared library */

/* Makes that the personality of the frame of the function that this is in. It is data for the
 * unwinder: no instruction. 0x1b: a place relative to its own, in 4 bytes. Without unwind tables an
 * exception ends here in any case, but nothing is said. */
#if !defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define COHORT__STOPS_EXCEPTIONS ((void)0)
#else
#if defined(__x86_64__)
#define COHORT__PLACE_OF_FUNCTION "i"
#else
#define COHORT__PLACE_OF_FUNCTION "S"
#endif
#define COHORT__STOPS_EXCEPTIONS                                                                   \
    __asm__ volatile(".cfi_personality 0x1b, %c0"                                                  \
                     :                                                                             \
                     : COHORT__PLACE_OF_FUNCTION(cohort__uncaught_stop))
#endif

#endif
