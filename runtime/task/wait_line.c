/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/wait_line.h"

#include <stddef.h>

#include "runtime/base/clock.h"

void cohort__wait_line_note_more(struct cohort__wait_line *line,
                                 const struct cohort__task_context *context)
{
    uintptr_t marks = 0;
    const struct cohort__task_context *outermost = context;
    const cohort_scope *scope = context->scope;
    while (outermost->outer) {
        outermost = outermost->outer;
        scope = scope ? scope : outermost->scope;
    }
    if (outermost != context) {
        marks |= COHORT__WAIT_LINE_IS_INNER;
        atomic_store_explicit(&line->outer, context->outer->identity, memory_order_relaxed);
        atomic_store_explicit(&line->outermost, outermost->identity, memory_order_relaxed);
    }
    if (scope) {
        marks |= COHORT__WAIT_LINE_IS_IN_SCOPE;
        atomic_store_explicit(&line->scope, (uintptr_t)scope, memory_order_relaxed);
    }
    atomic_store_explicit(&line->task, context->identity + marks, memory_order_relaxed);
}

uintptr_t cohort__wait_line_thread(void)
{
    static _Thread_local max_align_t thread;
    return (uintptr_t)&thread;
}

struct cohort__wait_line *cohort__wait_line_of_thread(uintptr_t what, const void *caller)
{
    struct cohort__wait_line *line = cohort__ledger_take(COHORT__LEDGER_WAITS);
    if (!line)
        return NULL;
    atomic_store_explicit(&line->caller, (uintptr_t)caller, memory_order_relaxed);
    atomic_store_explicit(&line->what, what, memory_order_relaxed);
    atomic_store_explicit(&line->task, cohort__wait_line_thread(), memory_order_relaxed);
    atomic_store_explicit(&line->since, cohort__clock_ticks(), memory_order_release);
    return line;
}

void cohort__wait_line_give_back(struct cohort__wait_line *line)
{
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, line);
}
