/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_BLOCKING_H
#define COHORT_RUNTIME_TASK_BLOCKING_H

/* The threads on which cohort_blocking runs functions. They start when they are wanted, and stay
 * until the scheduler ends. */

enum { COHORT__BLOCKING_THREADS = 64, COHORT__MAX_BLOCKING_THREADS = 1024 };

/* Joins them. To be called when no task runs any more. Waits for functions under way. */
void cohort__blocking_end(void);

#endif
