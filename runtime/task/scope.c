/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/scope.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/list.h"
#include "runtime/base/options.h"
#include "runtime/base/slab.h"
#include "runtime/base/symbol.h"
#include "runtime/task/blocking.h"
#include "runtime/task/fork.h"
#include "runtime/task/inputs.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/task.h"
#include "runtime/task/wait.h"
#include "runtime/task/worker.h"

/* Scopes are a tree. Each knows those directly inside of it, under its lock, until they have been
 * awaited.
 *
 * A scope is cancelled by whoever claims it first: then its future `cancelled`, for which all wait
 * that are to end early, fails with the reason, and the scopes inside are cancelled in turn. A
 * scope that is not cancelled claims itself at its end, and this future completes with COHORT_OK,
 * so that whoever still waits for it is let go.
 *
 * References: the handle, which the await gives back; the limit's timer; a thread that cancels;
 * what waits for other sites, and may outlive the task that has begun it. */
struct cohort_scope {
    cohort_future *cancelled;
    cohort_future *ended; /* complete when nothing is pending */
    _Atomic uint32_t refs;
    atomic_bool is_claimed;
    atomic_bool is_awaited;
    _Atomic uint64_t num_pending; /* tasks, and one more until it is awaited */
    struct cohort__inputs inputs; /* until nothing is pending */
    cohort_scope *outer;          /* exists as long as this one is in its list */
    cohort_scope *farther; /* one around it, as well, see set_outer; its own if there is none */
    size_t depth;          /* how many there are around it */
    const void *creator;   /* a return address */
    pthread_mutex_t lock;  /* guards the list */
    cohort_scope *first;   /* of the list of scopes inside */
    cohort_scope *prev, *next;
    cohort_scope *next_to_cancel; /* see cancel */
    struct cohort__list failed;   /* in `failed`, once it has failed */
    struct cohort__timer limit;
    uint64_t limit_nanoseconds;
    atomic_bool is_expired;
};

/* The scopes that have failed, and not only been cancelled, until they end. Few do, so the others
 * never come to this lock. */
static struct {
    pthread_mutex_t lock;
    struct cohort__list scopes; /* the latest is the last */
} failed = {PTHREAD_MUTEX_INITIALIZER, {&failed.scopes, &failed.scopes}};

void cohort__scope_unref(cohort_scope *scope)
{
    if (!scope || atomic_fetch_sub_explicit(&scope->refs, 1, memory_order_acq_rel) != 1)
        return;
    cohort_future_unref(scope->cancelled);
    cohort_future_unref(scope->ended);
    pthread_mutex_destroy(&scope->lock);
    cohort__slab_free(scope);
}

cohort_scope *cohort__scope_ref(cohort_scope *scope)
{
    if (scope)
        atomic_fetch_add_explicit(&scope->refs, 1, memory_order_relaxed);
    return scope;
}

cohort_scope *cohort__scope_current(void)
{
    const struct cohort__worker *worker = cohort__worker_self;
    const struct cohort__task_context *context =
        worker ? worker->context : cohort__blocking_context();
    return context ? context->scope : NULL;
}

bool cohort__scope_is_cancelled(const cohort_scope *scope)
{
    return cohort_future_ready(scope->cancelled);
}

cohort_scope *cohort_scope_current(void)
{
    return cohort__scope_current();
}

bool cohort_cancelled(void)
{
    const cohort_scope *scope = cohort__scope_current();
    return scope && cohort__scope_is_cancelled(scope);
}

void cohort__scope_check(const cohort_scope *scope, const char *function, const void *caller)
{
    if (cohort__is_gone(&scope->refs))
        cohort__misuse_of("scope", scope, "",
                          "it was awaited before, or was ended by the scope around it", function,
                          caller);
}

/* --- cancelling --- */

static bool claim(cohort_scope *scope)
{
    return !atomic_exchange_explicit(&scope->is_claimed, true, memory_order_acq_rel);
}

/* Puts the scopes inside of SCOPE, which is cancelled, in front of LIST. One that comes into the
 * list after this finds SCOPE cancelled. Each has only one scope around it, so it is in one such
 * list. */
static cohort_scope *add_inner(cohort_scope *scope, cohort_scope *list)
{
    pthread_mutex_lock(&scope->lock);
    for (cohort_scope *inner = scope->first; inner; inner = inner->next) {
        cohort__scope_ref(inner);
        inner->next_to_cancel = list;
        list = inner;
    }
    pthread_mutex_unlock(&scope->lock);
    return list;
}

/* Sets *ERROR to what is said of a scope in one that was cancelled, and WHY. It is said once, at
 * any depth. */
static void blame_outer(const struct cohort__error *why, struct cohort__error *error)
{
    static const char around[] = "the scope around it was cancelled: ";
    const char *text = cohort__error_message(why);
    const bool is_said = strncmp(text, around, sizeof(around) - 1) == 0;
    cohort__error_set(error, COHORT_ERR_CANCELLED, "%s%s", is_said ? "" : around, text);
}

/* Not by recursion: scopes may be nested deeply. */
static void cancel_inner(cohort_scope *list, const struct cohort__error *why)
{
    struct cohort__error error = {0};
    blame_outer(why, &error);
    while (list) {
        cohort_scope *scope = list;
        list = scope->next_to_cancel;
        if (claim(scope)) {
            cohort__future_complete(scope->cancelled, error.status, &error);
            list = add_inner(scope, list);
        }
        cohort__scope_unref(scope);
    }
    cohort__error_fini(&error);
}

/* Before its future `cancelled` completes, for which its end waits. */
static void note_failed(cohort_scope *scope)
{
    pthread_mutex_lock(&failed.lock);
    cohort__list_push_back(&failed.scopes, &scope->failed);
    pthread_mutex_unlock(&failed.lock);
}

static void forget_failed(cohort_scope *scope)
{
    pthread_mutex_lock(&failed.lock);
    cohort__list_remove(&scope->failed);
    pthread_mutex_unlock(&failed.lock);
}

/* If nobody has done so before. The caller has a reference, or is in SCOPE. */
static void cancel(cohort_scope *scope, const struct cohort__error *error)
{
    if (!claim(scope))
        return;
    if (error->status != COHORT_ERR_CANCELLED)
        note_failed(scope);
    cohort__future_complete(scope->cancelled, error->status, error);
    cohort_scope *inner = add_inner(scope, NULL);
    if (inner)
        cancel_inner(inner, error);
}

void cohort__scope_fail(cohort_scope *scope, cohort_status status,
                        const struct cohort__error *error)
{
    struct cohort__error own = {.status = status};
    cancel(scope, error->status == status ? error : &own);
}

void cohort_scope_cancel(cohort_scope *scope)
{
    struct cohort__error error = {0};
    if (!scope)
        return;
    cohort__scope_check(scope, "cohort_scope_cancel", __builtin_return_address(0));
    cohort__scope_ref(scope);
    cohort__error_set(&error, COHORT_ERR_CANCELLED, "cohort_scope_cancel was called");
    cancel(scope, &error);
    cohort__error_fini(&error);
    cohort__scope_unref(scope);
}

cohort_status cohort_scope_fail(cohort_scope *scope, cohort_status status, const char *format, ...)
{
    struct cohort__error *error = cohort__error_slot();
    va_list args;
    va_start(args, format);
    cohort__error_vset(error, status == COHORT_OK ? COHORT_ERR_FAILED : status, format, args);
    va_end(args);
    if (scope) {
        cohort__scope_check(scope, "cohort_scope_fail", __builtin_return_address(0));
        cohort__scope_ref(scope);
        cancel(scope, error);
        cohort__scope_unref(scope);
    }
    return error->status;
}

static void expired(struct cohort__timer *timer)
{
    cohort_scope *scope = COHORT_CONTAINER_OF(timer, cohort_scope, limit);
    struct cohort__error error = {0};
    atomic_store(&scope->is_expired, true);
    cohort__error_set(&error, COHORT_ERR_TIMEOUT,
                      "cohort_scope_await: the scope had not ended after its limit of %.3f "
                      "milliseconds",
                      (double)scope->limit_nanoseconds / 1e6);
    cancel(scope, &error);
    cohort__error_fini(&error);
    cohort__scope_unref(scope);
}

void cohort__scope_explain(const cohort_scope *scope, const char *what, struct cohort__error *error)
{
    struct cohort__error why = {0};
    cohort__future_error(scope->cancelled, &why);
    cohort__error_set(error, COHORT_ERR_CANCELLED, "%s%sits scope was cancelled: %s",
                      what ? what : "", what ? ": " : "", cohort__error_message(&why));
    cohort__error_fini(&why);
}

/* --- watches --- */

static void put(struct cohort__scope_watch *watch)
{
    if (atomic_fetch_sub_explicit(&watch->users, 1, memory_order_acq_rel) != 1)
        return;
    cohort_future_unref(watch->cancelled);
    watch->release(watch);
}

/* The scope of WATCH is cancelled, and has not only ended. */
static bool is_cancelled(const struct cohort__scope_watch *watch)
{
    return cohort_future_ready(watch->cancelled) &&
           cohort__future_status(watch->cancelled) != COHORT_OK;
}

/* The scope is cancelled, or has ended; or the watch was forgotten. */
static void notify(struct cohort__waiter *waiter)
{
    struct cohort__scope_watch *watch =
        COHORT_CONTAINER_OF(waiter, struct cohort__scope_watch, waiter);
    if (!atomic_load(&waiter->is_forgotten) && is_cancelled(watch))
        watch->cancel(watch);
    put(watch);
}

void cohort__scope_watch(cohort_scope *scope, struct cohort__scope_watch *watch)
{
    watch->cancelled = cohort_future_ref(scope->cancelled);
    watch->waiter = (struct cohort__waiter){.notify = notify};
    atomic_init(&watch->users, 2);
    if (!cohort__future_wait_with(watch->cancelled, &watch->waiter))
        notify(&watch->waiter);
}

void cohort__scope_unwatch(struct cohort__scope_watch *watch)
{
    if (!cohort_future_ready(watch->cancelled))
        cohort__future_forget(watch->cancelled, &watch->waiter);
    put(watch);
}

/* --- tasks in a scope --- */

void cohort__scope_enter(cohort_scope *scope)
{
    if (scope)
        atomic_fetch_add_explicit(&scope->num_pending, 1, memory_order_relaxed);
}

void cohort__scope_leave(cohort_scope *scope)
{
    if (!scope || atomic_fetch_sub_explicit(&scope->num_pending, 1, memory_order_acq_rel) != 1)
        return;
    cohort__inputs_end(&scope->inputs);
    cohort__future_fulfil(scope->ended, NULL);
}

/* While nobody awaits it there is no line. */
static void describe(struct cohort__inputs *inputs, uint64_t since)
{
    const cohort_scope *scope = COHORT_CONTAINER_OF(inputs, cohort_scope, inputs);
    const uint64_t num = atomic_load_explicit(&scope->num_pending, memory_order_relaxed);
    if (!atomic_load(&scope->is_awaited))
        return;
    struct cohort__inputs_line line = {.since = since,
                                       .of = (uintptr_t)scope->ended,
                                       .scope = (uintptr_t)scope,
                                       .num = num,
                                       .wanted = num,
                                       .kind = cohort__scope_is_cancelled(scope)
                                                   ? COHORT__INPUTS_CANCELLED
                                                   : COHORT__INPUTS_SCOPE};
    cohort__inputs_tell(&line);
}

/* FARTHER leads twice as far as before, and a step, where the last two jumps were equally long: so
 * from any scope the way to one around it takes a logarithm of the depth. */
static void set_outer(cohort_scope *scope, cohort_scope *outer)
{
    scope->outer = outer;
    scope->farther = scope;
    if (!outer)
        return;
    cohort_scope *far = outer->farther;
    scope->depth = outer->depth + 1;
    scope->farther =
        outer->depth - far->depth == far->depth - far->farther->depth ? far->farther : outer;
}

/* Whether the calling task is in SCOPE, or in one inside of it. */
static bool is_inside(const cohort_scope *scope)
{
    const cohort_scope *here = cohort__scope_current();
    while (here && here->depth > scope->depth)
        here = here->farther->depth >= scope->depth ? here->farther : here->outer;
    return here == scope;
}

cohort_status cohort__scope_check_open(const cohort_scope *scope, const char *name)
{
    if (atomic_load(&scope->is_awaited) && !is_inside(scope))
        return cohort_fail(COHORT_ERR_STATE,
                           "%s: the scope is being awaited, so only tasks in it may start more",
                           name);
    if (cohort__scope_is_cancelled(scope)) {
        cohort__scope_explain(scope, name, cohort__error_slot());
        return COHORT_ERR_CANCELLED;
    }
    return COHORT_OK;
}

cohort_status cohort_scope_async(cohort_scope *scope, cohort_task_function *function, void *arg)
{
    const char *name = "cohort_scope_async";
    if (!scope || !function)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s is NULL", name,
                           scope ? "function" : "scope");
    cohort__scope_check(scope, name, __builtin_return_address(0));
    cohort_status status = cohort__scope_check_open(scope, name);
    return status == COHORT_OK
               ? cohort__task_start_in(scope, function, arg, (cohort__any_function *)function)
               : status;
}

/* --- a scope's life --- */

/* If SCOPE has one around it, that is the one of the running task. Who cancels that completes its
 * future first, and then looks who is in the list: so SCOPE is not cancelled before the outer one
 * is, and not left out. */
static void join_outer(cohort_scope *scope)
{
    cohort_scope *outer = scope->outer;
    if (!outer)
        return;
    pthread_mutex_lock(&outer->lock);
    scope->next = outer->first;
    if (outer->first)
        outer->first->prev = scope;
    outer->first = scope;
    pthread_mutex_unlock(&outer->lock);
    if (!cohort__scope_is_cancelled(outer))
        return;
    struct cohort__error error = {0}, why = {0};
    cohort__future_error(outer->cancelled, &why);
    blame_outer(&why, &error);
    cancel(scope, &error);
    cohort__error_fini(&error);
    cohort__error_fini(&why);
}

static void leave_outer(cohort_scope *scope)
{
    cohort_scope *outer = scope->outer;
    if (!outer)
        return;
    pthread_mutex_lock(&outer->lock);
    if (scope->prev)
        scope->prev->next = scope->next;
    else
        outer->first = scope->next;
    if (scope->next)
        scope->next->prev = scope->prev;
    pthread_mutex_unlock(&outer->lock);
}

/* NULL: there is no memory. */
static cohort_scope *create(uint64_t limit_nanoseconds)
{
    cohort_scope *scope = cohort__slab_alloc_zero(sizeof(*scope));
    if (!scope)
        return NULL;
    atomic_fetch_or(&cohort__unusual, COHORT__UNUSUAL_SCOPES);
    atomic_init(&scope->refs, 1);
    atomic_init(&scope->num_pending, 1);
    pthread_mutex_init(&scope->lock, NULL);
    cohort__list_init(&scope->failed);
    set_outer(scope, NULL);
    scope->limit_nanoseconds = limit_nanoseconds;
    scope->cancelled = cohort__future_create();
    scope->ended = cohort__future_create_about(COHORT__WAIT_SEVERAL);
    if (!scope->cancelled || !scope->ended) {
        cohort_future_unref(scope->cancelled); /* the completer's references */
        cohort_future_unref(scope->ended);
        cohort__scope_unref(scope);
        return NULL;
    }
    cohort__inputs_begin(&scope->inputs, describe);
    return scope;
}

static void set_limit(cohort_scope *scope)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    if (scope->limit_nanoseconds == 0)
        return;
    cohort__scope_ref(scope);
    scope->limit.expired = expired;
    scope->limit.deadline = cohort__clock_after(scope->limit_nanoseconds);
    hooks->timer(hooks->context, &scope->limit, scope->limit.deadline);
}

static void end_limit(cohort_scope *scope)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    if (scope->limit_nanoseconds == 0)
        return;
    if (cohort__scheduler_hold() && hooks->timer_cancel && !atomic_load(&scope->is_expired))
        hooks->timer_cancel(hooks->context, &scope->limit);
    cohort__scheduler_release();
}

static cohort_status start(const cohort_scope_options *options, const void *creator,
                           cohort_scope **ret_scope)
{
    cohort_scope *scope = create(options->limit_nanoseconds);
    if (!scope)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_scope_create: no memory for a scope");
    set_outer(scope, cohort__scope_current());
    scope->creator = creator;
    join_outer(scope);
    set_limit(scope);
    *ret_scope = scope;
    return COHORT_OK;
}

cohort_status cohort_scope_create_sized(const cohort_scope_options *options, size_t options_bytes,
                                        cohort_scope **ret_scope)
{
    const char *name = "cohort_scope_create";
    cohort_scope_options read = {0};
    if (!ret_scope)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_scope is NULL", name);
    if (options) {
        cohort_status status = cohort__options_read(&read, sizeof(read), options, options_bytes,
                                                    "cohort_scope_options");
        if (status != COHORT_OK)
            return cohort_fail(status, "%s: %s", name, cohort_error_message());
    }
    bool is_up = cohort__scheduler_hold();
    cohort_status status = is_up ? start(&read, __builtin_return_address(0), ret_scope)
                                 : cohort__scheduler_refuse(name);
    cohort__scheduler_release();
    return status;
}

/* --- errors that nobody has heard of --- */

/* Whether SCOPE has failed, and not only been cancelled. *ERROR, which is empty, is then why. */
static bool lost_error(const cohort_scope *scope, struct cohort__error *error)
{
    if (!cohort_future_ready(scope->cancelled))
        return false;
    cohort_status status = cohort__future_status(scope->cancelled);
    if (status == COHORT_OK || status == COHORT_ERR_CANCELLED)
        return false;
    cohort__future_error(scope->cancelled, error);
    return true;
}

/* Always, as the program may not hear of it in any other way. */
static void tell_lost(const cohort_scope *scope)
{
    struct cohort__error error = {0};
    char where[480], text[1280];
    if (atomic_load(&scope->is_awaited) || !lost_error(scope, &error))
        return;
    cohort__symbol_name(scope->creator, where, sizeof(where));
    int bytes = snprintf(text, sizeof(text),
                         "cohort: the scope that was created at %s has failed, and nobody had "
                         "awaited it when the runtime ended: %s: %s\n",
                         where, cohort_status_name(error.status), cohort__error_message(&error));
    (void)!write(STDERR_FILENO, text, (size_t)bytes);
    cohort__error_fini(&error);
}

void cohort__scopes_tell_lost(void)
{
    struct cohort__list *link;
    pthread_mutex_lock(&failed.lock);
    while ((link = cohort__list_pop_front(&failed.scopes)))
        tell_lost(COHORT_CONTAINER_OF(link, cohort_scope, failed));
    pthread_mutex_unlock(&failed.lock);
}

/* --- its end --- */

/* Its tasks have ended, and so have those of the scopes inside. Gives the handle back. */
static cohort_status end(cohort_scope *scope, const void *caller)
{
    if (claim(scope))
        cohort__future_fulfil(scope->cancelled, NULL);
    end_limit(scope);
    leave_outer(scope);
    /* Whoever has claimed it instead may not have come to that yet, even after the runtime's end.
     */
    for (unsigned num = 0; !cohort_future_ready(scope->cancelled) &&
                           cohort__wait_check("cohort_scope_await") != COHORT_OK;)
        cohort__core_yield(&num);
    cohort_status status =
        cohort__future_await(cohort_future_ref(scope->cancelled), "cohort_scope_await", caller);
    if (status != COHORT_OK)
        forget_failed(scope);
    cohort__scope_unref(scope);
    return status;
}

/* The newest of the scopes inside of SCOPE, with a reference, or NULL. */
static cohort_scope *take_inner(cohort_scope *scope)
{
    pthread_mutex_lock(&scope->lock);
    cohort_scope *inner = scope->first;
    if (inner)
        cohort__scope_ref(inner);
    pthread_mutex_unlock(&scope->lock);
    return inner;
}

/* The caller may wait, so this does not fail. */
static void wait_for_tasks(cohort_scope *scope, const void *caller)
{
    (void)!cohort__future_await(cohort_future_ref(scope->ended), "cohort_scope_await", caller);
}

/* A thread outside awaits SCOPE and is about to take it out of the list that it is in. */
static void let_go(cohort_scope *scope, const void *caller)
{
    wait_for_tasks(scope, caller);
    cohort_yield();
}

/* Nobody has awaited INNER. If it has failed by now, its error is part of that of SCOPE. */
static void fail_for_inner(cohort_scope *scope, const cohort_scope *inner)
{
    struct cohort__error error = {0}, why = {0};
    bool has_failed = lost_error(inner, &why);
    cohort__error_set(&error, COHORT_ERR_STATE,
                      "cohort_scope_await: a task of the scope has created another scope, and "
                      "nobody has awaited that%s%s",
                      has_failed ? ", which has failed: " : "",
                      has_failed ? cohort__error_message(&why) : "");
    cancel(scope, &error);
    cohort__error_fini(&error);
    cohort__error_fini(&why);
}

/* All tasks of SCOPE have ended, so nobody is left who could await INNER, which is in it. Returns
 * INNER if that is to be ended here, and its tasks have ended. Else it is over soon. */
static cohort_scope *go_inside(cohort_scope *scope, cohort_scope *inner, const void *caller)
{
    fail_for_inner(scope, inner);
    if (atomic_exchange(&inner->is_awaited, true)) {
        let_go(inner, caller);
        cohort__scope_unref(inner);
        return scope;
    }
    cohort__scope_leave(inner);
    wait_for_tasks(inner, caller);
    return inner;
}

/* SCOPE, which go_inside has returned, has none inside any more. Returns the one around it. */
static cohort_scope *go_outside(cohort_scope *scope, const void *caller)
{
    cohort_scope *outer = scope->outer;
    (void)!end(scope, caller);
    cohort__scope_unref(scope);
    return outer;
}

/* Not by recursion either. */
static cohort_status finish(cohort_scope *scope, const void *caller)
{
    cohort_scope *here = scope, *inner;
    wait_for_tasks(scope, caller);
    while ((inner = take_inner(here)) || here != scope)
        here = inner ? go_inside(here, inner, caller) : go_outside(here, caller);
    return end(scope, caller);
}

cohort_status cohort__scope_finish(cohort_scope *scope)
{
    return finish(scope, __builtin_return_address(0));
}

static cohort_status await_tree(cohort_scope *scope, const void *caller)
{
    cohort__scope_leave(scope);
    return finish(scope, caller);
}

cohort_status cohort__scope_create_alone(cohort_scope **ret_scope)
{
    cohort_scope *scope = create(0);
    if (!scope)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a scope");
    *ret_scope = scope;
    return COHORT_OK;
}

cohort_future *cohort__scope_ended(cohort_scope *scope)
{
    return cohort_future_ref(scope->ended);
}

void cohort__scope_close(cohort_scope *scope)
{
    atomic_store(&scope->is_awaited, true);
    cohort__scope_leave(scope);
}

/* The runtime has ended, and so have all tasks of SCOPE: there is nothing to wait for. */
static bool is_over(const cohort_scope *scope)
{
    return atomic_load(&cohort__scheduler.num_completers) == 0 && !cohort__fork_is_child() &&
           atomic_load(&scope->num_pending) == 1;
}

cohort_status cohort_scope_await(cohort_scope *scope)
{
    const char *name = "cohort_scope_await";
    if (!scope)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: scope is NULL", name);
    cohort__scope_check(scope, name, __builtin_return_address(0));
    if (is_inside(scope))
        return cohort_fail(COHORT_ERR_STATE, "%s: called by a task in the scope", name);
    cohort_status status = cohort__wait_check(name);
    if (status != COHORT_OK && !is_over(scope))
        return status;
    if (atomic_exchange(&scope->is_awaited, true))
        return cohort_fail(COHORT_ERR_STATE, "%s: the scope is being awaited already", name);
    return await_tree(scope, __builtin_return_address(0));
}
