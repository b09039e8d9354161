/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/overflow.h"

#include <signal.h>
#include <stdlib.h>

#include "runtime/base/last_words.h"
#include "runtime/base/safe_text.h"
#include "runtime/task/worker.h"

/* The kernel keeps so much free below a thread's own stack. */
enum { THREAD_GUARD_BYTES = 4096 };

static void add_task(struct cohort__safe_text *text, const struct cohort__task_context *context)
{
    char name[640];
    if (!context) {
        cohort__safe_text_add(text, "a function outside of tasks");
        return;
    }
    cohort__task_name(context->shown, name, sizeof(name));
    cohort__safe_text_add(text, "the task ");
    cohort__safe_text_add(text, name);
}

void cohort__overflow_explain(const struct cohort__worker *worker)
{
    const struct cohort__fiber *fiber = worker->fiber;
    const bool is_own = cohort__fiber_is_threads_own(fiber);
    char words[1024];
    struct cohort__safe_text text = cohort__safe_text_begin(words, sizeof(words));
    add_task(&text, worker->context);
    cohort__safe_text_add(&text, " has grown beyond its ");
    cohort__safe_text_add(&text, is_own ? "thread's stack of " : "stack of ");
    cohort__safe_text_add_number(&text, is_own ? fiber->bytes : fiber->size);
    cohort__safe_text_add(&text, is_own            ? " bytes (ulimit -s)"
                                 : fiber->exponent ? " bytes (stack_bytes of cohort_task_options)"
                                                   : " bytes (COHORT_STACK)");
    cohort__last_words_say(words);
}

bool cohort__overflow_is_at(const struct cohort__fiber *fiber, const char *address)
{
    if (!cohort__fiber_is_threads_own(fiber))
        return cohort__stack_guards(&fiber->stack, address);
    return address < fiber->low + THREAD_GUARD_BYTES && address >= fiber->low - THREAD_GUARD_BYTES;
}

void cohort__overflow_check(const struct cohort__worker *worker)
{
    const struct cohort__stack *stack = &worker->fiber->stack;
    if (stack->guard != COHORT__STACK_GUARD_CANARY || cohort__stack_is_intact(stack))
        return;
    cohort__overflow_explain(worker);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    abort(); /* the signal is blocked */
}
