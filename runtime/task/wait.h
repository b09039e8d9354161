/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_WAIT_H
#define COHORT_RUNTIME_TASK_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/future.h"
#include "runtime/base/clock.h"
#include "runtime/base/ledger.h"
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

/* Returns how the wait has ended. WHAT and CALLER are noted in a line (see below). A task may be in
 * another thread afterwards. */
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

/* --- its line in the ledger --- */

/* What a task or a thread waits for, for whoever reads the ledger. It is always on, so a suspension
 * must pay next to nothing, and a task that never suspends nothing at all. Each stack has a line,
 * which is written when the task on it suspends, and cleared when it goes on. */

/* CONTEXT is of a task that runs in place of an await of another one, or in a scope. */
void cohort__wait_line_note_more(struct cohort__wait_line *line,
                                 const struct cohort__task_context *context);

/* From now on the task of CONTEXT waits for WHAT, an address plus an enum cohort__wait_kind. NOW is
 * in cycles. */
static inline void cohort__wait_line_begin(struct cohort__wait_line *line,
                                           const struct cohort__task_context *context,
                                           uintptr_t what, const void *caller, uint64_t now)
{
    atomic_store_explicit(&line->caller, (uintptr_t)caller, memory_order_relaxed);
    atomic_store_explicit(&line->what, what, memory_order_relaxed);
    atomic_store_explicit(&line->function, (uintptr_t)context->shown, memory_order_relaxed);
    atomic_store_explicit(&line->task, context->identity, memory_order_relaxed);
    if (__builtin_expect(context->outer != NULL || context->scope != NULL, 0))
        cohort__wait_line_note_more(line, context);
    atomic_store_explicit(&line->since, now, memory_order_release);
}

static inline void cohort__wait_line_end(struct cohort__wait_line *line)
{
    atomic_store_explicit(&line->since, 0, memory_order_relaxed);
}

/* A line for the calling thread, which is outside of tasks, and waits from now on. NULL: no memory.
 * To be given back when it goes on; NULL is fine. */
struct cohort__wait_line *cohort__wait_line_of_thread(uintptr_t what, const void *caller);
void cohort__wait_line_give_back(struct cohort__wait_line *line);

/* What stands for the calling thread in the place of a task. Never 0, and aligned to 16. Another
 * thread may have the same when this one has ended. */
uintptr_t cohort__wait_line_thread(void);

/* Who calls: the running task, or else the thread. */
static inline uintptr_t cohort__wait_line_self(void)
{
    const struct cohort__worker *worker = cohort__worker_self;
    return worker && worker->context ? (uintptr_t)worker->context->task
                                     : cohort__wait_line_thread();
}

/* The same, for a note that is read when the task may have ended. Another task may have its address
 * then. So from now on it has a stamp in its upper bits, which hardly any other one has. */
static inline uintptr_t cohort__wait_line_stamped_self(void)
{
    const struct cohort__worker *worker = cohort__worker_self;
    struct cohort__task_context *context = worker ? worker->context : NULL;
    if (!context)
        return cohort__wait_line_thread();
    if (context->identity >> COHORT__LEDGER_ADDRESS_BITS == 0)
        context->identity |= (cohort__clock_cycles() << (COHORT__LEDGER_ADDRESS_BITS - 4) |
                              UINT64_C(1) << COHORT__LEDGER_ADDRESS_BITS) &
                             ~COHORT__LEDGER_ADDRESS;
    return context->identity;
}

#endif
