/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_WORK_H
#define COHORT_RUNTIME_TASK_WORK_H

#include "runtime/base/batch_queue.h"

/* A function for a worker to run once, without future or allocation, and not counted as a task. The
 * owner embeds this struct and sets RUN. RUN may free the work or post it again. RUN is called at
 * the base of some worker's stack, outside of tasks, so it must not await anything. */
struct cohort__work {
    struct cohort__batch_queue_node node; /* for the queue */
    void (*run)(struct cohort__work *work);
};

/* Any thread; never suspends. WORK must not be posted already. The runtime has to be up, that is,
 * between cohort__scheduler_start and the return of cohort__scheduler_run. Works run in any
 * order. */
void cohort__work_post(struct cohort__work *work);

/* The same for a chore: a work that calls no code of the user's, and ends soon. It may run on the
 * progress thread, too, if there is one, so not even tasks that compute for long keep it
 * waiting. */
void cohort__chore_post(struct cohort__work *work);

/* So many bytes are copied, packed or reduced in the turn in which that is found to be necessary.
 * More is a chore, so that the turn stays short: the thread that receives from the network may be
 * the one that runs it. To copy a page takes less than to hand it to a worker. Not measured by
 * itself. */
enum { COHORT__ON_THE_SPOT_BYTES = 4096 };

#endif
