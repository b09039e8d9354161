/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/buffer.h"

#include <string.h>

#include "runtime/base/sanitizer.h"
#include "tests/support/test.h"

static void test_counts(void)
{
    static const size_t sizes[] = {0, 1, 100, 2000, 100000};
    for (int i = 0; i < 5; i++) {
        struct cohort__buffer *buffer = cohort__buffer_create(sizes[i]);
        CHECK(buffer && buffer->bytes == sizes[i]);
        CHECK((uintptr_t)buffer->data % 16 == 0);
        memset(buffer->data, 7, sizes[i]);
        CHECK(cohort__buffer_ref(buffer) == buffer);
        cohort__buffer_unref(buffer);
        if (sizes[i])
            CHECK_INT(buffer->data[sizes[i] - 1], 7);
        cohort__buffer_unref(buffer);
    }
}

static void test_null_and_too_large(void)
{
    cohort__buffer_unref(NULL);
    CHECK(!cohort__buffer_ref(NULL));
    CHECK(!cohort__buffer_create(SIZE_MAX));
    CHECK(!cohort__buffer_create(SIZE_MAX - sizeof(struct cohort__buffer) + 1));
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"counts", test_counts},
        {"null and too large", test_null_and_too_large},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
