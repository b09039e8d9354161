/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/cores.h"

#include "tests/support/test.h"

TEST(read_size)
{
    CHECK_INT((long long)cohort__cache_read_size("32768K\n"), 32 << 20);
    CHECK_INT((long long)cohort__cache_read_size("48K"), 48 << 10);
    CHECK_INT((long long)cohort__cache_read_size("3M"), 3 << 20);
    CHECK_INT((long long)cohort__cache_read_size("1G"), 1 << 30);
}

TEST(nonsense)
{
    const char *const texts[] = {"", "K", "12", "-1K", " 1K", "x", "99999999999999999999G"};
    for (size_t i = 0; i < NUM_OF(texts); i++)
        CHECK_INT((long long)cohort__cache_read_size(texts[i]), 0);
}

/* Whatever this host says: a possible value, and always the same. */
TEST(this_host)
{
    size_t bytes = cohort__cache_bytes();
    CHECK(bytes >= 16 << 10);
    CHECK(bytes == cohort__cache_bytes());
}
