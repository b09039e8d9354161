/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_OVERFLOW_H
#define COHORT_RUNTIME_TASK_OVERFLOW_H

/* What happens when a task grows beyond the end of its stack: the program ends with SIGSEGV, after
 * one line that names the task's function, the size of the stack and COHORT_STACK. A guard of the
 * stack is noticed at once. Known bytes (stack.h) are noticed when the stack is next left. */

struct cohort__worker;

/* Has SIGSEGV and SIGBUS explained, unless the program or a sanitizer handles them itself. For the
 * process. */
void cohort__overflow_watch(void);

/* Ends what watch began. */
void cohort__overflow_unwatch(void);

/* Gives the calling thread a stack for its signal handlers, unless it has one. Returns it, or NULL:
 * there is none, so that a signal that its stack is the cause of can't be explained. */
void *cohort__overflow_thread_begin(void);

/* Takes it back. NULL is fine. */
void cohort__overflow_thread_end(void *stack);

/* In a task of WORKER, the calling thread's: ends the program if the stack has grown beyond its end
 * and no guard has noticed it. */
void cohort__overflow_check(const struct cohort__worker *worker);

#endif
