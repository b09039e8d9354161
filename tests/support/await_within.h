/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SUPPORT_AWAIT_WITHIN_H
#define TESTS_SUPPORT_AWAIT_WITHIN_H

#include <stdint.h>

#include "cohort/future.h"

/* Awaits FUTURE, which is not NULL, for NANOSECONDS. COHORT_ERR_TIMEOUT: it is not complete, and
 * the caller keeps its reference. The time is counted in slices of a second, so that a machine that
 * stands still, as virtual ones do for a minute at times, uses up only one of them. */
static inline cohort_status await_within(cohort_future *future, uint64_t nanoseconds)
{
    const uint64_t second = UINT64_C(1000000000);
    for (; nanoseconds > second && !cohort_future_ready(future); nanoseconds -= second) {
        cohort_status status = cohort_await_for(future, second);
        if (status != COHORT_ERR_TIMEOUT)
            return status;
    }
    return cohort_await_for(future, nanoseconds);
}

#endif
