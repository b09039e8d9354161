/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_WORK_H
#define COHORT_RUNTIME_TASK_WORK_H

#include "runtime/base/batch_queue.h"

/* Something for a worker to run once: no future, no allocation, not counted as a task. The owner
 * embeds it and sets RUN, which may free or post it again. It is called at the base of some
 * worker's stack, outside of tasks: it must not await anything. */
struct cohort__work {
    struct cohort__batch_queue_node node; /* the queue's */
    void (*run)(struct cohort__work *work);
};

/* Any thread; never suspends. WORK must not be posted already. The runtime has to be up, from
 * cohort__scheduler_start until run has returned; works run in any order. */
void cohort__work_post(struct cohort__work *work);

#endif
