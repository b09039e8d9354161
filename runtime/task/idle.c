/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/worker.h"

#include "runtime/base/clock.h"
#include "runtime/base/cores.h"
#include "runtime/base/error.h"
#include "runtime/base/futex.h"
#include "runtime/base/trace.h"
#include "runtime/task/future.h"

/* How it is made sure that no wake-up gets lost. All operations named here are sequentially
 * consistent, so there is one total order of them.
 *
 * A thread makes work available first, and then looks for sleepers. A worker that is about to sleep
 * writes its sleep_state and counts itself in num_sleeping, and then looks for work once more. The
 * one of the two that comes second in the total order sees what the first one wrote. The same holds
 * for stopping, and for the token: a worker releases it, and then looks for sleepers; a worker that
 * is about to sleep without it looks whether it is free.
 *
 * To wake no more workers than needed, new work that any worker may run wakes nobody while some
 * worker searches. A searcher that gives up leaves num_searching, and after that looks once more
 * before it sleeps. So it sees work that was made available while it was counted; then it searches
 * again, since there may be more. A searcher that finds work leaves num_searching. If there is more
 * work then, or nobody has the token, it wakes another worker. The exception is a worker that makes
 * way (queues.c): it wakes as many as it has tasks for.
 *
 * A progress thread (progress.c) has the token for good. What it makes available is work from
 * outside. Chores are available to it, too. So for a chore both a worker and the progress thread
 * are woken. The progress thread leaves it to workers that are idle, and looks on until it is
 * taken.
 *
 * If there is only one worker, it saves the cost of two shared words: it is not counted in
 * num_searching, and it takes the token without an atomic exchange, since nobody else ever takes
 * it, unless a progress thread has it for good.
 *
 * The thread that wakes a sleeper changes its sleep_state and num_sleeping for it. If the sleeper
 * is to search, the thread that wakes it counts it as a searcher, too. Otherwise, each of many
 * pushes would wake one more worker before the first of them runs. */

enum {
    TRIM_NANOSECONDS = 1000000000, /* so often a sleeper with many stacks looks at them */
    LOOK_ON_NANOSECONDS = 1000,    /* so long a suspension is put off at most */
    STACKS_A_SLEEP = 256, /* given back before a sleep: so long, about 0.5 ms, nothing is seen to */
};

static bool wake(struct cohort__worker *worker, enum cohort__sleep_state to)
{
    uint32_t state = atomic_load(&worker->sleep_state);
    do {
        if (state != COHORT__SLEEPING && state != COHORT__PARKED)
            return false;
    } while (!atomic_compare_exchange_weak(&worker->sleep_state, &state, to));
    atomic_fetch_sub(&cohort__scheduler.num_sleeping, 1);
    if (state == COHORT__PARKED)
        cohort__scheduler.hooks.wake(cohort__scheduler.hooks.context);
    else
        cohort__futex_wake(&worker->sleep_state);
    return true;
}

void cohort__idle_wake(struct cohort__worker *worker)
{
    wake(worker, COHORT__AWAKE);
}

void cohort__idle_wake_all(void)
{
    for (unsigned i = 0; i < cohort__scheduler.num_workers; i++)
        wake(cohort__scheduler.workers[i], COHORT__AWAKE);
}

/* Whether a worker is needed: there is work that any worker may run, or nobody has the token to
 * turn the event loop. */
static bool is_needed(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    if (atomic_load(&s->token) == 0 || !cohort__batch_queue_is_empty(&s->injected) ||
        cohort__chores_are_any() || cohort__lanes_have_shared())
        return true;
    for (unsigned i = 0; i < s->num_workers; i++)
        if (!cohort__deque_is_empty(&s->workers[i]->deque))
            return true;
    return false;
}

/* Prefers a sleeper on the futex to the worker that is parked in the event loop. */
static bool wake_any(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    struct cohort__worker *parked = NULL;
    for (unsigned i = 0; i < s->num_workers; i++) {
        struct cohort__worker *worker = s->workers[i];
        uint32_t state = atomic_load(&worker->sleep_state);
        if (state == COHORT__PARKED)
            parked = worker;
        else if (state == COHORT__SLEEPING && wake(worker, COHORT__AWAKE_TO_SEARCH))
            return true;
    }
    return parked && wake(parked, COHORT__AWAKE_TO_SEARCH);
}

void cohort__idle_wake_one(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    if (s->num_workers == 1) {
        cohort__idle_wake(s->workers[0]);
        return;
    }
    do {
        int none = 0;
        if (atomic_load(&s->num_sleeping) <= 0 || atomic_load(&s->num_searching) != 0 ||
            !atomic_compare_exchange_strong(&s->num_searching, &none, 1))
            return;
        if (wake_any())
            return;
        atomic_fetch_sub(&s->num_searching, 1);
        /* Other threads may have seen this count of 1, and so have left the wake-up to this one. */
    } while (is_needed());
}

void cohort__idle_wake_some(unsigned most)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    for (; most > 0 && atomic_load(&s->num_sleeping) > 0; most--) {
        atomic_fetch_add(&s->num_searching, 1);
        if (wake_any())
            continue;
        atomic_fetch_sub(&s->num_searching, 1);
        if (is_needed()) /* as in wake_one */
            cohort__idle_wake_one();
        return;
    }
}

static bool is_searching(const struct cohort__worker *worker)
{
    return atomic_load_explicit(&worker->is_searching, memory_order_relaxed);
}

static void set_searching(struct cohort__worker *worker, bool value)
{
    atomic_store_explicit(&worker->is_searching, value, memory_order_relaxed);
}

bool cohort__idle_is_any(void)
{
    const struct cohort__scheduler *s = &cohort__scheduler;
    return atomic_load_explicit(&s->num_sleeping, memory_order_relaxed) +
               atomic_load_explicit(&s->num_searching, memory_order_relaxed) >
           0;
}

bool cohort__idle_is(const struct cohort__worker *worker)
{
    return is_searching(worker) ||
           atomic_load_explicit(&worker->sleep_state, memory_order_relaxed) != COHORT__AWAKE;
}

static void search_begin(struct cohort__worker *worker)
{
    if (is_searching(worker))
        return;
    set_searching(worker, true);
    if (cohort__scheduler.num_workers > 1)
        atomic_fetch_add(&cohort__scheduler.num_searching, 1);
}

/* The search has found nothing. */
static void search_give_up(struct cohort__worker *worker)
{
    set_searching(worker, false);
    if (cohort__scheduler.num_workers > 1)
        atomic_fetch_sub(&cohort__scheduler.num_searching, 1);
}

void cohort__worker_search_end(struct cohort__worker *worker)
{
    if (!is_searching(worker))
        return;
    search_give_up(worker);
    if (cohort__scheduler.num_workers > 1 && is_needed())
        cohort__idle_wake_one();
}

bool cohort__token_try(struct cohort__worker *worker)
{
    _Atomic unsigned *token = &cohort__scheduler.token;
    unsigned nobody = 0;
    if (atomic_load_explicit(token, memory_order_relaxed) != 0)
        return false;
    if (cohort__scheduler.num_workers > 1)
        return atomic_compare_exchange_strong(token, &nobody, worker->index + 1);
    atomic_store_explicit(token, worker->index + 1, memory_order_relaxed);
    return true;
}

void cohort__token_release(void)
{
    if (cohort__scheduler.num_workers > 1) {
        atomic_store(&cohort__scheduler.token, 0);
        cohort__idle_wake_one();
    } else {
        atomic_store_explicit(&cohort__scheduler.token, 0, memory_order_relaxed);
    }
}

/* Returns true if the event loop has made progress, which is not necessarily new work. */
static bool look(struct cohort__worker *worker, bool *is_holder)
{
    if (!*is_holder)
        *is_holder = cohort__token_try(worker);
    if (*is_holder)
        return cohort__worker_call_loop(worker, cohort__scheduler.hooks.poll);
    cohort__core_pause();
    return false;
}

static bool expects(bool is_holder)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    return is_holder && hooks->expects && hooks->expects(hooks->context);
}

bool cohort__idle_yield(struct cohort__spin *spin)
{
    const uint64_t before = cohort__clock_cycles();
    if (!cohort__spin_may_yield(spin, before))
        return false;
    cohort__core_yield(&spin->num_yields);
    return cohort__spin_yielded(spin, before, cohort__clock_cycles());
}

/* Looks for work. Returns true if there may be some, or if the worker may leave; false if it has
 * looked for long enough. */
static bool search(struct cohort__worker *worker, bool *is_holder)
{
    unsigned num_yields = 0;
    cohort__spin_begin(&worker->spin);
    for (;;) {
        bool any = look(worker, is_holder);
        bool is_over = cohort__worker_has_work(worker) || cohort__worker_may_leave();
        if (any || is_over) {
            cohort__spin_found(&worker->spin);
            num_yields = 0;
        }
        if (is_over)
            return true;
        if (any || cohort__spin_again(&worker->spin, cohort__clock_cycles(), expects(*is_holder)))
            continue;
        if (num_yields++ == cohort__scheduler.options.yield_polls ||
            !cohort__idle_yield(&worker->spin))
            return false;
    }
}

/* Whether there are stacks to give back now, or to take from others. */
static bool must_trim(struct cohort__worker *worker)
{
    return cohort__fiber_pool_must_trim(&worker->pool) || cohort__sized_must_trim(&worker->sized) ||
           !cohort__batch_queue_is_empty(&worker->returned);
}

/* The last look before sleeping, after the sleep_state was written. */
static bool must_not_sleep(struct cohort__worker *worker, bool is_holder)
{
    return cohort__scheduler_tell_alone() || cohort__worker_has_work(worker) ||
           cohort__worker_may_leave() || must_trim(worker) ||
           (!is_holder && atomic_load(&cohort__scheduler.token) == 0);
}

/* Until somebody changes the state, or there are stacks to give back. */
static void wait_for_state(struct cohort__worker *worker)
{
    bool is_limited = cohort__fiber_pool_has_surplus(&worker->pool) ||
                      cohort__sized_has_any(&worker->sized) || worker->lends;
    while (atomic_load(&worker->sleep_state) == COHORT__SLEEPING &&
           !(is_limited && must_trim(worker)))
        if (is_limited)
            cohort__futex_wait_until(&worker->sleep_state, COHORT__SLEEPING,
                                     cohort__clock_after(TRIM_NANOSECONDS));
        else
            cohort__futex_wait(&worker->sleep_state, COHORT__SLEEPING);
}

static void sleep_until_woken(struct cohort__worker *worker, bool is_holder)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    cohort__spread_settle(worker);
    atomic_store(&worker->sleep_state, is_holder ? COHORT__PARKED : COHORT__SLEEPING);
    atomic_fetch_add(&s->num_sleeping, 1);
    bool has_found = must_not_sleep(worker, is_holder);
    if (!has_found) {
        cohort__trace(COHORT__TRACE_SLEEP, 0, 0, 0, 0);
        if (is_holder)
            while (!cohort__worker_call_loop(worker, s->hooks.park) &&
                   atomic_load(&worker->sleep_state) == COHORT__PARKED &&
                   !must_not_sleep(worker, true))
                ;
        else
            wait_for_state(worker);
        cohort__trace(COHORT__TRACE_AWAKE, 0, 0, 0, 0);
    }
    /* Until that is over it counts as idle, for those that make way for it. */
    if (!has_found && s->num_threads > 1)
        cohort__core_leave_shared(&worker->core);
    uint32_t state = atomic_exchange(&worker->sleep_state, COHORT__AWAKE);
    if (state == COHORT__SLEEPING || state == COHORT__PARKED)
        atomic_fetch_sub(&s->num_sleeping, 1);
    set_searching(worker, state == COHORT__AWAKE_TO_SEARCH);
    if (has_found)
        search_begin(worker); /* others have left it to this worker to wake another one */
}

/* On the stack of the loop. */
static bool look_on(void *context)
{
    struct cohort__worker *worker = cohort__worker_self;
    const uint64_t begin = cohort__clock_cycles();
    const uint64_t most = cohort__clock_cycles_of(LOOK_ON_NANOSECONDS);
    uint64_t now = begin;
    do {
        bool is_shared = cohort__scheduler.hooks.look(context);
        if (cohort__future_is_complete(worker->awaited)) {
            cohort__spin_found(&worker->spin);
            return true;
        }
        if (!is_shared || cohort__worker_has_work(worker))
            return false;
        cohort__core_pause();
        now = cohort__clock_cycles();
    } while (now - begin < most && cohort__spin_again(&worker->spin, now, false));
    return false;
}

/* Whether that may help. A trace tells of waits by suspensions, so there it does not. Nor does it
 * when a poll is due, which otherwise could not come for as long as each wait is over soon. */
static bool may_look_on(struct cohort__worker *worker, const cohort_future *future)
{
    if (future->about != COHORT__WAIT_COLLECTIVE || !cohort__scheduler.hooks.look ||
        !worker->context || cohort__trace_is_on || cohort__worker_has_work(worker))
        return false;
    const uint64_t now = cohort__clock_cycles();
    cohort__spin_begin(&worker->spin);
    return now < worker->poll_at && cohort__spin_again(&worker->spin, now, false);
}

bool cohort__worker_look_on(struct cohort__worker *worker, const cohort_future *future)
{
    if (!may_look_on(worker, future) || !cohort__token_try(worker))
        return false;
    struct cohort__task_context *task = worker->context;
    struct cohort__error *slot = cohort__error_slot_set(NULL);
    worker->awaited = future;
    cohort__worker_exit(worker);
    bool is_over = cohort__worker_call_loop(worker, look_on);
    cohort__token_release();
    cohort__worker_enter(worker, task);
    cohort__error_slot_set(slot);
    return is_over;
}

void cohort__worker_idle(struct cohort__worker *worker)
{
    cohort__lanes_note(worker);
    bool is_holder = cohort__token_try(worker);
    /* A search may take long, and go on as long as messages come. */
    if (atomic_load_explicit(&cohort__scheduler.alone, memory_order_relaxed))
        (void)cohort__scheduler_tell_alone();
    search_begin(worker);
    if (!search(worker, &is_holder)) {
        atomic_store_explicit(&worker->line->is_idle, 1, memory_order_relaxed);
        search_give_up(worker);
        cohort__worker_take_returned(worker);
        cohort__fiber_pool_trim(&worker->pool, STACKS_A_SLEEP);
        cohort__sized_trim(&worker->sized, STACKS_A_SLEEP);
        sleep_until_woken(worker, is_holder);
    }
    if (is_holder)
        cohort__token_release();
    cohort__worker_polled(worker);
    atomic_store_explicit(&worker->line->is_idle, 0, memory_order_release); /* seen_at is new */
}
