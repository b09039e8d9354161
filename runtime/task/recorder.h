/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_RECORDER_H
#define COHORT_RUNTIME_TASK_RECORDER_H

#include <stdint.h>

#include "cohort/future.h"
#include "cohort/status.h"

/* The last suspensions of a worker, for whoever looks at a core file, or at the process in a
 * debugger. It is always on, so noting one must cost next to nothing, and a task that never
 * suspends must not pay for it. */

enum { COHORT__NUM_RECORDS = 4096 };

/* A task that has suspended. */
struct cohort__record {
    uint64_t at;                 /* in ticks of the clock */
    const cohort_future *future; /* that it waits for; NULL: a yield */
    const void *caller;          /* where: the return address of the public function */
};

/* A ring. Used only by the worker's own thread. */
struct cohort__recorder {
    struct cohort__record *records; /* those that were never written are zero */
    struct cohort__record *next;    /* to be written */
    struct cohort__record *end;
};

/* COHORT_ERR_NO_MEMORY. */
cohort_status cohort__recorder_init(struct cohort__recorder *recorder);
void cohort__recorder_fini(struct cohort__recorder *recorder);

static inline void cohort__recorder_add(struct cohort__recorder *recorder, uint64_t at,
                                        const cohort_future *future, const void *caller)
{
    struct cohort__record *next = recorder->next;
    next->at = at;
    next->future = future;
    next->caller = caller;
    next++;
    recorder->next = next == recorder->end ? recorder->records : next;
}

#endif
