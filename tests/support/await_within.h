/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SUPPORT_AWAIT_WITHIN_H
#define TESTS_SUPPORT_AWAIT_WITHIN_H

#include <stdint.h>

#include "cohort/future.h"

/* Awaits FUTURE, and takes the caller's reference, if it is complete within NANOSECONDS. If it is
 * not, the reference stays: COHORT_ERR_TIMEOUT. If it can't wait, the reference is given back. For
 * futures that don't fail with that status themselves. The time is counted in slices of a second,
 * so that a thread that does not run for a minute, on a machine that is suspended, uses up only one
 * of them. */
static inline cohort_status await_within(cohort_future *future, uint64_t nanoseconds)
{
    const uint64_t second = UINT64_C(1000000000);
    enum cohort_wait_end end = COHORT_WAIT_EXPIRED;
    cohort_status status = COHORT_OK;
    for (; nanoseconds > second && status == COHORT_OK && end != COHORT_WAIT_COMPLETE;
         nanoseconds -= second)
        status = cohort_wait(future, second, &end);
    if (status == COHORT_OK && end != COHORT_WAIT_COMPLETE)
        status = cohort_wait(future, nanoseconds, &end);
    if (status != COHORT_OK) {
        cohort_future_unref(future);
        return status;
    }
    return end == COHORT_WAIT_COMPLETE ? cohort_await(future)
                                       : cohort_fail(COHORT_ERR_TIMEOUT, "not complete in time");
}

#endif
