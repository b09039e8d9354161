/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/trace.h"
#include "runtime/base/futex.h"
#include "runtime/task/worker.h"

/* Without this thread a worker turns the event loop, between two tasks. If all workers compute for
 * long, messages wait as long. With it one more thread has the token from the start to the end, and
 * no worker ever has it. It is a thread from outside to the others: cohort__worker_self is NULL
 * here, and what becomes ready goes where work from outside goes. It spins by the same rules as an
 * idle worker does, and else parks.
 *
 * Nobody's tasks run here, and no code of the user's. But chores do: the pieces of collectives that
 * the library copies or reduces itself. They are in one list, from which workers take them, too.
 * While a worker is idle, they are left to it, since messages wait while this thread runs one. How
 * it is made sure that no chore is left lying: idle.c, and tests/model/sleep.pml. */

enum { SLICE_NANOSECONDS = 100000 }; /* the least that the kernel gives, so before workers */

static _Thread_local bool is_self;

bool cohort__progress_is_self(void)
{
    return is_self;
}

static struct cohort__progress *self(void)
{
    return &cohort__scheduler.progress;
}

static void wake(void)
{
    uint32_t parked = COHORT__PARKED;
    if (atomic_load(&self()->sleep_state) == COHORT__PARKED &&
        atomic_compare_exchange_strong(&self()->sleep_state, &parked, COHORT__AWAKE))
        cohort__scheduler.hooks.wake(cohort__scheduler.hooks.context);
}

/* Chores ------------------------------------------------------------------------------------- */

static void push_chore(struct cohort__work *work)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    pthread_mutex_lock(&s->chores_lock);
    cohort__fifo_push(&s->chores, &work->node);
    atomic_fetch_add(&s->num_chores, 1);
    pthread_mutex_unlock(&s->chores_lock);
    cohort__idle_wake_one();
    wake();
}

void cohort__chore_post(struct cohort__work *work)
{
    bool is_chore = cohort__scheduler_hold() && cohort__progress_is_on();
    if (is_chore)
        push_chore(work);
    cohort__scheduler_release();
    if (!is_chore)
        cohort__work_post(work);
}

struct cohort__work *cohort__chore_take_any(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    pthread_mutex_lock(&s->chores_lock);
    struct cohort__batch_queue_node *node = cohort__fifo_pop(&s->chores);
    if (node)
        atomic_fetch_sub(&s->num_chores, 1);
    pthread_mutex_unlock(&s->chores_lock);
    return node ? cohort__work_of(node) : NULL;
}

static bool is_any_idle(void)
{
    const struct cohort__scheduler *s = &cohort__scheduler;
    for (unsigned i = 0; i < s->num_workers; i++)
        if (cohort__idle_is(s->workers[i]))
            return true;
    return false;
}

static bool run_chore(void)
{
    struct cohort__work *work =
        cohort__chores_are_any() && !is_any_idle() ? cohort__chore_take_any() : NULL;
    if (work)
        work->run(work);
    return work != NULL;
}

/* The thread --------------------------------------------------------------------------------- */

static bool must_not_park(void)
{
    return cohort__chores_are_any() || atomic_load(&self()->is_ending);
}

/* What a worker does with the token in sleep_until_woken. */
static void park(void)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    cohort__core_leave_shared(&self()->core); /* it will wake up here */
    atomic_store(&self()->sleep_state, COHORT__PARKED);
    cohort__trace(COHORT__TRACE_SLEEP, 0, 0, 0, 0);
    while (!must_not_park() && !hooks->park(hooks->context) &&
           atomic_load(&self()->sleep_state) == COHORT__PARKED)
        ;
    cohort__trace(COHORT__TRACE_AWAKE, 0, 0, 0, 0);
    cohort__core_leave_shared(&self()->core);
    atomic_store(&self()->sleep_state, COHORT__AWAKE);
}

static bool expects(void)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    return hooks->expects && hooks->expects(hooks->context);
}

/* Turns the event loop until nothing has happened for as long as it may spin. */
static void turn(void)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    struct cohort__spin *spin = &self()->spin;
    unsigned num_yields = 0;
    cohort__spin_begin(spin);
    while (!atomic_load(&self()->is_ending)) {
        bool any = hooks->poll(hooks->context);
        atomic_store_explicit(&self()->line->seen_at, cohort__clock_cycles(), memory_order_relaxed);
        any |= run_chore();
        if (any) {
            cohort__spin_found(spin);
            cohort__core_note(&self()->core);
            num_yields = 0;
        } else if (!cohort__spin_again(spin, cohort__clock_cycles(), expects())) {
            if (cohort__chores_are_any())
                cohort__core_yield(&spin->num_yields);
            else if (num_yields++ >= cohort__scheduler.options.yield_polls ||
                     !cohort__idle_yield(spin))
                return;
        }
    }
}

static void *thread_main(void *arg)
{
    is_self = true;
    cohort__ledger_thread = self()->line;
    atomic_store_explicit(&self()->line->thread, (uint64_t)syscall(SYS_gettid),
                          memory_order_relaxed);
    cohort__core_set_slice(SLICE_NANOSECONDS);
    while (atomic_load(&cohort__scheduler.may_go) == 0)
        cohort__futex_wait(&cohort__scheduler.may_go, 0);
    cohort__core_note(&self()->core);
    cohort__spin_init(&self()->spin, cohort__scheduler.options.spin_ns);
    while (!atomic_load(&self()->is_ending)) {
        turn();
        park();
    }
    return arg;
}

static void give_line_back(void)
{
    cohort__ledger_give_back(COHORT__LEDGER_WORKERS, self()->line);
    self()->line = NULL;
}

cohort_status cohort__progress_start(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    atomic_store(&self()->is_ending, false);
    atomic_store(&self()->core, -1);
    atomic_store(&self()->sleep_state, COHORT__AWAKE);
    self()->line = cohort__ledger_take(COHORT__LEDGER_WORKERS);
    if (!self()->line)
        return cohort_fail(COHORT_ERR_NO_MEMORY,
                           "scheduler: no memory for the events of the progress thread");
    atomic_store_explicit(&self()->line->index, UINT32_MAX, memory_order_relaxed);
    int error = pthread_create(&self()->thread, NULL, thread_main, NULL);
    if (error != 0) {
        give_line_back();
        return cohort_fail(COHORT_ERR_NO_MEMORY, "scheduler: the progress thread: %s",
                           strerror(error));
    }
    s->num_threads++;
    atomic_store(&s->token, COHORT__TOKEN_OF_PROGRESS);
    return COHORT_OK;
}

void cohort__progress_end(void)
{
    atomic_store(&self()->is_ending, true);
    wake();
    pthread_join(self()->thread, NULL);
    give_line_back();
}
