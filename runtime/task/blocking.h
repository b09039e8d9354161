/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_BLOCKING_H
#define COHORT_RUNTIME_TASK_BLOCKING_H

#include <stdbool.h>

#include "runtime/task/task.h"

/* The threads on which cohort_blocking runs functions. They start when they are wanted, and stay
 * until the scheduler ends. */

enum { COHORT__BLOCKING_THREADS = 64, COHORT__MAX_BLOCKING_THREADS = 1024 };

/* Whether the calling thread is one of them: the end of the runtime waits for what it runs. */
bool cohort__blocking_is_self(void);

/* The task for which the calling thread, which is no worker, runs a function. It is suspended
 * meanwhile, and all that the function does is as if the task did it: it is in the scope of the
 * task, and uses its values. NULL: none. */
struct cohort__task_context *cohort__blocking_context(void);

/* Joins them. To be called when no task runs any more. Waits for functions under way. */
void cohort__blocking_end(void);

#endif
