/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_FUTURE_H
#define COHORT_FUTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A future is the reading end of a result that comes once: COHORT_OK with an optional pointer, or
 * an error status with a message. It is reference-counted. Each reference is given back once, by
 * cohort_await (or another function that says that it takes the reference) or by
 * cohort_future_unref. Dropping the last reference to a pending future is legal: the work goes on,
 * and its result is thrown away. To do so, write cohort_future_unref(cohort_...(...)). The compiler
 * warns where a returned future is not used, since its reference would be lost, and an error with
 * it.
 *
 * A function that returns a cohort_future * never returns NULL. If it fails at once, the future
 * already holds the error.
 *
 * Whoever uses a future after its last reference was given back, awaits it twice with one reference
 * while it is pending (an await, cohort_then, cohort_when_all, cohort_when_each, cohort_dataflow),
 * or completes a promise twice, ends the program by SIGABRT, after one line on standard error. It
 * names the function that was called, where from (for addr2line), the future, and its task's
 * function if it has one. Two such mistakes can't be found: the use of a future whose memory is
 * another object's by then, and a reference that is given back too often while others still hold
 * theirs. */
typedef struct cohort_future cohort_future;

/* The writing end. Either fulfil or fail has to be called on it, exactly once. Both free it. */
typedef struct cohort_promise cohort_promise;

/* Takes one more reference; returns FUTURE. Any thread; never suspends. NULL gives NULL. */
COHORT_API cohort_future *cohort_future_ref(cohort_future *future) COHORT_MUST_USE;

/* Gives one reference back. Any thread; never suspends. NULL is fine. */
COHORT_API void cohort_future_unref(cohort_future *future);

/* Whether FUTURE is complete, with a value or an error. Any thread; never suspends. */
COHORT_API bool cohort_future_ready(const cohort_future *future);

/* Waits until FUTURE is complete, takes the caller's reference, and returns its status.
 * cohort_error_message() then gives its message. In a task, the task suspends and its thread runs
 * other tasks. If the future is that of a task that has not started yet, this task is run at once,
 * as a plain call, if the stack has room. Outside of tasks the calling thread blocks. NULL:
 * COHORT_ERR_BAD_PARAMETER.
 *
 * COHORT_ERR_STATE: FUTURE is not complete, and a thread outside of tasks calls this before the
 * start of the runtime or after its end, or from a function that the runtime itself calls (on the
 * loop, at its end). While the runtime ends, other threads still wait: what it was to complete
 * (tasks, calls) is complete when it has ended. What the program completes, a promise, may not be.
 *
 * If there is no memory for one more stack, the call still waits, and its worker goes on with other
 * tasks that are ready. Tasks that have not started yet then start on one stack that the worker has
 * in reserve, each above the one before, and a task there can go on only when those above it have
 * ended. That does no harm as long as each of them awaits only tasks that it has started itself, or
 * what comes from elsewhere, and as long as the reserve (COHORT_STACK bytes) has room for them. But
 * a task there that awaits one below it waits for ever. The log (COHORT_LOG=warn) says once that
 * this way of waiting has begun, and once when a worker has to wait while tasks on its reserve
 * could go on, or have no room to start. */
COHORT_API cohort_status cohort_await(cohort_future *future) COHORT_MUST_USE;

/* cohort_await that on success also writes the value to *ret_value (untouched on failure). */
COHORT_API cohort_status cohort_await_value(cohort_future *future,
                                            void **ret_value) COHORT_MUST_USE;

/* Waits until FUTURE is complete, but for at most NANOSECONDS (COHORT_NO_LIMIT: for as long as it
 * takes), and not when the scope of the calling task is cancelled (cohort/scope.h). *ret_end says
 * which of these has ended it; if several are true, the first one in this order. Never takes the
 * reference: the status of FUTURE, be it an error, comes by cohort_await, which returns at once if
 * it is complete. With 0 NANOSECONDS it only looks.
 *
 * COHORT_OK if it has waited, however that has ended. Else *ret_end is untouched:
 * COHORT_ERR_BAD_PARAMETER if FUTURE or ret_end is NULL, COHORT_ERR_NO_MEMORY, COHORT_ERR_STATE as
 * for cohort_await. Suspends a task; blocks any other thread. */
enum cohort_wait_end {
    COHORT_WAIT_COMPLETE = 0,
    COHORT_WAIT_CANCELLED = 1,
    COHORT_WAIT_EXPIRED = 2,
};
#define COHORT_NO_LIMIT UINT64_MAX
COHORT_API cohort_status cohort_wait(cohort_future *future, uint64_t nanoseconds,
                                     enum cohort_wait_end *ret_end) COHORT_MUST_USE;

/* Creates a pending future with its promise. The caller owns one reference to *ret_future; the
 * promise holds its own. COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_status cohort_promise_create(cohort_promise **ret_promise,
                                               cohort_future **ret_future) COHORT_MUST_USE;

/* Completes the future with VALUE, which the library only passes on, and frees PROMISE. Any thread;
 * never suspends. */
COHORT_API void cohort_promise_fulfil(cohort_promise *promise, void *value);

/* Completes the future with an error STATUS (not COHORT_OK) and a printf-like message, and frees
 * PROMISE. Any thread; never suspends. */
COHORT_API void cohort_promise_fail(cohort_promise *promise, cohort_status status,
                                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A future that already holds VALUE, or an error. If there is no memory for the future itself, it
 * holds COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_future *cohort_future_of_value(void *value) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_future_of_error(cohort_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3))) COHORT_MUST_USE;

/* Runs FUNCTION(FUTURE, ARG) as a task once FUTURE is complete. The returned future completes with
 * what FUNCTION returns. Takes the caller's reference to FUTURE and passes it on to FUNCTION, which
 * awaits or unrefs it; that await never suspends. The returned future holds COHORT_ERR_STATE before
 * the start and after the end of the runtime, COHORT_ERR_NO_MEMORY, or COHORT_ERR_CANCELLED if the
 * scope of the calling task is cancelled before FUNCTION has begun. In these cases FUNCTION is not
 * called, and the reference is given back. Any thread; never suspends. */
typedef cohort_status cohort_then_function(cohort_future *future, void *arg);
COHORT_API cohort_future *cohort_then(cohort_future *future, cohort_then_function *function,
                                      void *arg) COHORT_MUST_USE;

/* Completes when all COUNT futures are complete, also after a failure: with COHORT_OK, or with the
 * error of the first one in the order of the array that failed. Takes the caller's references to
 * them. The array itself is not needed any more after the call. With COUNT 0 it completes at once.
 * If one of them is NULL: COHORT_ERR_BAD_PARAMETER. Any thread; never suspends. */
COHORT_API cohort_future *cohort_when_all(cohort_future *const *futures,
                                          size_t count) COHORT_MUST_USE;

/* Completes when the first of COUNT futures completes, with the status of that one. Before that,
 * its index is written to *ret_index. ret_index may be NULL; otherwise it has to stay valid until
 * then. Takes the caller's references to them. If COUNT is 0 or one of them is NULL:
 * COHORT_ERR_BAD_PARAMETER. Any thread; never suspends. */
COHORT_API cohort_future *cohort_when_any(cohort_future *const *futures, size_t count,
                                          size_t *ret_index) COHORT_MUST_USE;

/* Completes with COHORT_OK when WANTED of COUNT futures are complete, with values or errors alike.
 * Before that, ret_indices[0] to ret_indices[WANTED - 1] are their indices, in the order of
 * completion. ret_indices may be NULL; otherwise it has to stay valid until then. Takes the
 * caller's references to all COUNT futures, and gives them back then: the work of the others goes
 * on, and who wants its results has kept references. The array itself is not needed any more after
 * the call. With WANTED 0 it completes at once. If WANTED > COUNT, or one of the futures is NULL:
 * COHORT_ERR_BAD_PARAMETER. COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_future *cohort_when_some(cohort_future *const *futures, size_t count,
                                           size_t wanted, size_t *ret_indices) COHORT_MUST_USE;

/* A stream of COUNT futures in the order in which they complete. Writes as many new futures to
 * ret_each, of which the caller owns one reference each, and may await them or give them back in
 * any order. ret_each[k] completes with the status and the value, or message, of that future which
 * completes as number k from 0; before that, its index is written to ret_indices[k]. ret_each[k] is
 * complete before ret_each[k + 1] is. ret_each may be FUTURES itself. ret_indices may be NULL;
 * otherwise it has to stay valid until all futures are complete.
 *
 * Takes the caller's references to FUTURES, on failure too, and gives each back when the future is
 * complete. The array itself is not needed any more after the call. COUNT 0 is fine. If one of the
 * futures, or ret_each, is NULL: COHORT_ERR_BAD_PARAMETER. COHORT_ERR_NO_MEMORY. Any thread; never
 * suspends. */
COHORT_API cohort_status cohort_when_each(cohort_future *const *futures, size_t count,
                                          cohort_future **ret_each,
                                          size_t *ret_indices) COHORT_MUST_USE;

/* What cohort_dataflow runs, as a task. values[i] is the value of future i of COUNT, NULL if it has
 * none; the array is valid until the function returns. If it returns COHORT_OK, its future holds
 * what it has written to *ret_value, or NULL. If it fails, *ret_value is ignored. */
typedef cohort_status cohort_dataflow_function(void *const *values, size_t count, void **ret_value,
                                               void *arg);

/* Runs FUNCTION as a task once all COUNT futures are complete, with their values. If one of them
 * has failed, FUNCTION is not called, and the returned future completes with the error of the first
 * one in the order of the array. With COUNT 0 the task starts at once.
 *
 * The library only passes values on, from future to future: who makes one says how long it is
 * valid, and who frees it. Takes the caller's references, on failure too, and gives them back when
 * FUNCTION has returned. The array itself is not needed any more after the call; ARG is only passed
 * on. If FUNCTION or one of the futures is NULL: COHORT_ERR_BAD_PARAMETER. COHORT_ERR_STATE before
 * the start and after the end of the runtime, COHORT_ERR_CANCELLED if the runtime ends, or the
 * scope of the calling task is cancelled, before the task has begun, or COHORT_ERR_NO_MEMORY; then
 * FUNCTION is not called. Any thread; never suspends. */
COHORT_API cohort_future *cohort_dataflow(cohort_future *const *futures, size_t count,
                                          cohort_dataflow_function *function,
                                          void *arg) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
