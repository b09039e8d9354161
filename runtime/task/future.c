/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/future.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/slab.h"
#include "runtime/task/task.h"
#include "runtime/task/worker.h"

/* Stands in refs of a future that many threads use and nobody frees. Its references are not
 * counted. */
#define NOT_COUNTED UINT32_MAX

/* So many waiters of a future may be forgotten before they are removed for the first time. */
enum { SWEEP_MIN = 16 };

/* A bit of the state, see for_owner. */
#define FOR_OWNER ((uintptr_t)2)

/* What future_no_memory returns. */
static struct cohort_future out_of_memory = {
    .state = COHORT__FUTURE_DONE,
    .refs = NOT_COUNTED,
    .status = COHORT_ERR_NO_MEMORY,
};

/* This one object serves for all futures that are complete from the start and have no value. */
static struct cohort_future nothing = {
    .state = COHORT__FUTURE_DONE,
    .refs = NOT_COUNTED,
    .status = COHORT_OK,
};

static inline cohort_future *create(enum cohort__wait_kind about)
{
    cohort_future *future = cohort__slab_alloc(sizeof(*future));
    if (!future) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "future: no memory for %zu bytes", sizeof(*future));
        return NULL;
    }
    cohort__future_init(future, 2, about);
    return future;
}

cohort_future *cohort__future_create(void)
{
    return create(COHORT__WAIT_PLAIN);
}

cohort_future *cohort__future_create_about(enum cohort__wait_kind about)
{
    return create(about);
}

/* Whether REFS counts references. It does not if it is NOT_COUNTED, or 0, because the last one was
 * given back: then the program ends. */
static inline bool is_counted(uint32_t refs, const cohort_future *future, const char *function,
                              const void *caller)
{
    if (__builtin_expect(refs - 1 < NOT_COUNTED - 1, 1)) /* neither of both, by one comparison */
        return true;
    if (refs == 0)
        cohort__misuse(COHORT__MISUSE_GONE, future, function, caller);
    return false;
}

cohort_future *cohort_future_ref(cohort_future *future)
{
    if (future && is_counted(atomic_load_explicit(&future->refs, memory_order_relaxed), future,
                             "cohort_future_ref", __builtin_return_address(0)))
        atomic_fetch_add_explicit(&future->refs, 1, memory_order_relaxed);
    return future;
}

static void destroy(cohort_future *future)
{
    if (future->status != COHORT_OK) {
        struct cohort__error error = {future->status, future->text};
        cohort__error_fini(&error);
    }
    atomic_store_explicit(&future->refs, 0, memory_order_relaxed);
    cohort__slab_free(future);
}

void cohort_future_unref(cohort_future *future)
{
    if (!future)
        return;
    /* If this is the only reference, no atomic decrement is needed: nobody else can take another
     * one. */
    uint32_t refs = atomic_load_explicit(&future->refs, memory_order_acquire);
    if (refs == 1 ||
        (is_counted(refs, future, "cohort_future_unref", __builtin_return_address(0)) &&
         atomic_fetch_sub_explicit(&future->refs, 1, memory_order_acq_rel) == 1))
        destroy(future);
}

bool cohort_future_ready(const cohort_future *future)
{
    if (!future)
        return false;
    if (cohort__future_is_complete(future))
        return true;
    cohort__future_check(future, "cohort_future_ready", __builtin_return_address(0));
    return false;
}

/* What this thread is to complete, since it has completed something else. */
static _Thread_local struct {
    struct cohort__waiter *first, *last;
    bool is_running;
} following __attribute__((tls_model("initial-exec")));

void cohort__waiter_follow(struct cohort__waiter *waiter,
                           void (*follow)(struct cohort__waiter *waiter))
{
    if (following.is_running) {
        waiter->next = NULL;
        waiter->notify = follow;
        if (following.first)
            following.last->next = waiter;
        else
            following.first = waiter;
        following.last = waiter;
        return;
    }
    following.is_running = true;
    follow(waiter);
    while ((waiter = following.first)) {
        following.first = waiter->next;
        waiter->notify(waiter);
    }
    following.is_running = false;
}

static void notify_all(struct cohort__waiter *newest)
{
    struct cohort__waiter *waiter = NULL; /* the oldest, when the loop has ended */
    while (newest) {
        struct cohort__waiter *next = newest->next;
        newest->next = waiter;
        waiter = newest;
        newest = next;
    }
    while (waiter) {
        struct cohort__waiter *next = waiter->next; /* notify may free the waiter */
        waiter->notify(waiter);
        waiter = next;
    }
}

/* The state while the list has only WAITER, which is an owner. */
static struct cohort__waiter *for_owner(struct cohort__waiter *waiter)
{
    return (struct cohort__waiter *)((uintptr_t)waiter | FOR_OWNER);
}

/* The list of STATE, which is not COHORT__FUTURE_DONE. */
static struct cohort__waiter *list_of(struct cohort__waiter *state)
{
    return (struct cohort__waiter *)((uintptr_t)state & ~FOR_OWNER);
}

/* Completes FUTURE without atomic changes, if nobody but its completer and its only waiter have it.
 * False: that is not so. Another waiter could be forgotten and gone at any time, so the state
 * itself says that this is an owner. From the first look on it is there. At the second one only it
 * and the completer have a reference, so nobody changes the state any more. Who had one before may
 * have done so after the first look, which the third one shows. tests/model/future.pml is about
 * this. */
static bool finish_for_owner(cohort_future *future)
{
    struct cohort__waiter *state = atomic_load_explicit(&future->state, memory_order_acquire);
    if (!((uintptr_t)state & FOR_OWNER) ||
        atomic_load_explicit(&future->refs, memory_order_acquire) != 2 ||
        atomic_load_explicit(&future->state, memory_order_relaxed) != state)
        return false;
    struct cohort__waiter *waiter = list_of(state);
    atomic_store_explicit(&future->state, COHORT__FUTURE_DONE, memory_order_release);
    atomic_store_explicit(&future->refs, 1, memory_order_relaxed);
    waiter->notify(waiter);
    return true;
}

/* Keeps the reference. */
static void finish_for_all(cohort_future *future)
{
    struct cohort__waiter *state =
        atomic_exchange_explicit(&future->state, COHORT__FUTURE_DONE, memory_order_acq_rel);
    if (state)
        notify_all(list_of(state));
}

/* Nobody waits yet: then the scheduler is not needed. */
static bool finish_for_nobody(cohort_future *future)
{
    struct cohort__waiter *nobody = NULL;
    return atomic_compare_exchange_strong_explicit(&future->state, &nobody, COHORT__FUTURE_DONE,
                                                   memory_order_release, memory_order_relaxed);
}

static void finish_here(cohort_future *future)
{
    if (finish_for_owner(future))
        return;
    finish_for_all(future);
    cohort_future_unref(future);
}

/* The status and the value or text are written already. */
static void finish(cohort_future *future)
{
    if (cohort__worker_self) {
        finish_here(future);
    } else if (finish_for_nobody(future)) {
        cohort_future_unref(future);
    } else {
        /* As soon as the future is complete, the program may go on and end. So a thread that is no
         * worker has to hold the scheduler before that, for those who are notified. */
        cohort__foreign_enter();
        finish_here(future);
        cohort__foreign_leave();
    }
}

static void set_error(cohort_future *future, cohort_status status,
                      const struct cohort__error *error)
{
    struct cohort__error copy = {0};
    if (error && error->status == status)
        cohort__error_copy(&copy, error);
    future->status = status;
    future->text = copy.text;
}

void cohort__future_complete(cohort_future *future, cohort_status status,
                             const struct cohort__error *error)
{
    if (status != COHORT_OK)
        set_error(future, status, error);
    finish(future);
}

void cohort__future_complete_like(cohort_future *future, const cohort_future *source)
{
    if (source->status == COHORT_OK) {
        future->value = source->value;
    } else {
        struct cohort__error error = {source->status, source->text};
        set_error(future, source->status, &error);
    }
    finish(future);
}

bool cohort__future_is_own(const cohort_future *future)
{
    return atomic_load_explicit(&future->refs, memory_order_acquire) == 2 &&
           !atomic_load_explicit(&future->state, memory_order_relaxed);
}

void cohort__future_complete_own(cohort_future *future, cohort_status status,
                                 const struct cohort__error *error)
{
    if (status != COHORT_OK)
        set_error(future, status, error);
    atomic_store_explicit(&future->state, COHORT__FUTURE_DONE, memory_order_release);
    atomic_store_explicit(&future->refs, 1, memory_order_relaxed);
}

void cohort__future_complete_held(cohort_future *future, cohort_status status,
                                  const struct cohort__error *error)
{
    if (status != COHORT_OK)
        set_error(future, status, error);
    finish_for_all(future);
}

void cohort__future_fulfil(cohort_future *future, void *value)
{
    future->value = value;
    finish(future);
}

/* An error must not have the status COHORT_OK. */
static cohort_status not_ok(cohort_status status)
{
    return status == COHORT_OK ? COHORT_ERR_FAILED : status;
}

__attribute__((format(printf, 3, 0))) static void vfail(cohort_future *future, cohort_status status,
                                                        const char *format, va_list args)
{
    struct cohort__error error = {0};
    cohort__error_vset(&error, not_ok(status), format, args);
    future->status = error.status;
    future->text = error.text;
    finish(future);
}

void cohort__future_fail(cohort_future *future, cohort_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(future, status, format, args);
    va_end(args);
}

/* Adds WAITER to the list, if it is not too late. Returns the state before. */
static inline struct cohort__waiter *add(cohort_future *future, struct cohort__waiter *waiter)
{
    atomic_init(&waiter->is_forgotten, false);
    struct cohort__waiter *head = atomic_load_explicit(&future->state, memory_order_acquire);
    do {
        if (head == COHORT__FUTURE_DONE)
            break;
        waiter->next = list_of(head);
    } while (!atomic_compare_exchange_weak_explicit(
        &future->state, &head, !head && waiter->is_owner ? for_owner(waiter) : waiter,
        memory_order_release, memory_order_acquire));
    return head;
}

bool cohort__future_wait_with(cohort_future *future, struct cohort__waiter *waiter)
{
    return add(future, waiter) != COHORT__FUTURE_DONE;
}

/* The completer and each owner have a reference, and no owner gives it back before it is
 * notified: so with another one there are at least three. They are counted before WAITER is in the
 * list, since after that all may be over. tests/model/future.pml is about this, too. */
bool cohort__future_wait_as_owner(cohort_future *future, struct cohort__waiter *waiter,
                                  const char *function, const void *caller)
{
    uint32_t refs = atomic_load_explicit(&future->refs, memory_order_relaxed);
    struct cohort__waiter *before = add(future, waiter);
    if (!before)
        return true;
    if (before == COHORT__FUTURE_DONE)
        return false;
    if ((uintptr_t)before & FOR_OWNER && refs < 3)
        cohort__misuse(COHORT__MISUSE_SHARED, future, function, caller);
    return true;
}

/* Takes the whole list of waiters. Returns false if FUTURE is complete, so that there is no
 * list. */
static bool detach(cohort_future *future, struct cohort__waiter **ret_waiters)
{
    struct cohort__waiter *head = atomic_load_explicit(&future->state, memory_order_acquire);
    do {
        if (head == COHORT__FUTURE_DONE)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&future->state, &head, NULL,
                                                    memory_order_acquire, memory_order_acquire));
    *ret_waiters = list_of(head);
    return true;
}

/* Puts the list from FIRST to LAST back. If the future was completed meanwhile, these waiters have
 * not been notified, so it notifies them. */
static void attach(cohort_future *future, struct cohort__waiter *first, struct cohort__waiter *last)
{
    struct cohort__waiter *head = atomic_load_explicit(&future->state, memory_order_acquire);
    do {
        if (head == COHORT__FUTURE_DONE) {
            last->next = NULL;
            notify_all(first);
            return;
        }
        last->next = list_of(head);
    } while (!atomic_compare_exchange_weak_explicit(&future->state, &head, first,
                                                    memory_order_acq_rel, memory_order_acquire));
}

/* Moves the forgotten waiters of the list at *LINK to the list *FORGOTTEN. Returns the last one
 * that stays, or NULL, and counts both. */
static struct cohort__waiter *sort_out(struct cohort__waiter **link,
                                       struct cohort__waiter **forgotten, uint32_t *num_forgotten,
                                       uint32_t *num_left)
{
    struct cohort__waiter *last = NULL;
    while (*link) {
        struct cohort__waiter *waiter = *link;
        if (atomic_load_explicit(&waiter->is_forgotten, memory_order_acquire)) {
            *link = waiter->next;
            waiter->next = *forgotten;
            *forgotten = waiter;
            ++*num_forgotten;
        } else {
            last = waiter;
            link = &waiter->next;
            ++*num_left;
        }
    }
    return last;
}

/* Removes the forgotten waiters. The next time is when as many have been forgotten as are left. */
static void sweep(cohort_future *future)
{
    struct cohort__waiter *first, *forgotten = NULL;
    uint32_t num_forgotten = 0, num_left = 0;
    if (!detach(future, &first) || !first)
        return;
    struct cohort__waiter *last = sort_out(&first, &forgotten, &num_forgotten, &num_left);
    unsigned char shift = 0;
    while (shift < 31 && (uint32_t)SWEEP_MIN << shift < num_left)
        shift++;
    atomic_store_explicit(&future->sweep_shift, shift, memory_order_relaxed);
    atomic_fetch_sub_explicit(&future->num_forgotten, num_forgotten, memory_order_relaxed);
    if (first)
        attach(future, first, last);
    notify_all(forgotten);
}

void cohort__future_forget(cohort_future *future, struct cohort__waiter *waiter)
{
    bool is_foreign = !cohort__worker_self;
    if (is_foreign)
        cohort__foreign_enter();
    /* It is counted before it is marked, so that the count never falls below zero. */
    uint32_t num = atomic_fetch_add_explicit(&future->num_forgotten, 1, memory_order_relaxed) + 1;
    atomic_store_explicit(&waiter->is_forgotten, true, memory_order_release);
    if (num >= (uint32_t)SWEEP_MIN
                   << atomic_load_explicit(&future->sweep_shift, memory_order_relaxed))
        sweep(future);
    if (is_foreign)
        cohort__foreign_leave();
}

cohort_status cohort__future_status(const cohort_future *future)
{
    return future->status;
}

void *cohort__future_value(const cohort_future *future)
{
    return future->status == COHORT_OK ? future->value : NULL;
}

void cohort__future_error(const cohort_future *future, struct cohort__error *error)
{
    struct cohort__error own = {.status = future->status};
    if (own.status != COHORT_OK)
        own.text = future->text;
    cohort__error_copy(error, &own);
}

cohort_future *cohort__future_no_memory(void)
{
    return &out_of_memory;
}

/* A future that is complete from the start. Its only reference is the caller's. NULL if there is no
 * memory. */
static cohort_future *create_complete(void)
{
    cohort_future *future = cohort__slab_alloc(sizeof(*future));
    if (!future)
        return NULL;
    cohort__future_init(future, 1, COHORT__WAIT_PLAIN);
    atomic_init(&future->state, COHORT__FUTURE_DONE);
    return future;
}

cohort_future *cohort__future_of_status(cohort_status status, const struct cohort__error *error)
{
    cohort_future *future = create_complete();
    if (!future)
        return cohort__future_no_memory();
    if (status != COHORT_OK)
        set_error(future, status, error);
    return future;
}

cohort_future *cohort_future_of_value(void *value)
{
    if (!value)
        return &nothing;
    cohort_future *future = create_complete();
    if (!future)
        return cohort__future_no_memory();
    future->value = value;
    return future;
}

cohort_future *cohort_future_of_error(cohort_status status, const char *format, ...)
{
    struct cohort__error error = {0};
    va_list args;
    va_start(args, format);
    cohort__error_vset(&error, not_ok(status), format, args);
    va_end(args);
    cohort_future *future = cohort__future_of_status(error.status, &error);
    cohort__error_fini(&error);
    return future;
}

void cohort__futures_unref(cohort_future *const *futures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cohort_future_unref(futures[i]);
}

cohort_future *cohort__futures_check(cohort_future *const *futures, size_t count,
                                     const char *function, const void *caller)
{
    if (!futures)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: futures is NULL", function);
    for (size_t i = 0; i < count; i++) {
        if (futures[i]) {
            cohort__future_check(futures[i], function, caller);
            continue;
        }
        cohort__futures_unref(futures, count);
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: future %zu of %zu is NULL",
                                      function, i, count);
    }
    return NULL;
}

/* --- promise --- */

/* A promise and its future are the same object. The promise is the completer's view of it. */

static cohort_future *future_of(cohort_promise *promise)
{
    return (cohort_future *)(void *)promise;
}

/* The future that FUNCTION, called by CALLER, is about to complete. It must not be complete. */
static inline cohort_future *take(cohort_promise *promise, const char *function, const void *caller)
{
    cohort_future *future = future_of(promise);
    if (__builtin_expect(cohort__future_is_complete(future), 0))
        cohort__misuse(COHORT__MISUSE_COMPLETE, future, function, caller);
    cohort__future_check(future, function, caller);
    return future;
}

cohort_status cohort_promise_create(cohort_promise **ret_promise, cohort_future **ret_future)
{
    if (!ret_promise || !ret_future)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_promise_create: %s is NULL",
                           ret_promise ? "ret_future" : "ret_promise");
    cohort_future *future = cohort__future_create();
    if (!future)
        return COHORT_ERR_NO_MEMORY;
    *ret_promise = (cohort_promise *)(void *)future;
    *ret_future = future;
    return COHORT_OK;
}

void cohort_promise_fulfil(cohort_promise *promise, void *value)
{
    if (promise)
        cohort__future_fulfil(take(promise, "cohort_promise_fulfil", __builtin_return_address(0)),
                              value);
}

void cohort_promise_fail(cohort_promise *promise, cohort_status status, const char *format, ...)
{
    if (!promise)
        return;
    cohort_future *future = take(promise, "cohort_promise_fail", __builtin_return_address(0));
    va_list args;
    va_start(args, format);
    vfail(future, status, format, args);
    va_end(args);
}

/* --- misuse --- */

static const char *const texts[] = {
    [COHORT__MISUSE_GONE] = COHORT__MISUSE_UNREF,
    [COHORT__MISUSE_SHARED] = "another await or combinator waits for it with the same reference",
    [COHORT__MISUSE_COMPLETE] = "the promise was fulfilled, or failed, before",
};

/* ": the task site (./heat)", or nothing if FUTURE is not a task's. */
static void name_task(const cohort_future *future, char *text, size_t bytes)
{
    char name[480];
    *text = 0;
    if (!future->is_task)
        return;
    cohort__task_name(cohort__task_shown((const struct cohort__task *)future), name, sizeof(name));
    snprintf(text, bytes, ": the task %s", name);
}

void cohort__misuse(enum cohort__misuse_kind kind, const cohort_future *future,
                    const char *function, const void *caller)
{
    char task[512];
    name_task(future, task, sizeof(task));
    cohort__misuse_of("future", future, task, texts[kind], function, caller);
}
