/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/select.h"

#include "tests/support/test.h"

static void test_is_flat(void)
{
    CHECK(cohort__select_is_flat(15, 4, 16));
    CHECK(!cohort__select_is_flat(16, 4, 16));
    CHECK(!cohort__select_is_flat(5, 4, 0));
    CHECK(cohort__select_is_flat(4, 4, 0));
    CHECK(cohort__select_is_flat(1, 2, 0));
    CHECK(!cohort__select_is_flat(3, 2, 0));
    CHECK(cohort__select_is_flat(64, 2, 1024));
}

static void test_rows(void)
{
    for (unsigned collective = 0; collective < COHORT__NUM_COLLECTIVES; collective++) {
        struct cohort__request request = {
            .collective = collective, .num_sites = 20, .arity = 4, .bytes = 8};
        const struct cohort__algorithm *flat = cohort__select(&request, true);
        const struct cohort__algorithm *tree = cohort__select(&request, false);
        CHECK_INT(flat->collective, collective);
        CHECK_INT(tree->collective, collective);
        CHECK_TEXT(flat->name, "linear");
        CHECK_TEXT(tree->name, "hierarchical");
        CHECK(!flat->hierarchical && tree->hierarchical);
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"is_flat", test_is_flat},
        {"rows", test_rows},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
