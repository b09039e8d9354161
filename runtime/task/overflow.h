/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_OVERFLOW_H
#define COHORT_RUNTIME_TASK_OVERFLOW_H

#include <stdbool.h>

/* What happens when a task grows beyond the end of its stack: the program ends with SIGSEGV, after
 * one line that names the task's function, the size of the stack and COHORT_STACK. A guard of the
 * stack is noticed at once (crash.c). Known bytes (stack.h) are noticed when the stack is next
 * left. */

struct cohort__fiber;
struct cohort__worker;

/* Whether who accesses ADDRESS, on the stack of FIBER, has grown beyond its end. Both of these:
 * safe in signal handlers. */
bool cohort__overflow_is_at(const struct cohort__fiber *fiber, const char *address);

/* Writes the line of WORKER, the calling thread's. */
void cohort__overflow_explain(const struct cohort__worker *worker);

/* In a task of WORKER, the calling thread's: ends the program if the stack has grown beyond its end
 * and no guard has noticed it. */
void cohort__overflow_check(const struct cohort__worker *worker);

#endif
