/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/options.h"

#include "tests/support/test.h"

/* One struct as three versions of a header declare it. */
struct older {
    int a;
};
struct current {
    int a;
    int b;
};
struct newer {
    int a;
    int b;
    int c;
};

static void test_same(void)
{
    struct current given = {1, 2}, read;
    CHECK_INT(cohort__options_read(&read, sizeof(read), &given, sizeof(given), "x"), COHORT_OK);
    CHECK(read.a == 1 && read.b == 2);
}

static void test_older(void)
{
    struct older given = {1};
    struct current read = {7, 7};
    CHECK_INT(cohort__options_read(&read, sizeof(read), &given, sizeof(given), "x"), COHORT_OK);
    CHECK(read.a == 1 && read.b == 0);
    read = (struct current){7, 7};
    CHECK_INT(cohort__options_read(&read, sizeof(read), &given, 0, "x"), COHORT_OK);
    CHECK(read.a == 0 && read.b == 0);
}

static void test_newer(void)
{
    struct newer given = {1, 2, 0};
    struct current read = {7, 7};
    CHECK_INT(cohort__options_read(&read, sizeof(read), &given, sizeof(given), "x"), COHORT_OK);
    CHECK(read.a == 1 && read.b == 2);
    read = (struct current){7, 7};
    for (unsigned byte = 0; byte < sizeof(given.c); byte++) {
        given.c = 1 << 8 * byte;
        CHECK_INT(cohort__options_read(&read, sizeof(read), &given, sizeof(given), "who"),
                  COHORT_ERR_BAD_PARAMETER);
        CHECK_CONTAINS(cohort_error_message(), "who: its byte ");
        CHECK_CONTAINS(cohort_error_message(), "this version of the library knows 8 bytes");
        CHECK(read.a == 7 && read.b == 7);
    }
}

static void test_none(void)
{
    struct current read = {7, 7};
    CHECK_INT(cohort__options_read(&read, sizeof(read), NULL, sizeof(read), "who"),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "who: no options");
    CHECK(read.a == 7 && read.b == 7);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"same", test_same},
        {"older", test_older},
        {"newer", test_newer},
        {"none", test_none},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
