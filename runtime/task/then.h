/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_THEN_H
#define COHORT_RUNTIME_TASK_THEN_H

#include "runtime/task/task.h"

/* As cohort_then, for a task that is in no scope, whoever calls this. */
cohort_future *cohort__then_outside(cohort_future *future, cohort_then_function *function,
                                    void *arg, cohort__any_function *shown);

#endif
