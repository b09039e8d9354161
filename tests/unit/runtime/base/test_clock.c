/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"

#include "tests/support/test.h"

TEST(goes_forward)
{
    uint64_t first = cohort__clock_now();
    uint64_t last = first;
    while (last - first < 1000000) {
        uint64_t now = cohort__clock_now();
        CHECK(now >= last);
        last = now;
    }
}

TEST(never_overflows)
{
    CHECK(cohort__clock_after(UINT64_MAX) == UINT64_MAX);
    CHECK(cohort__clock_after(UINT64_MAX - 1) == UINT64_MAX);
    uint64_t now = cohort__clock_now();
    CHECK(cohort__clock_after(5) >= now + 5);
}
