/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/worker.h"

#include <sched.h>

#include "runtime/base/clock.h"
#include "runtime/task/futex.h"

/* How no wake-up gets lost. All of this is sequentially consistent, so there is one order of it.
 *
 * Who makes work available does that first, and then looks for sleepers. Who falls asleep first
 * writes its sleep_state, counts itself in num_sleeping, and then looks for work once more.
 * Whichever of the two comes second in that order sees what the first one wrote. The same holds for
 * the token (who releases it looks for sleepers; who falls asleep without it looks whether it is
 * free) and for stopping.
 *
 * To wake no more than needed, work for anybody wakes nobody while some worker searches. A searcher
 * that gives up leaves num_searching first and then looks once more, before it sleeps, so it sees
 * what was made available while it was counted. One that finds work leaves num_searching, and if
 * there is more work then, or nobody has the token, it wakes the next one.
 *
 * Where there is but one worker, the two shared words that tell workers apart are spared what they
 * cost: nobody counts it as a searcher, and nobody else ever takes the token.
 *
 * Who wakes a sleeper changes its sleep_state and corrects num_sleeping for it; if that is for
 * searching, the woken one is counted as a searcher already, or else each of many pushes would wake
 * another worker before the first has got up. */

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

/* Somebody should look: there is work for anybody, or nobody turns the loop. */
static bool is_needed(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    if (atomic_load(&s->token) == 0 || !cohort__batch_queue_is_empty(&s->injected))
        return true;
    for (unsigned i = 0; i < s->num_workers; i++)
        if (!cohort__deque_is_empty(&s->workers[i]->deque))
            return true;
    return false;
}

/* A sleeper on the futex before the one who parks in the loop. */
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
        /* Others that saw the count of 1 relied on us. */
    } while (is_needed());
}

static void search_begin(struct cohort__worker *worker)
{
    if (worker->is_searching)
        return;
    worker->is_searching = true;
    if (cohort__scheduler.num_workers > 1)
        atomic_fetch_add(&cohort__scheduler.num_searching, 1);
}

/* Without anything found. */
static void search_give_up(struct cohort__worker *worker)
{
    worker->is_searching = false;
    if (cohort__scheduler.num_workers > 1)
        atomic_fetch_sub(&cohort__scheduler.num_searching, 1);
}

void cohort__worker_search_end(struct cohort__worker *worker)
{
    if (!worker->is_searching)
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

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* True: the loop brought something, not necessarily work. */
static bool look(struct cohort__worker *worker, bool *is_holder)
{
    if (!*is_holder)
        *is_holder = cohort__token_try(worker);
    if (*is_holder)
        return cohort__scheduler.hooks.poll(cohort__scheduler.hooks.context);
    pause_briefly();
    return false;
}

/* Looks until there is something or patience ends. */
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
        if (any || cohort__spin_again(&worker->spin, cohort__clock_ticks()))
            continue;
        if (num_yields++ == cohort__scheduler.options.yield_polls)
            return false;
        sched_yield(); /* makes way for those of the same session and control group */
    }
}

/* The last look before sleeping, when the sleep_state is written. */
static bool must_not_sleep(struct cohort__worker *worker, bool is_holder)
{
    return cohort__worker_has_work(worker) || cohort__worker_may_leave() ||
           (!is_holder && atomic_load(&cohort__scheduler.token) == 0);
}

static void sleep_until_woken(struct cohort__worker *worker, bool is_holder)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    atomic_store(&worker->sleep_state, is_holder ? COHORT__PARKED : COHORT__SLEEPING);
    atomic_fetch_add(&s->num_sleeping, 1);
    if (!must_not_sleep(worker, is_holder)) {
        if (is_holder)
            while (!s->hooks.park(s->hooks.context) &&
                   atomic_load(&worker->sleep_state) == COHORT__PARKED &&
                   !must_not_sleep(worker, true))
                ;
        else
            while (atomic_load(&worker->sleep_state) == COHORT__SLEEPING)
                cohort__futex_wait(&worker->sleep_state, COHORT__SLEEPING);
    }
    uint32_t state = atomic_exchange(&worker->sleep_state, COHORT__AWAKE);
    if (state == COHORT__SLEEPING || state == COHORT__PARKED)
        atomic_fetch_sub(&s->num_sleeping, 1);
    worker->is_searching = state == COHORT__AWAKE_TO_SEARCH;
}

void cohort__worker_idle(struct cohort__worker *worker)
{
    bool is_holder = cohort__token_try(worker);
    search_begin(worker);
    if (!search(worker, &is_holder)) {
        search_give_up(worker);
        sleep_until_woken(worker, is_holder);
    }
    if (is_holder)
        cohort__token_release();
}
