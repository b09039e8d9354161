/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/copier.h"

#include <string.h>

#include "tests/support/test.h"

enum { MAX_BYTES = 300, MAX_OFFSET = 17, SIZE = MAX_BYTES + 2 * MAX_OFFSET };

/* All sizes, from and to addresses of all alignments. The bytes beside the target stay unchanged.
 */
static void check_sizes(void (*copy)(void *, const void *, size_t))
{
    unsigned char from[SIZE], to[SIZE], expected[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        from[i] = (unsigned char)(i * 7 + 1);
    for (size_t bytes = 0; bytes <= MAX_BYTES; bytes++)
        for (size_t offset = 0; offset < MAX_OFFSET; offset++) {
            size_t target = MAX_OFFSET - offset;
            memset(to, 0, sizeof(to));
            memset(expected, 0, sizeof(expected));
            memcpy(expected + target, from + offset, bytes);
            copy(to + target, from + offset, bytes);
            CHECK(memcmp(to, expected, sizeof(to)) == 0);
        }
}

TEST_CALL(plain, check_sizes(cohort__copy))
TEST_CALL(past, check_sizes(cohort__copy_past))
