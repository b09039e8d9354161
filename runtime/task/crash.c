/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/crash.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "runtime/base/last_words.h"
#include "runtime/base/ledger.h"
#include "runtime/base/text.h"
#include "runtime/base/sanitizer.h"
#include "runtime/base/symbol.h"
#include "runtime/task/worker.h"

/* --- a stack that has grown beyond its end --- */

/* The kernel keeps so much free below a thread's own stack. */
enum { THREAD_GUARD_BYTES = 4096 };

static void overflow_add_task(struct cohort__safe_text *text,
                              const struct cohort__task_context *context)
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

/* Writes the line of WORKER, the calling thread's. */
static void overflow_explain(const struct cohort__worker *worker)
{
    const struct cohort__fiber *fiber = worker->fiber;
    const bool is_own = cohort__fiber_is_threads_own(fiber);
    char words[1024];
    struct cohort__safe_text text = cohort__safe_text_begin(words, sizeof(words));
    overflow_add_task(&text, worker->context);
    cohort__safe_text_add(&text, " has grown beyond its ");
    cohort__safe_text_add(&text, is_own ? "thread's stack of " : "stack of ");
    cohort__safe_text_add_number(&text, is_own ? fiber->bytes : fiber->size);
    cohort__safe_text_add(&text, is_own            ? " bytes (ulimit -s)"
                                 : fiber->exponent ? " bytes (stack_bytes of cohort_task_options)"
                                                   : " bytes (COHORT_STACK)");
    cohort__last_words_say(words);
}

/* Whether who accesses ADDRESS, on the stack of FIBER, has grown beyond its end. Both of these:
 * safe in signal handlers. */
static bool overflow_is_at(const struct cohort__fiber *fiber, const char *address)
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
    overflow_explain(worker);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    abort(); /* the signal is blocked */
}

/* --- a signal --- */

/* For the handler, and for what the C library needs on top of a signal's own frame. */
enum { HANDLER_STACK_BYTES = 64 * 1024, NAME_BYTES = 640, MAX_CALLERS = 12 };

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { NUM_SIGNALS = sizeof(signals) / sizeof(signals[0]) };

/* All from here to the handler may run in the middle of anything: no locks, no allocations. */

/* "SIGSEGV (no memory at "; where HAS_ADDRESS is false, the address is no part of it. */
static const char *reason_of(const siginfo_t *info, bool *has_address)
{
    const bool was_raised = info->si_code <= 0;
    *has_address = !was_raised && info->si_code != SI_KERNEL &&
                   (info->si_signo == SIGSEGV || info->si_signo == SIGBUS);
    switch (info->si_signo) {
    case SIGABRT:
        return "SIGABRT (abort";
    case SIGFPE:
        return was_raised                    ? "SIGFPE (raise"
               : info->si_code == FPE_INTDIV ? "SIGFPE (integer division by zero"
                                             : "SIGFPE (arithmetic that has no result";
    case SIGILL:
        return was_raised ? "SIGILL (raise" : "SIGILL (no instruction";
    case SIGBUS:
        return was_raised                    ? "SIGBUS (raise"
               : info->si_code == BUS_ADRALN ? "SIGBUS (not aligned: access to "
               : *has_address                ? "SIGBUS (no memory behind "
                                             : "SIGBUS (unknown reason";
    default:
        return was_raised                     ? "SIGSEGV (raise"
               : info->si_code == SEGV_ACCERR ? "SIGSEGV (no right to access "
               : *has_address                 ? "SIGSEGV (no memory at "
                                              : "SIGSEGV (an address that no memory can have";
    }
}

static void add_reason(struct cohort__safe_text *text, const siginfo_t *info)
{
    bool has_address;
    cohort__safe_text_add(text, reason_of(info, &has_address));
    if (has_address)
        cohort__safe_text_add_address(text, (uintptr_t)info->si_addr);
    cohort__safe_text_add(text, ")");
}

/* The instruction; NULL: not known. */
static const void *place_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

/* Who runs here. */
static void add_task(struct cohort__safe_text *text, const struct cohort__worker *worker)
{
    uint32_t rank;
    char name[NAME_BYTES];
    if (worker && worker->context) {
        cohort__task_name(worker->context->shown, name, sizeof(name));
        cohort__safe_text_add(text, ", in the task ");
        cohort__safe_text_add(text, name);
    } else {
        cohort__safe_text_add(text, ", outside of tasks");
    }
    if (worker) {
        cohort__safe_text_add(text, ", worker ");
        cohort__safe_text_add_number(text, worker->index);
    }
    if (cohort__ledger_rank(&rank)) {
        cohort__safe_text_add(text, worker ? " of locality " : ", locality ");
        cohort__safe_text_add_number(text, rank);
    }
}

/* A walk along the stack, from the handler outwards. */
struct walk {
    const void *place;
    uintptr_t end; /* the frame that this is in is the task's no more; 0: there is none */
    bool has_found_place;
    const void *caller; /* not said yet */
    unsigned num_said;
};

static void say_caller(const void *address)
{
    char name[NAME_BYTES], words[NAME_BYTES + 16];
    struct cohort__safe_text text = cohort__safe_text_begin(words, sizeof(words));
    cohort__symbol_name((const char *)address - 1, name, sizeof(name)); /* in the call */
    cohort__safe_text_add(&text, "called from ");
    cohort__safe_text_add(&text, name);
    cohort__last_words_add(words);
}

/* The bottom of FRAME is the top of the one before it, of which only now is known whose it is. */
static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *context)
{
    struct walk *walk = context;
    const void *address = (const void *)_Unwind_GetIP(frame);
    if (!walk->has_found_place) {
        walk->has_found_place = address == walk->place;
        return _URC_NO_REASON;
    }
    if ((walk->end && _Unwind_GetCFA(frame) > walk->end) || walk->num_said == MAX_CALLERS)
        return _URC_END_OF_STACK;
    if (walk->caller) {
        say_caller(walk->caller);
        walk->num_said++;
    }
    walk->caller = address;
    return _URC_NO_REASON;
}

/* Who has called what runs at PLACE, the innermost first, up to the task whose CONTEXT is in the
 * frame of its runner; NULL: no task. The unwinder reads the tables that compilers write beside the
 * code. It neither locks nor allocates. Where the stack has been written over, it may crash, but
 * all else has been said by then. */
static void say_callers(const void *place, const struct cohort__task_context *context)
{
    struct walk walk = {.place = place, .end = (uintptr_t)context};
    if (place)
        _Unwind_Backtrace(step, &walk);
}

static void explain(const siginfo_t *info, const ucontext_t *context)
{
    char words[1800];
    struct cohort__safe_text text = cohort__safe_text_begin(words, sizeof(words));
    add_reason(&text, info);
    if (info->si_code > 0 && place_of(context)) { /* else it is in raise */
        char name[NAME_BYTES];
        cohort__symbol_name(place_of(context), name, sizeof(name));
        cohort__safe_text_add(&text, " in ");
        cohort__safe_text_add(&text, name);
    }
    add_task(&text, cohort__worker_self);
    cohort__last_words_say(words);
    say_callers(place_of(context), cohort__worker_self ? cohort__worker_self->context : NULL);
}

/* Whether the thread has caused it: by what it did, or by abort and raise. */
static bool is_own(const siginfo_t *info)
{
    return info->si_code > 0 || (info->si_code == SI_TKILL && info->si_pid == getpid());
}

/* On a stack of its own. The default action comes when the instruction is tried again; a signal
 * that was sent has none, and is sent anew. */
static void handle(int number, siginfo_t *info, void *context)
{
    const struct cohort__worker *worker = cohort__worker_self;
    const bool has_grown = info->si_code > 0 && (number == SIGSEGV || number == SIGBUS) && worker &&
                           worker->fiber && overflow_is_at(worker->fiber, info->si_addr);
    if (has_grown)
        overflow_explain(worker);
    else if (is_own(info) && !cohort__last_words_are_said())
        explain(info, context);
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

void cohort__crash_watch(void)
{
    struct sigaction old, action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NUM_SIGNALS; i++)
        sigaddset(&action.sa_mask, signals[i]); /* one of the handler's own ends the program */
    for (int i = 0; !COHORT__ASAN && !COHORT__TSAN && i < NUM_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
            old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

void cohort__crash_unwatch(void)
{
    for (int i = 0; i < NUM_SIGNALS; i++)
        if (is_ours(signals[i]))
            signal(signals[i], SIG_DFL);
}

void *cohort__crash_thread_begin(void)
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

void cohort__crash_thread_end(void *stack)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    if (!stack || sigaltstack(&none, NULL) != 0)
        return; /* if it is still in use it stays */
    free(stack);
}
