/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/text.h"

#include <string.h>

#include "tests/support/test.h"

static void test_append(void)
{
    char bytes[16] = "";
    struct cohort__text text = {.bytes = bytes, .capacity = sizeof(bytes)};
    cohort__text_append(&text, "%s", "");
    CHECK_INT(text.used, 0);
    cohort__text_append(&text, "site %d", 7);
    cohort__text_append(&text, ", %s", "gone");
    CHECK(strcmp(bytes, "site 7, gone") == 0);
    CHECK_INT(text.used, 12);
}

/* What does not fit is cut off, and nothing behind the memory is written. */
static void test_full(void)
{
    char bytes[8 + 1] = "";
    bytes[8] = '!';
    struct cohort__text text = {.bytes = bytes, .capacity = 8};
    cohort__text_append(&text, "%s", "1234567");
    CHECK_INT(text.used, 7);
    cohort__text_append(&text, "%s", "8");
    cohort__text_append(&text, "%s", "and more");
    CHECK(strcmp(bytes, "1234567") == 0);
    CHECK_INT(text.used, 7);
    CHECK(bytes[8] == '!');
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"append", test_append}, {"full", test_full}};
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
