/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_PLAIN_LOOP_H
#define COHORT_RUNTIME_TASK_PLAIN_LOOP_H

#include "runtime/task/scheduler.h"

/* The hooks of an event loop without I/O, for a scheduler that was given no hooks. It has timers
 * and can wait for them. There is only one such loop. */
const struct cohort__scheduler_hooks *cohort__plain_loop_hooks(void);

/* To be called when the scheduler has ended. Calls expired for the timers that are left. */
void cohort__plain_loop_fini(void);

#endif
