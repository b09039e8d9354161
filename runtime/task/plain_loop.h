/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_PLAIN_LOOP_H
#define COHORT_RUNTIME_TASK_PLAIN_LOOP_H

#include "runtime/task/scheduler.h"

/* The hooks of a loop without I/O, for a scheduler that was given none: timers, and waiting for
 * them. There is one. */
const struct cohort__scheduler_hooks *cohort__plain_loop_hooks(void);

/* The scheduler has ended: calls expired for the timers that are left. */
void cohort__plain_loop_fini(void);

#endif
