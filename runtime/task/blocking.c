/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/blocking.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/slab.h"
#include "runtime/base/trace.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scope.h"
#include "runtime/task/uncaught.h"
#include "runtime/task/worker.h"

/* A call of a task, which waits for it. If it is in a scope, that takes it out of the queue when it
 * is cancelled. */
struct call {
    cohort_future future; /* first: it is freed as a future */
    cohort_task_function *function;
    void *arg;
    struct cohort__task_context *context; /* of the task */
    struct cohort__list link;             /* in the queue */
    bool is_queued;                       /* under the pool's lock */
    struct cohort__scope_watch watch;     /* of one in a scope; has a reference to the future */
};

static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct cohort__list queue; /* in the order of arrival; no thread has begun them */
    unsigned num_queued;
    unsigned num_idle; /* threads that wait for a call */
    unsigned num_threads;
    bool is_ending;
    pthread_t threads[COHORT__MAX_BLOCKING_THREADS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .wanted = PTHREAD_COND_INITIALIZER,
          .queue = {&pool.queue, &pool.queue}};

static _Thread_local bool is_self;
static _Thread_local struct cohort__task_context *context_here
    __attribute__((tls_model("initial-exec")));

bool cohort__blocking_is_self(void)
{
    return is_self;
}

struct cohort__task_context *cohort__blocking_context(void)
{
    return context_here;
}

static const char cancelled_text[] = "cohort_blocking: the scope is cancelled";

static cohort_status call_function(struct call *call)
{
    cohort__trace(COHORT__TRACE_BEGIN, 2, 0, (uintptr_t)call, (uintptr_t)call->function);
    cohort_status status = call->function(call->arg);
    COHORT__STOPS_EXCEPTIONS;
    if (cohort__fork_is_child())
        cohort__fork_end(status);
    cohort__trace(COHORT__TRACE_END, (uint32_t)status, 0, (uintptr_t)call, 0);
    return status;
}

static void run(struct call *call)
{
    struct cohort__error *slot = cohort__error_slot();
    cohort__error_fini(slot);
    context_here = call->context;
    cohort_status status = cohort_cancelled()
                               ? cohort_fail(COHORT_ERR_CANCELLED, "%s", cancelled_text)
                               : call_function(call);
    context_here = NULL;
    if (status && slot->status != status)
        cohort__error_set(slot, status, "cohort_blocking: the function returned %s",
                          cohort_status_name(status));
    cohort__future_complete(&call->future, status, slot); /* from here on CALL may be gone */
}

/* Under the lock. */
static void take_out(struct call *call)
{
    cohort__list_remove(&call->link);
    call->is_queued = false;
    pool.num_queued--;
}

/* Under the lock. NULL: the pool is ending. */
static struct call *take(void)
{
    while (cohort__list_is_empty(&pool.queue) && !pool.is_ending) {
        pool.num_idle++;
        pthread_cond_wait(&pool.wanted, &pool.lock);
        pool.num_idle--;
    }
    if (cohort__list_is_empty(&pool.queue))
        return NULL;
    struct call *call = COHORT_CONTAINER_OF(pool.queue.next, struct call, link);
    take_out(call);
    return call;
}

static void *thread_main(void *arg)
{
    struct call *call;
    is_self = true;
    pthread_mutex_lock(&pool.lock);
    while ((call = take())) {
        pthread_mutex_unlock(&pool.lock);
        run(call);
        pthread_mutex_lock(&pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    cohort__error_fini(cohort__error_slot());
    return arg;
}

/* Starts one more thread. It takes the signals that tasks take, since a program that is started
 * there inherits its mask. Under the lock. */
static int start_thread(void)
{
    int error = pthread_create(&pool.threads[pool.num_threads], NULL, thread_main, NULL);
    pool.num_threads += error == 0;
    return error;
}

/* Hands CALL to a thread, or queues it until one is free. */
static cohort_status hand_over(struct call *call)
{
    int error = 0;
    pthread_mutex_lock(&pool.lock);
    bool wants_thread = pool.num_queued >= pool.num_idle &&
                        pool.num_threads < cohort__scheduler.options.blocking_threads;
    if (wants_thread)
        error = start_thread();
    if (pool.num_threads > 0) {
        cohort__list_push_back(&pool.queue, &call->link);
        call->is_queued = true;
        pool.num_queued++;
        pthread_cond_signal(&pool.wanted);
        error = 0; /* those that there are will come to it */
    }
    pthread_mutex_unlock(&pool.lock);
    return error ? cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_blocking: no thread: %s",
                               strerror(error))
                 : COHORT_OK;
}

static void cancel(struct cohort__scope_watch *watch)
{
    struct call *call = COHORT_CONTAINER_OF(watch, struct call, watch);
    struct cohort__error error = {0};
    pthread_mutex_lock(&pool.lock);
    bool was_queued = call->is_queued;
    if (was_queued)
        take_out(call);
    pthread_mutex_unlock(&pool.lock);
    if (!was_queued)
        return;
    cohort__error_set(&error, COHORT_ERR_CANCELLED, "%s", cancelled_text);
    cohort__future_complete(&call->future, error.status, &error);
    cohort__error_fini(&error);
}

static void release(struct cohort__scope_watch *watch)
{
    cohort_future_unref(&COHORT_CONTAINER_OF(watch, struct call, watch)->future);
}

static struct call *create(cohort_task_function *function, void *arg)
{
    struct cohort__task_context *context = cohort__worker_self->context;
    struct call *call = cohort__slab_alloc(sizeof(*call));
    if (!call)
        return NULL;
    cohort__future_init(&call->future, context->scope ? 3 : 2, COHORT__WAIT_OUTSIDE);
    call->function = function;
    call->arg = arg;
    call->context = context;
    call->is_queued = false;
    call->watch.cancel = cancel;
    call->watch.release = release;
    return call;
}

/* In a task. The thread may be another one afterwards. */
static cohort_status call_elsewhere(struct call *call, const void *caller)
{
    cohort_scope *scope = call->context->scope;
    cohort_status status = hand_over(call);
    if (status) {
        cohort__slab_free(call);
        return status;
    }
    if (scope)
        cohort__scope_watch(scope, &call->watch);
    status = cohort__future_await(&call->future, "cohort_blocking", caller);
    if (scope)
        cohort__scope_unwatch(&call->watch);
    return status;
}

cohort_status cohort_blocking(cohort_task_function *function, void *arg)
{
    if (!function)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_blocking: function is NULL");
    if (!cohort__scheduler_in_task())
        return function(arg); /* there is no task that could suspend */
    struct call *call = create(function, arg);
    return call ? call_elsewhere(call, __builtin_return_address(0))
                : cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_blocking: no memory for %zu bytes",
                              sizeof(*call));
}

void cohort__blocking_end(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.is_ending = true;
    pthread_cond_broadcast(&pool.wanted);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < pool.num_threads; i++)
        pthread_join(pool.threads[i], NULL);
    pool.num_threads = 0;
    pool.is_ending = false;
}
