/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/text.h"

#include <string.h>

#include "tests/support/test.h"

TEST(append)
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
TEST(full)
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

static void check_shortened(size_t capacity, const char *text, const char *wanted)
{
    char bytes[64];
    memset(bytes, '!', sizeof(bytes));
    cohort__text_shorten(bytes, capacity, text, strlen(text));
    CHECK_TEXT(bytes, wanted);
    CHECK(bytes[capacity] == '!');
}

/* The begin and the end stay. */
TEST(shorten)
{
    check_shortened(16, "", "");
    check_shortened(16, "123456789012345", "123456789012345");
    check_shortened(16, "1234567890123456", "12345 ... 23456");
    check_shortened(17, "12345678901234567", "12345 ... 234567");
    check_shortened(16, "abcd\u00e9fghijklmno\u00e9qrst", "abcd ... qrst");
    check_shortened(16, "abc\u00e9efghijklmn\u00e9opq", "abc\u00e9 ... \u00e9opq");
}

/* A text of nothing but bytes that are inside of a character. */
TEST(shorten_nonsense)
{
    char text[100];
    memset(text, 0x80, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    check_shortened(16, text, " ... ");
}
