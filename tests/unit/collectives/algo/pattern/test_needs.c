/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/needs.h"

#include "tests/support/test.h"

static const size_t half_gibibyte = (size_t)512 << 20;

/* A request that fits into memory is not refused: one block never takes N^2 blocks. */
static void test_many_sites(void)
{
    for (unsigned collective = 0; collective < COHORT__NUM_COLLECTIVES; collective++) {
        bool is_square = collective == COHORT__ALL_TO_ALL || collective == COHORT__REDUCE_SCATTER;
        CHECK_INT(
            cohort__sizes_fit((enum cohort__collective)collective, 65536, half_gibibyte + 1, 1),
            !is_square);
        CHECK(cohort__sizes_fit((enum cohort__collective)collective, 65536, 1 << 20, 1));
        CHECK(cohort__sizes_fit((enum cohort__collective)collective, INT32_MAX, 0, 8));
    }
}

static void test_overflow(void)
{
    for (unsigned collective = 0; collective < COHORT__NUM_COLLECTIVES; collective++) {
        CHECK(!cohort__sizes_fit((enum cohort__collective)collective, 1, SIZE_MAX / 8 + 2, 8));
        CHECK(!cohort__sizes_fit((enum cohort__collective)collective, 2, SIZE_MAX / 2 + 1, 1));
        CHECK(!cohort__sizes_fit((enum cohort__collective)collective, INT32_MAX, SIZE_MAX, 1));
        CHECK(!cohort__sizes_fit((enum cohort__collective)collective, 1, PTRDIFF_MAX, 1));
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"many_sites", test_many_sites},
        {"overflow", test_overflow},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
