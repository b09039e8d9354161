/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/hash.h"

#include "tests/support/test.h"

static void test_known_values(void)
{
    /* From the FNV reference code. */
    CHECK(cohort__hash_bytes("", 0) == UINT64_C(0xcbf29ce484222325));
    CHECK(cohort__hash_bytes("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    CHECK(cohort__hash_bytes("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void test_order_matters(void)
{
    CHECK(cohort__hash_mix(1, 2) != cohort__hash_mix(2, 1));
    CHECK(cohort__hash_mix(0, 0) != 0);
    CHECK(cohort__hash_u64(1) != cohort__hash_u64(2));
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"known values", test_known_values},
        {"order matters", test_order_matters},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
