/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/hash.h"

#include "tests/support/test.h"

TEST(known_values)
{
    /* From the FNV reference code. */
    CHECK(cohort__hash_bytes("", 0) == UINT64_C(0xcbf29ce484222325));
    CHECK(cohort__hash_bytes("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    CHECK(cohort__hash_bytes("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

TEST(order_matters)
{
    CHECK(cohort__hash_mix(1, 2) != cohort__hash_mix(2, 1));
    CHECK(cohort__hash_mix(0, 0) != 0);
    CHECK(cohort__hash_u64(1) != cohort__hash_u64(2));
}
