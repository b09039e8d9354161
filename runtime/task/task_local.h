/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_TASK_LOCAL_H
#define COHORT_RUNTIME_TASK_TASK_LOCAL_H

#include "cohort/task_local.h"
#include "runtime/task/task.h"

/* The values of a task are in its context, in a table that the first set makes. A task without one
 * has nothing to do for it, neither at its start nor at its end. */

/* The function of the task of CONTEXT has returned. Destroys its values. May suspend. */
void cohort__task_locals_end(struct cohort__task_context *context);

#endif
