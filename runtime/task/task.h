/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_TASK_H
#define COHORT_RUNTIME_TASK_TASK_H

#include "cohort/task.h"
#include "runtime/task/future.h"
#include "runtime/task/work.h"

/* A future with the function that completes it, in one object. It is queued as a work, and the
 * queue holds a reference; but whoever claims it first runs it, so an awaiting task need not look
 * for it in the queue, and what is left there is dropped by the one who finds it. */
enum cohort__task_claim {
    COHORT__TASK_OPEN,    /* anybody may claim it */
    COHORT__TASK_CLAIMED, /* or not queued yet */
};
struct cohort__task {
    struct cohort_future future; /* first */
    struct cohort__work work;
    cohort_task_function *function;
    void *arg;
};

/* Where a task that runs keeps what belongs to it. It lives in the frame that called the task. */
struct cohort__task_context {
    struct cohort__error error;
};

/* Two references; claimed until it is queued. */
void cohort__task_init(struct cohort__task *task, cohort_task_function *function, void *arg);

/* The run function of a task's work: runs the task if nobody did, gives the queue's reference
 * back. */
void cohort__task_run(struct cohort__work *work);

/* Whether WORK is a task that somebody has claimed: nothing to do but to give it back. */
bool cohort__task_is_stale(const struct cohort__work *work);

/* Gives back the queue's reference to the stale WORK. */
void cohort__task_drop(struct cohort__work *work);

/* The runtime has ended: completes the task with an error, and gives the queue's reference back. */
void cohort__task_cancel(struct cohort__work *work);

/* then.c: the function of a task that cohort_then has made, whose argument has the future that it
 * was made for; and, instead of it, giving that back. */
cohort_status cohort__then_run(void *arg);
void cohort__then_cancel(void *arg);

/* Runs FUTURE at once, as a call, if it is a task, unclaimed, and the stack has room. */
bool cohort__task_try_inline(cohort_future *future);

#endif
