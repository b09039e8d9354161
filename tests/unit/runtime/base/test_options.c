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

TEST(same)
{
    struct current given = {1, 2}, read;
    CHECK_OK(cohort__options_read(&read, sizeof(read), &given, sizeof(given), "x"));
    CHECK(read.a == 1 && read.b == 2);
}

TEST(older)
{
    struct older given = {1};
    struct current read = {7, 7};
    CHECK_OK(cohort__options_read(&read, sizeof(read), &given, sizeof(given), "x"));
    CHECK(read.a == 1 && read.b == 0);
    read = (struct current){7, 7};
    CHECK_OK(cohort__options_read(&read, sizeof(read), &given, 0, "x"));
    CHECK(read.a == 0 && read.b == 0);
}

TEST(newer)
{
    struct newer given = {1, 2, 0};
    struct current read = {7, 7};
    CHECK_OK(cohort__options_read(&read, sizeof(read), &given, sizeof(given), "x"));
    CHECK(read.a == 1 && read.b == 2);
    read = (struct current){7, 7};
    for (unsigned byte = 0; byte < sizeof(given.c); byte++) {
        given.c = 1 << 8 * byte;
        CHECK_FAILS(cohort__options_read(&read, sizeof(read), &given, sizeof(given), "who"),
                    COHORT_ERR_BAD_PARAMETER, "who: its byte ");
        CHECK_CONTAINS(cohort_error_message(), "this version of the library knows 8 bytes");
        CHECK(read.a == 7 && read.b == 7);
    }
}

TEST(none)
{
    struct current read = {7, 7};
    CHECK_INT(cohort__options_read(&read, sizeof(read), NULL, sizeof(read), "who"),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "who: no options");
    CHECK(read.a == 7 && read.b == 7);
}
