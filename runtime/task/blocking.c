/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/blocking.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cohort/future.h"
#include "cohort/task.h"
#include "runtime/base/error.h"
#include "runtime/base/trace.h"
#include "runtime/task/fork.h"
#include "runtime/task/scope.h"
#include "runtime/task/task_local.h"
#include "runtime/task/uncaught.h"
#include "runtime/task/worker.h"

/* A call, in the frame of the task that waits for it. */
struct call {
    cohort_task_function *function;
    void *arg;
    cohort_promise *done;
    struct cohort__task_context *context; /* of the task */
    cohort_status status;
    struct cohort__error error;
    struct call *next;
};

static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct call *first, *last; /* in the order of arrival; no thread has begun them */
    unsigned num_queued;
    unsigned num_idle; /* threads that wait for a call */
    unsigned num_threads;
    bool is_ending;
    pthread_t threads[COHORT__MAX_BLOCKING_THREADS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wanted = PTHREAD_COND_INITIALIZER};

static _Thread_local bool is_self;

bool cohort__blocking_is_self(void)
{
    return is_self;
}

static void call_function(struct call *call)
{
    cohort__trace(COHORT__TRACE_BEGIN, 2, 0, (uintptr_t)call, (uintptr_t)call->function);
    call->status = call->function(call->arg);
    COHORT__STOPS_EXCEPTIONS;
    if (cohort__fork_is_child())
        cohort__fork_end(call->status);
    cohort__trace(COHORT__TRACE_END, (uint32_t)call->status, 0, (uintptr_t)call, 0);
}

static void run(struct call *call)
{
    struct cohort__error *slot = cohort__error_slot();
    cohort__error_fini(slot);
    const cohort_scope *scope = call->context->scope;
    cohort__task_locals_lend(call->context);
    if (scope && cohort__scope_is_cancelled(scope))
        call->status = cohort_fail(COHORT_ERR_CANCELLED, "cohort_blocking: the scope is cancelled");
    else
        call_function(call);
    cohort__task_locals_lend(NULL);
    if (call->status && slot->status == call->status)
        cohort__error_copy(&call->error, slot);
    else if (call->status)
        cohort__error_set(&call->error, call->status, "cohort_blocking: the function returned %s",
                          cohort_status_name(call->status));
    cohort_promise_fulfil(call->done, NULL); /* from here on CALL may be gone */
}

/* Of the caller's lock. NULL: the pool is ending. */
static struct call *take(void)
{
    while (!pool.first && !pool.is_ending) {
        pool.num_idle++;
        pthread_cond_wait(&pool.wanted, &pool.lock);
        pool.num_idle--;
    }
    struct call *call = pool.first;
    if (call) {
        pool.first = call->next;
        pool.num_queued--;
    }
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
        if (pool.first)
            pool.last->next = call;
        else
            pool.first = call;
        pool.last = call;
        pool.num_queued++;
        pthread_cond_signal(&pool.wanted);
        error = 0; /* those that there are will come to it */
    }
    pthread_mutex_unlock(&pool.lock);
    return error ? cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_blocking: no thread: %s",
                               strerror(error))
                 : COHORT_OK;
}

cohort_status cohort_blocking(cohort_task_function *function, void *arg)
{
    if (!function)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_blocking: function is NULL");
    if (!cohort__scheduler_in_task())
        return function(arg); /* there is no task that could suspend */
    cohort_future *future = NULL;
    struct call call = {.function = function, .arg = arg, .context = cohort__worker_self->context};
    cohort_status status = cohort_promise_create(&call.done, &future);
    if (status)
        return status;
    future->about = COHORT__WAIT_OUTSIDE;
    status = hand_over(&call);
    if (status) {
        cohort_promise_fulfil(call.done, NULL);
        cohort_future_unref(future);
        return status;
    }
    status = cohort__future_await(future, "cohort_blocking", __builtin_return_address(0));
    if (status)
        return status;
    if (call.status)
        cohort__error_copy(cohort__error_slot(), &call.error);
    cohort__error_fini(&call.error);
    return call.status;
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
