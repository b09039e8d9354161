/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/future.h"

/* A promise and its future are the same object. The promise is the completer's view of it. */

static cohort_future *future_of(cohort_promise *promise)
{
    return (cohort_future *)(void *)promise;
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
        cohort__future_fulfil(future_of(promise), value);
}

void cohort_promise_fail(cohort_promise *promise, cohort_status status, const char *format, ...)
{
    if (!promise)
        return;
    va_list args;
    va_start(args, format);
    cohort__future_vfail(future_of(promise), status, format, args);
    va_end(args);
}
