/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/clock.h"

#include "tests/support/test.h"

static void test_goes_forward(void)
{
    uint64_t first = cohort__clock_now();
    uint64_t last = first;
    while (last - first < 1000000) {
        uint64_t now = cohort__clock_now();
        CHECK(now >= last);
        last = now;
    }
}

static void test_never_overflows(void)
{
    CHECK(cohort__clock_after(UINT64_MAX) == UINT64_MAX);
    CHECK(cohort__clock_after(UINT64_MAX - 1) == UINT64_MAX);
    uint64_t now = cohort__clock_now();
    CHECK(cohort__clock_after(5) >= now + 5);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"goes forward", test_goes_forward},
        {"never overflows", test_never_overflows},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
