/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_WAIT_H
#define COHORT_RUNTIME_TASK_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/future.h"
#include "runtime/task/worker.h"

/* One wait of a task, or of a thread outside of tasks, for something that somebody else does. It
 * ends once: when that has happened, at its limit, or when the scope of the task is cancelled.
 * Whichever comes first decides. It is in the frame of who waits:
 *
 *     begin; let others know of the wait; suspend; let nobody know of it any more; fini
 *
 * Others may claim it only while they know of the wait, so who waits and they need a lock, or the
 * like, for that. */
struct cohort__alarm;
struct cohort__wait {
    struct cohort__resumption resumption; /* of a task */
    struct cohort__alarm *alarm;          /* of a wait that may end in other ways, or NULL */
    enum cohort_wait_end end;
    _Atomic uint32_t is_over; /* of a thread: its futex */
    bool is_task;
};

/* Whether this thread may wait at all: it runs a task, or it is none of the runtime's own threads,
 * and the runtime is up or about to end. COHORT_ERR_STATE, with FUNCTION in the message. What the
 * runtime was to complete is complete before a thread is refused because of its end: such a thread
 * has to look once more. */
cohort_status cohort__wait_check(const char *function);

/* COHORT_ERR_NO_MEMORY, COHORT_ERR_STATE in a thread of the runtime's own. always: a wait that ends
 * only when it is complete; it needs no memory. */
cohort_status cohort__wait_begin(struct cohort__wait *wait, uint64_t nanoseconds,
                                 const char *function);
cohort_status cohort__wait_begin_always(struct cohort__wait *wait, const char *function);

/* Returns how the wait has ended. WHAT and CALLER are noted (wait_line.h). A task may be in another
 * thread afterwards. */
enum cohort_wait_end cohort__wait_suspend(struct cohort__wait *wait, uintptr_t what,
                                          const void *caller);

/* Ends WAIT as complete, unless it has ended otherwise. Returns whether it did; then wake has to be
 * called, and until then WAIT stays. Any thread. */
bool cohort__wait_claim(struct cohort__wait *wait);

/* Who waits goes on. WAIT may be gone when this returns. */
void cohort__wait_wake(struct cohort__wait *wait);

void cohort__wait_fini(struct cohort__wait *wait);

/* For cohort_wait, after the check: the whole wait for FUTURE, with a limit or in a scope, or
 * both. */
cohort_status cohort__wait_for_future(cohort_future *future, uint64_t nanoseconds,
                                      const void *caller, enum cohort_wait_end *ret_end);

#endif
