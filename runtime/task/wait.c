/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/wait.h"

#include <stddef.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/base/futex.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"

/* What may end a wait besides what it is for: its limit, its scope, and, in cohort_wait, a future.
 * Each of them may report long after the wait has ended, so this is on the heap. One reference for
 * the waiting, and for each that is still to report. Whoever claims it first ends the wait, which
 * is there until then. */
struct cohort__alarm {
    struct cohort__wait *wait;
    struct cohort__timer timer; /* of a task; a thread looks at the deadline itself */
    struct cohort__scope_watch watch;
    struct cohort__waiter waiter; /* of a future */
    _Atomic uint32_t refs;
    atomic_bool is_claimed;
    atomic_bool is_expired;
    uint64_t deadline; /* UINT64_MAX: none */
    cohort_scope *scope;
};

static void unref(struct cohort__alarm *alarm)
{
    if (atomic_fetch_sub_explicit(&alarm->refs, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(alarm);
}

static void ref(struct cohort__alarm *alarm)
{
    atomic_fetch_add_explicit(&alarm->refs, 1, memory_order_relaxed);
}

static bool claim(struct cohort__alarm *alarm)
{
    return !atomic_exchange_explicit(&alarm->is_claimed, true, memory_order_acq_rel);
}

/* The caller has claimed the wait. */
static void go_on(struct cohort__wait *wait, enum cohort_wait_end end)
{
    bool is_foreign = !cohort__worker_self;
    wait->end = end;
    if (is_foreign)
        cohort__foreign_enter();
    if (wait->is_task) {
        cohort__resumption_notify(&wait->resumption);
    } else {
        _Atomic uint32_t *is_over = &wait->is_over;
        atomic_store(is_over, 1);
        cohort__futex_wake(is_over);
    }
    if (is_foreign)
        cohort__foreign_leave();
}

bool cohort__wait_claim(struct cohort__wait *wait)
{
    return !wait->alarm || claim(wait->alarm);
}

void cohort__wait_wake(struct cohort__wait *wait)
{
    go_on(wait, COHORT_WAIT_COMPLETE);
}

static void expired(struct cohort__timer *timer)
{
    struct cohort__alarm *alarm = COHORT_CONTAINER_OF(timer, struct cohort__alarm, timer);
    atomic_store(&alarm->is_expired, true);
    if (claim(alarm))
        go_on(alarm->wait, COHORT_WAIT_EXPIRED);
    unref(alarm);
}

static void cancelled(struct cohort__scope_watch *watch)
{
    struct cohort__alarm *alarm = COHORT_CONTAINER_OF(watch, struct cohort__alarm, watch);
    if (claim(alarm))
        go_on(alarm->wait, COHORT_WAIT_CANCELLED);
}

static void released(struct cohort__scope_watch *watch)
{
    unref(COHORT_CONTAINER_OF(watch, struct cohort__alarm, watch));
}

/* A future is complete; or it was forgotten, and the wait may be gone. */
static void completed(struct cohort__waiter *waiter)
{
    struct cohort__alarm *alarm = COHORT_CONTAINER_OF(waiter, struct cohort__alarm, waiter);
    if (claim(alarm))
        go_on(alarm->wait, COHORT_WAIT_COMPLETE);
    unref(alarm);
}

/* --- who waits --- */

/* Whether the calling thread is the runtime's own, and runs no task. */
static bool must_not_wait(void)
{
    const struct cohort__worker *worker = cohort__worker_self;
    return worker ? !worker->context : cohort__progress_is_self();
}

cohort_status cohort__wait_check(const char *function)
{
    if (must_not_wait())
        return cohort_fail(COHORT_ERR_STATE,
                           "%s: called by the runtime's own thread outside of tasks, where waiting "
                           "would stop everything",
                           function);
    if (cohort__worker_self)
        return COHORT_OK;
    return cohort__scheduler_completes() ? COHORT_OK : cohort__scheduler_refuse(function);
}

static cohort_status add_alarm(struct cohort__wait *wait, uint64_t nanoseconds, cohort_scope *scope,
                               const char *function)
{
    struct cohort__alarm *alarm = cohort__slab_alloc_zero(sizeof(*alarm));
    if (!alarm)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for %zu bytes", function,
                           sizeof(*alarm));
    atomic_init(&alarm->refs, 1);
    alarm->wait = wait;
    alarm->scope = scope;
    alarm->deadline = cohort__clock_after(nanoseconds);
    wait->alarm = alarm;
    return COHORT_OK;
}

cohort_status cohort__wait_begin_always(struct cohort__wait *wait, const char *function)
{
    struct cohort__worker *worker = cohort__worker_self;
    wait->alarm = NULL;
    wait->is_task = worker != NULL;
    atomic_init(&wait->is_over, 0);
    if (must_not_wait())
        return cohort__wait_check(function);
    if (!worker)
        return COHORT_OK;
    cohort__resumption_init(&wait->resumption, worker);
    cohort__resumption_unpin(&wait->resumption);
    return COHORT_OK;
}

cohort_status cohort__wait_begin(struct cohort__wait *wait, uint64_t nanoseconds,
                                 const char *function)
{
    cohort_scope *scope = cohort__scope_current();
    cohort_status status = cohort__wait_begin_always(wait, function);
    if (status == COHORT_OK && (nanoseconds != COHORT_NO_LIMIT || scope))
        status = add_alarm(wait, nanoseconds, scope, function);
    return status;
}

static void arm(struct cohort__alarm *alarm)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    if (alarm->wait->is_task && alarm->deadline != UINT64_MAX) {
        ref(alarm);
        alarm->timer.expired = expired;
        hooks->timer(hooks->context, &alarm->timer, alarm->deadline);
    }
    if (alarm->scope) {
        ref(alarm);
        alarm->watch.cancel = cancelled;
        alarm->watch.release = released;
        cohort__scope_watch(alarm->scope, &alarm->watch);
    }
}

/* The wait has ended. The thread may be another one by now. */
COHORT__IN_THREAD_OF_NOW static void disarm(struct cohort__alarm *alarm)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    if (alarm->wait->is_task && alarm->deadline != UINT64_MAX && hooks->timer_cancel &&
        !atomic_load(&alarm->is_expired))
        hooks->timer_cancel(hooks->context, &alarm->timer);
    if (alarm->scope)
        cohort__scope_unwatch(&alarm->watch);
}

/* A thread claims its wait itself when its time has passed. */
static void block(struct cohort__wait *wait)
{
    struct cohort__alarm *alarm = wait->alarm;
    uint64_t deadline = alarm ? alarm->deadline : UINT64_MAX;
    while (atomic_load(&wait->is_over) == 0) {
        if (deadline == UINT64_MAX) {
            cohort__futex_wait(&wait->is_over, 0);
        } else if (!cohort__futex_wait_until(&wait->is_over, 0, deadline)) {
            deadline = UINT64_MAX;
            if (claim(alarm)) {
                wait->end = COHORT_WAIT_EXPIRED;
                return;
            }
        }
    }
}

static void block_noted(struct cohort__wait *wait, uintptr_t what, const void *caller)
{
    struct cohort__wait_line *line = cohort__wait_line_of_thread(what, caller);
    block(wait);
    cohort__wait_line_give_back(line);
}

enum cohort_wait_end cohort__wait_suspend(struct cohort__wait *wait, uintptr_t what,
                                          const void *caller)
{
    if (wait->alarm)
        arm(wait->alarm);
    if (wait->is_task)
        cohort__worker_suspend(wait->resumption.worker, &wait->resumption, what, caller);
    else
        block_noted(wait, what, caller);
    if (wait->alarm)
        disarm(wait->alarm);
    return wait->end;
}

void cohort__wait_fini(struct cohort__wait *wait)
{
    if (wait->alarm)
        unref(wait->alarm);
}

/* The same. */
COHORT__IN_THREAD_OF_NOW static void forget(cohort_future *future, struct cohort__alarm *alarm)
{
    if (!cohort_future_ready(future))
        cohort__future_forget(future, &alarm->waiter);
}

/* Others may give their references back meanwhile, so a waiter in the frame of who waits, which
 * counts as one of them, would not do. */
cohort_status cohort__wait_for_future(cohort_future *future, uint64_t nanoseconds,
                                      const void *caller, enum cohort_wait_end *ret_end)
{
    struct cohort__wait wait;
    cohort_status status = cohort__wait_begin_always(&wait, "cohort_wait");
    if (status == COHORT_OK)
        status = add_alarm(&wait, nanoseconds, cohort__scope_current(), "cohort_wait");
    if (status != COHORT_OK)
        return status;
    struct cohort__alarm *alarm = wait.alarm;
    alarm->waiter.notify = completed;
    ref(alarm);
    if (cohort__future_wait_with(future, &alarm->waiter)) {
        *ret_end = cohort__wait_suspend(&wait, cohort__future_what(future), caller);
        forget(future, alarm);
    } else {
        unref(alarm);
        *ret_end = COHORT_WAIT_COMPLETE;
    }
    cohort__wait_fini(&wait);
    return COHORT_OK;
}

/* --- its line in the ledger --- */

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
    atomic_store_explicit(&line->since, cohort__clock_cycles(), memory_order_release);
    return line;
}

void cohort__wait_line_give_back(struct cohort__wait_line *line)
{
    cohort__ledger_give_back(COHORT__LEDGER_WAITS, line);
}
