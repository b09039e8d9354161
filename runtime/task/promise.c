/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/future.h"

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
    cohort__future_vfail(future, status, format, args);
    va_end(args);
}
