/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_DORMANT_H
#define COHORT_RUNTIME_TASK_DORMANT_H

#include <stdatomic.h>

#include "runtime/task/inputs.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"

/* What a task in a scope has besides that is to begin when its inputs are complete. It is woken
 * then, or when the scope is cancelled: whoever finds it in the queue then gives it up. So no scope
 * waits for what comes from outside of it. */
struct cohort__dormant {
    struct cohort__task *task;
    struct cohort__inputs *inputs; /* of that, until it is woken */
    struct cohort__scope_watch watch;
    atomic_uchar progress;
};

/* TASK, which nobody else knows yet, is to sleep. It has two references more: for DORMANT, and for
 * who calls cohort__dormant_wake. */
void cohort__dormant_init(struct cohort__dormant *dormant, struct cohort__task *task,
                          struct cohort__inputs *inputs);

/* Who is to wake it knows of it. From now on SCOPE, its own, may wake it, too. */
void cohort__dormant_begin(struct cohort__dormant *dormant, cohort_scope *scope);

/* To be called once, as a waiter's notify, when the inputs are complete, or are not waited for any
 * more. DORMANT may be gone when this returns. */
void cohort__dormant_wake(struct cohort__dormant *dormant);

#endif
