/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_WAIT_LINE_H
#define COHORT_RUNTIME_TASK_WAIT_LINE_H

#include <stdint.h>

#include "runtime/base/clock.h"
#include "runtime/base/ledger.h"
#include "runtime/task/worker.h"

/* What a task or a thread waits for, for whoever reads the ledger. It is always on, so a suspension
 * must pay next to nothing, and a task that never suspends nothing at all. Each stack has a line,
 * which is written when the task on it suspends, and cleared when it goes on. */

/* CONTEXT is of a task that runs in place of an await of another one, or in a scope. */
void cohort__wait_line_note_more(struct cohort__wait_line *line,
                                 const struct cohort__task_context *context);

/* From now on the task of CONTEXT waits for WHAT, an address plus an enum cohort__wait_kind. NOW is
 * in ticks. */
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
        context->identity |= (cohort__clock_ticks() << (COHORT__LEDGER_ADDRESS_BITS - 4) |
                              UINT64_C(1) << COHORT__LEDGER_ADDRESS_BITS) &
                             ~COHORT__LEDGER_ADDRESS;
    return context->identity;
}

#endif
