/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/callbacks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cohort/callbacks.h"
#include "runtime/base/bell.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/misuse.h"
#include "runtime/base/slab.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/uncaught.h"
#include "runtime/task/worker.h"

/* All is under one lock, the writes to the descriptor and the reads of it too: so it is readable
 * just as long as READY is not empty, and no wake-up can get lost. Nobody holds the lock while a
 * callback runs. tests/model/callbacks.pml is a model of this. */
struct cohort_callbacks {
    struct cohort__list link; /* among all; under all_lock */
    pthread_mutex_t lock;
    struct cohort__list pending; /* their futures are */
    struct cohort__list ready;   /* in the order in which they run */
    size_t num_ready;
    int fd; /* a bell */
    bool is_running;
    bool is_closing;
    bool has_thread;
    pthread_t thread;      /* which has run it first */
    _Atomic uint32_t refs; /* the program's, and one for each callback */
};

/* It moves from PENDING to READY once: when its future is complete, or when it is cancelled. Its
 * waiter may be notified after that, see cohort__future_forget. */
struct callback {
    struct cohort__list link;
    struct cohort__waiter waiter;
    cohort_callbacks *callbacks;
    cohort_future *future;
    cohort_callback_function *function;
    void *arg;
    bool is_pending;
    bool is_cancelled;
    const char *why;       /* of a cancelled one */
    _Atomic uint32_t refs; /* the list's, and the waiter's */
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cohort__list all = {&all, &all};

static void callbacks_unref(cohort_callbacks *callbacks)
{
    if (atomic_fetch_sub_explicit(&callbacks->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&callbacks->lock);
    cohort__slab_free(callbacks);
}

/* For a public FUNCTION. */
__attribute__((always_inline)) static inline void check(const cohort_callbacks *callbacks,
                                                        const char *function)
{
    cohort__misuse_check(&callbacks->refs, "queue of callbacks", callbacks,
                         "it was destroyed before", function);
}

static void unref(struct callback *callback)
{
    if (atomic_fetch_sub_explicit(&callback->refs, 1, memory_order_acq_rel) != 1)
        return;
    callbacks_unref(callback->callbacks);
    cohort__slab_free(callback);
}

/* --- from pending to ready, with the lock held --- */

/* It is written while it is readable only by the ends of runs, so its counter has always room. */
static void make_readable(const cohort_callbacks *callbacks)
{
    (void)cohort__bell_ring(callbacks->fd);
}

static void make_ready(cohort_callbacks *callbacks, struct callback *callback)
{
    cohort__list_remove(&callback->link);
    callback->is_pending = false;
    cohort__list_push_back(&callbacks->ready, &callback->link);
    if (callbacks->num_ready++ == 0)
        make_readable(callbacks);
}

static void cancel_pending(cohort_callbacks *callbacks, const char *why)
{
    while (!cohort__list_is_empty(&callbacks->pending)) {
        struct callback *callback =
            COHORT_CONTAINER_OF(callbacks->pending.next, struct callback, link);
        callback->is_cancelled = true;
        callback->why = why;
        make_ready(callbacks, callback);
    }
}

static struct callback *take_ready(cohort_callbacks *callbacks)
{
    struct cohort__list *link = cohort__list_pop_front(&callbacks->ready);
    if (link && --callbacks->num_ready == 0)
        cohort__bell_silence(callbacks->fd);
    return link ? COHORT_CONTAINER_OF(link, struct callback, link) : NULL;
}

/* --- who makes them ready --- */

/* The future is complete, or the waiter was forgotten. */
static void notify(struct cohort__waiter *waiter)
{
    struct callback *callback = COHORT_CONTAINER_OF(waiter, struct callback, waiter);
    cohort_callbacks *callbacks = callback->callbacks;
    pthread_mutex_lock(&callbacks->lock);
    if (callback->is_pending)
        make_ready(callbacks, callback);
    pthread_mutex_unlock(&callbacks->lock);
    unref(callback);
}

void cohort__callbacks_cancel_all(void)
{
    pthread_mutex_lock(&all_lock);
    for (struct cohort__list *link = all.next; link != &all; link = link->next) {
        cohort_callbacks *callbacks = COHORT_CONTAINER_OF(link, cohort_callbacks, link);
        pthread_mutex_lock(&callbacks->lock);
        cancel_pending(callbacks, "the runtime has ended before the future was complete");
        pthread_mutex_unlock(&callbacks->lock);
    }
    pthread_mutex_unlock(&all_lock);
}

/* --- adding --- */

static bool admit(cohort_callbacks *callbacks, struct callback *callback)
{
    pthread_mutex_lock(&callbacks->lock);
    bool is_open = !callbacks->is_closing;
    if (is_open) {
        atomic_fetch_add_explicit(&callbacks->refs, 1, memory_order_relaxed);
        cohort__list_push_back(&callbacks->pending, &callback->link);
    }
    pthread_mutex_unlock(&callbacks->lock);
    return is_open;
}

/* It takes the reference to FUTURE on success. */
static cohort_status add(cohort_callbacks *callbacks, cohort_future *future,
                         cohort_callback_function *function, void *arg)
{
    struct callback *callback = cohort__slab_alloc_zero(sizeof(*callback));
    if (!callback)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_callbacks_add: no memory for %zu bytes",
                           sizeof(*callback));
    callback->waiter.notify = notify;
    callback->callbacks = callbacks;
    callback->future = future;
    callback->function = function;
    callback->arg = arg;
    callback->is_pending = true;
    atomic_init(&callback->refs, 2);
    if (!admit(callbacks, callback)) {
        cohort__slab_free(callback);
        return cohort_fail(COHORT_ERR_STATE,
                           "cohort_callbacks_add: the queue of callbacks is being destroyed");
    }
    if (!cohort__future_wait_with(future, &callback->waiter))
        notify(&callback->waiter);
    return COHORT_OK;
}

cohort_status cohort_callbacks_add(cohort_callbacks *callbacks, cohort_future *future,
                                   cohort_callback_function *function, void *arg)
{
    if (!callbacks || !future || !function) {
        cohort_future_unref(future);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_callbacks_add: %s is NULL",
                           !callbacks ? "callbacks"
                           : !future  ? "future"
                                      : "function");
    }
    check(callbacks, "cohort_callbacks_add");
    cohort__future_check(future, "cohort_callbacks_add", __builtin_return_address(0));
    /* While this holds the scheduler, the runtime does not come to cancel_all. */
    cohort_status status = cohort__scheduler_hold()
                               ? add(callbacks, future, function, arg)
                               : cohort__scheduler_refuse("cohort_callbacks_add");
    cohort__scheduler_release();
    if (status)
        cohort_future_unref(future);
    return status;
}

/* --- running --- */

static void call(struct callback *callback)
{
    cohort_future *future = callback->future;
    cohort_callback_function *function = callback->function;
    struct cohort__error *slot = cohort__error_slot();
    cohort_status status;
    void *value = NULL, *arg = callback->arg;
    if (callback->is_cancelled) {
        status = cohort_fail(COHORT_ERR_CANCELLED, "callback: %s", callback->why);
        if (!cohort__future_is_complete(future))
            cohort__future_forget(future, &callback->waiter);
    } else {
        status = cohort__future_status(future);
        if (status)
            cohort__future_error(future, slot);
        else
            value = cohort__future_value(future);
    }
    cohort_future_unref(future);
    unref(callback);
    function(status, value, arg);
    COHORT__STOPS_EXCEPTIONS;
}

static cohort_status refuse_thread(const char *function)
{
    if (cohort__fork_is_child())
        return cohort__fork_refuse(function);
    if (cohort__worker_self || cohort__progress_is_self())
        return cohort_fail(COHORT_ERR_STATE,
                           "%s: called by a thread of the runtime; the loop's thread is to call it",
                           function);
    return COHORT_OK;
}

/* With the lock held. The calling thread is the queue's from now on. */
static cohort_status enter(cohort_callbacks *callbacks, const char *function)
{
    if (callbacks->has_thread && !pthread_equal(callbacks->thread, pthread_self()))
        return cohort_fail(COHORT_ERR_STATE,
                           "%s: called by another thread than the one that has run this queue "
                           "first",
                           function);
    if (callbacks->is_running)
        return cohort_fail(COHORT_ERR_STATE, "%s: called in a callback of the same queue",
                           function);
    callbacks->has_thread = true;
    callbacks->thread = pthread_self();
    callbacks->is_running = true;
    return COHORT_OK;
}

/* At most MOST of them. */
static size_t call_ready(cohort_callbacks *callbacks, size_t most)
{
    size_t num = 0;
    while (num < most) {
        pthread_mutex_lock(&callbacks->lock);
        struct callback *callback = take_ready(callbacks);
        pthread_mutex_unlock(&callbacks->lock);
        if (!callback)
            break;
        call(callback);
        num++;
    }
    return num;
}

/* Who watches the descriptor by its edges needs one for what is left. */
static void leave(cohort_callbacks *callbacks)
{
    pthread_mutex_lock(&callbacks->lock);
    callbacks->is_running = false;
    if (callbacks->num_ready > 0)
        make_readable(callbacks);
    pthread_mutex_unlock(&callbacks->lock);
}

cohort_status cohort_callbacks_run(cohort_callbacks *callbacks, size_t most, size_t *ret_num)
{
    if (!callbacks)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_callbacks_run: callbacks is NULL");
    check(callbacks, "cohort_callbacks_run");
    cohort_status status = refuse_thread("cohort_callbacks_run");
    if (status)
        return status;
    pthread_mutex_lock(&callbacks->lock);
    status = enter(callbacks, "cohort_callbacks_run");
    size_t num = callbacks->num_ready;
    pthread_mutex_unlock(&callbacks->lock);
    if (status)
        return status;
    num = call_ready(callbacks, most > 0 && most < num ? most : num);
    leave(callbacks);
    if (ret_num)
        *ret_num = num;
    return COHORT_OK;
}

/* --- creating and destroying --- */

cohort_status cohort_callbacks_create(cohort_callbacks **ret_callbacks)
{
    if (!ret_callbacks)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_callbacks_create: ret_callbacks is NULL");
    cohort_callbacks *callbacks = cohort__slab_alloc_zero(sizeof(*callbacks));
    if (!callbacks)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_callbacks_create: no memory for %zu bytes",
                           sizeof(*callbacks));
    callbacks->fd = cohort__bell_create();
    if (callbacks->fd < 0) {
        int error = errno;
        cohort__slab_free(callbacks);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_callbacks_create: eventfd: %s",
                           strerror(error));
    }
    pthread_mutex_init(&callbacks->lock, NULL);
    cohort__list_init(&callbacks->pending);
    cohort__list_init(&callbacks->ready);
    atomic_init(&callbacks->refs, 1);
    pthread_mutex_lock(&all_lock);
    cohort__list_push_back(&all, &callbacks->link);
    pthread_mutex_unlock(&all_lock);
    *ret_callbacks = callbacks;
    return COHORT_OK;
}

int cohort_callbacks_fd(const cohort_callbacks *callbacks)
{
    if (!callbacks)
        return -1;
    check(callbacks, "cohort_callbacks_fd");
    return callbacks->fd;
}

cohort_status cohort_callbacks_destroy(cohort_callbacks *callbacks)
{
    if (!callbacks)
        return COHORT_OK;
    check(callbacks, "cohort_callbacks_destroy");
    cohort_status status = refuse_thread("cohort_callbacks_destroy");
    if (status)
        return status;
    pthread_mutex_lock(&callbacks->lock);
    status = enter(callbacks, "cohort_callbacks_destroy");
    if (!status) {
        callbacks->is_closing = true;
        cancel_pending(callbacks, "its queue was destroyed before the future was complete");
    }
    pthread_mutex_unlock(&callbacks->lock);
    if (status)
        return status;
    pthread_mutex_lock(&all_lock);
    cohort__list_remove(&callbacks->link);
    pthread_mutex_unlock(&all_lock);
    call_ready(callbacks, SIZE_MAX);
    close(callbacks->fd);
    callbacks_unref(callbacks);
    return COHORT_OK;
}
