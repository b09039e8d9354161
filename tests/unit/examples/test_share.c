/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/share.h"

#include "tests/support/test.h"

/* Shares follow each other without gaps. Their sizes differ by at most one, and the larger shares
 * come first. */
static void check_shares(size_t whole, size_t num)
{
    size_t counts[20];
    share_counts(whole, num, 3, counts);
    CHECK_INT(share_begin(whole, num, 0), 0);
    CHECK_INT(share_begin(whole, num, num), (long long)whole);
    for (size_t i = 0; i < num; i++) {
        size_t size = share_size(whole, num, i);
        CHECK_INT(share_begin(whole, num, i + 1) - share_begin(whole, num, i), (long long)size);
        CHECK(size == whole / num || size == whole / num + 1);
        CHECK(i == 0 || size <= share_size(whole, num, i - 1));
        CHECK_INT(counts[i], (long long)(3 * size));
    }
}

TEST(all)
{
    for (size_t num = 1; num <= 20; num++)
        for (size_t whole = 0; whole < 100; whole++)
            check_shares(whole, num);
}

TEST(large)
{
    CHECK(share_begin(SIZE_MAX, 3, 3) == SIZE_MAX);
    CHECK(share_begin(SIZE_MAX - 1, 4096, 4096) == SIZE_MAX - 1);
}
