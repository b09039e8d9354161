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

/* A future is the reading end of something that comes once: COHORT_OK with an optional pointer, or
 * an error status with a message. It is counted: who holds a reference gives it back once, by
 * cohort_await (and the other functions that say that they take it) or by cohort_future_unref.
 * Dropping the last reference to a pending future is legal: the work goes on, its result is
 * thrown away. Say so by cohort_future_unref(cohort_...(...)): a future that is not used is a
 * warning of the compiler's, since its reference would be lost, and an error with it.
 *
 * A function that returns a cohort_future * never returns NULL: where it fails at once, the future
 * already holds the error. */
typedef struct cohort_future cohort_future;

/* The writing end. Exactly one of fulfil and fail is called on it, once; either frees it. */
typedef struct cohort_promise cohort_promise;

/* One reference more; returns FUTURE. Any thread; never suspends. NULL gives NULL. */
COHORT_API cohort_future *cohort_future_ref(cohort_future *future) COHORT_MUST_USE;

/* One reference less. Any thread; never suspends. NULL is fine. */
COHORT_API void cohort_future_unref(cohort_future *future);

/* Whether FUTURE is complete, with a value or an error. Any thread; never suspends. */
COHORT_API bool cohort_future_ready(const cohort_future *future);

/* Waits until FUTURE is complete, takes the caller's reference, and returns its status; its
 * message is then cohort_error_message(). In a task the task suspends and its thread runs other
 * tasks; a task that nobody has started yet is run at once, as a call, while the stack has room.
 * Outside of tasks the calling thread blocks. NULL: COHORT_ERR_BAD_PARAMETER.
 *
 * COHORT_ERR_STATE: called by a thread outside of tasks before the runtime has started.
 * Where no stack could be had to go on with (the message says so), the wait still happens, by
 * blocking this worker: other workers go on. */
COHORT_API cohort_status cohort_await(cohort_future *future) COHORT_MUST_USE;

/* The same; on success writes the value to *ret_value (untouched on failure). */
COHORT_API cohort_status cohort_await_value(cohort_future *future,
                                            void **ret_value) COHORT_MUST_USE;

/* The same, but for at most NANOSECONDS: then COHORT_ERR_TIMEOUT, and in that case only, the
 * caller keeps its reference, and the work goes on. */
COHORT_API cohort_status cohort_await_for(cohort_future *future,
                                          uint64_t nanoseconds) COHORT_MUST_USE;

/* A pending future with its promise. *ret_future holds one reference of the caller's; the promise
 * holds its own. COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
COHORT_API cohort_status cohort_promise_create(cohort_promise **ret_promise,
                                               cohort_future **ret_future) COHORT_MUST_USE;

/* Completes the future with VALUE, which the library only hands on, and frees PROMISE. Any thread;
 * never suspends. */
COHORT_API void cohort_promise_fulfil(cohort_promise *promise, void *value);

/* Completes the future with an error STATUS (not COHORT_OK) and a printf-like message, and frees
 * PROMISE. Any thread; never suspends. */
COHORT_API void cohort_promise_fail(cohort_promise *promise, cohort_status status,
                                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A future that already holds VALUE, or an error (also COHORT_ERR_NO_MEMORY, where there is none
 * for the future itself). Any thread; never suspends. */
COHORT_API cohort_future *cohort_future_of_value(void *value) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_future_of_error(cohort_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3))) COHORT_MUST_USE;

/* Runs FUNCTION(FUTURE, ARG) as a task once FUTURE is complete; the future that is returned
 * completes with what the function returns. Takes the caller's reference to FUTURE and hands it on
 * to FUNCTION, which awaits or unrefs it; that await never suspends. COHORT_ERR_STATE in the future
 * before the start and after the end, COHORT_ERR_NO_MEMORY; then FUNCTION is not called. Any
 * thread; never suspends. */
typedef cohort_status cohort_then_function(cohort_future *future, void *arg);
COHORT_API cohort_future *cohort_then(cohort_future *future, cohort_then_function *function,
                                      void *arg) COHORT_MUST_USE;

/* Completes when all COUNT futures are complete: COHORT_OK, or the error of the first of them, in
 * the order of the array, that failed. Takes the caller's references to them; the array itself is
 * not needed any more on return. COUNT 0 is complete at once. A NULL among them is
 * COHORT_ERR_BAD_PARAMETER. Any thread; never suspends. */
COHORT_API cohort_future *cohort_when_all(cohort_future *const *futures,
                                          size_t count) COHORT_MUST_USE;

/* Completes when the first of COUNT futures does, with its status; writes its index to *ret_index
 * (which may be NULL, and has to live until then) before it completes. Takes the caller's
 * references to them. COUNT 0, or a NULL among them: COHORT_ERR_BAD_PARAMETER. Any thread; never
 * suspends. */
COHORT_API cohort_future *cohort_when_any(cohort_future *const *futures, size_t count,
                                          size_t *ret_index) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
