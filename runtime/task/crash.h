/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_CRASH_H
#define COHORT_RUNTIME_TASK_CRASH_H

/* What happens when a signal ends the program that it has caused itself: SIGSEGV, SIGBUS, SIGFPE,
 * SIGILL, SIGABRT. One line says what has gone wrong and where, in which task, worker and locality,
 * and further ones who has called that; or one that the task has grown beyond its stack
 * (below). Then the signal ends the program as ever, with a core file of the place. A signal
 * that somebody else has sent ends it without a word. The first line is in the ledger, too, so that
 * cohortrun can say it. */

/* Has these signals explained, unless the program or a sanitizer handles them itself. For the
 * process. */
void cohort__crash_watch(void);

/* Ends what watch began. */
void cohort__crash_unwatch(void);

/* Gives the calling thread a stack for its signal handlers, unless it has one. Returns it, or NULL:
 * there is none, so that a signal that its stack is the cause of can't be explained. */
void *cohort__crash_thread_begin(void);

/* Takes it back. NULL is fine. */
void cohort__crash_thread_end(void *stack);

/* A task that grows beyond the end of its stack ends the program with SIGSEGV, after one line that
 * names its function, the size of the stack and COHORT_STACK. A guard of the stack is noticed at
 * once. Known bytes (stack.h) are noticed when the stack is next left: in a task of WORKER, the
 * calling thread's, this looks for that. */
struct cohort__worker;
void cohort__overflow_check(const struct cohort__worker *worker);

#endif
