/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/overflow.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/sanitizer.h"
#include "runtime/task/worker.h"

/* For the handler, and for what the C library needs on top of a signal's own frame. */
enum { HANDLER_STACK_BYTES = 64 * 1024 };

/* The kernel keeps so much free below a thread's own stack. */
enum { THREAD_GUARD_BYTES = 4096 };

static const int signals[] = {SIGSEGV, SIGBUS};
enum { NUM_SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static void name_task(const struct cohort__task_context *context, char *text, size_t bytes)
{
    char name[480];
    if (!context) {
        snprintf(text, bytes, "a function outside of tasks");
        return;
    }
    cohort__task_name(context->shown, name, sizeof(name));
    snprintf(text, bytes, "the task %s", name);
}

static void explain(const struct cohort__worker *worker)
{
    char name[512], text[768];
    name_task(worker->context, name, sizeof(name));
    const struct cohort__fiber *fiber = worker->fiber;
    bool is_own = cohort__fiber_is_threads_own(fiber);
    int bytes =
        snprintf(text, sizeof(text), "cohort: %s has grown beyond its %sstack of %zu bytes (%s)\n",
                 name, is_own ? "thread's " : "", is_own ? fiber->bytes : fiber->size,
                 is_own            ? "ulimit -s"
                 : fiber->exponent ? "stack_bytes of cohort_task_options"
                                   : "COHORT_STACK");
    if (write(STDERR_FILENO, text, (size_t)bytes) < 0)
        return; /* nobody to tell */
}

static bool is_beyond(const struct cohort__fiber *fiber, const char *address)
{
    if (!cohort__fiber_is_threads_own(fiber))
        return cohort__stack_guards(&fiber->stack, address);
    return address < fiber->low + THREAD_GUARD_BYTES && address >= fiber->low - THREAD_GUARD_BYTES;
}

/* On a stack of its own. The default action comes when the instruction is tried again; a signal
 * that somebody has sent has none, and is sent anew. */
static void handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    const struct cohort__worker *worker = cohort__worker_self;
    if (worker && worker->fiber && is_beyond(worker->fiber, info->si_addr))
        explain(worker);
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
        raise(number);
}

static bool is_ours(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) &&
           action.sa_sigaction == handle;
}

void cohort__overflow_watch(void)
{
    struct sigaction old, action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; !COHORT__ASAN && !COHORT__TSAN && i < NUM_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
            old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

void cohort__overflow_unwatch(void)
{
    for (int i = 0; i < NUM_SIGNALS; i++)
        if (is_ours(signals[i]))
            signal(signals[i], SIG_DFL);
}

void *cohort__overflow_thread_begin(void)
{
    stack_t old;
    if (COHORT__ASAN || COHORT__TSAN || sigaltstack(NULL, &old) != 0 ||
        !(old.ss_flags & SS_DISABLE))
        return NULL;
    void *memory = malloc(HANDLER_STACK_BYTES);
    stack_t stack = {.ss_sp = memory, .ss_size = HANDLER_STACK_BYTES};
    if (memory && sigaltstack(&stack, NULL) == 0)
        return memory;
    free(memory);
    return NULL;
}

void cohort__overflow_thread_end(void *stack)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    if (!stack || sigaltstack(&none, NULL) != 0)
        return; /* if it is still in use it stays */
    free(stack);
}

void cohort__overflow_check(const struct cohort__worker *worker)
{
    const struct cohort__stack *stack = &worker->fiber->stack;
    if (stack->guard != COHORT__STACK_GUARD_CANARY || cohort__stack_is_intact(stack))
        return;
    explain(worker);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    abort(); /* the signal is blocked */
}
