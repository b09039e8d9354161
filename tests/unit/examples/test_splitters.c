/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/splitters.h"

#include <string.h>

#include "tests/support/test.h"

static struct splitter splitter_of(const char *text)
{
    struct splitter splitter = {.length = SPLITTER_NONE};
    if (text) {
        splitter.length = (uint16_t)strlen(text);
        memcpy(splitter.text, text, strlen(text));
    }
    return splitter;
}

static void check_splitter(const struct splitter *splitter, const char *want)
{
    CHECK_INT(splitter->length, (long long)strlen(want));
    CHECK(memcmp(splitter->text, want, strlen(want)) == 0);
}

TEST(sample)
{
    struct line lines[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
    struct splitter samples[2];
    splitters_sample(lines, 4, samples, 2);
    check_splitter(&samples[0], "b");
    check_splitter(&samples[1], "d");
    splitters_sample(lines, 1, samples, 2);
    check_splitter(&samples[0], "a");
    check_splitter(&samples[1], "a");
    splitters_sample(NULL, 0, samples, 2);
    CHECK(samples[0].length == SPLITTER_NONE && samples[1].length == SPLITTER_NONE);
}

TEST(long_line)
{
    char text[100];
    struct splitter sample;
    memset(text, 'x', sizeof(text));
    splitters_sample(&(struct line){text, sizeof(text)}, 1, &sample, 1);
    CHECK_INT(sample.length, SPLITTER_BYTES);
}

/* More samples than buckets, fewer, and none. */
TEST(choose)
{
    struct splitter samples[] = {splitter_of("f"), splitter_of(NULL), splitter_of("b"),
                                 splitter_of("d"), splitter_of("a"),  splitter_of("c"),
                                 splitter_of(""),  splitter_of(NULL)};
    CHECK_INT(splitters_choose(samples, 8, 3), 2);
    check_splitter(&samples[0], "b");
    check_splitter(&samples[1], "d");

    struct splitter few[] = {splitter_of("b"), splitter_of(NULL), splitter_of("a"),
                             splitter_of(NULL), splitter_of(NULL)};
    CHECK_INT(splitters_choose(few, 5, 5), 4);
    check_splitter(&few[0], "a");
    check_splitter(&few[1], "a");
    check_splitter(&few[2], "b");
    check_splitter(&few[3], "b");

    struct splitter none[] = {splitter_of(NULL), splitter_of(NULL)};
    CHECK_INT(splitters_choose(none, 2, 2), 0);
}

TEST(divide)
{
    struct line lines[] = {{"", 0}, {"a", 1}, {"b", 1}, {"bb", 2}, {"b\0", 2}, {"z", 1}};
    struct splitter splitters[] = {splitter_of("b"), splitter_of("b"), splitter_of("y")};
    size_t bytes[4];
    splitters_divide(splitters, 3, lines, 6, bytes, 4);
    CHECK(bytes[0] == 3 && bytes[1] == 0 && bytes[2] == 8 && bytes[3] == 2);
    splitters_divide(NULL, 0, lines, 6, bytes, 4);
    CHECK(bytes[0] == 13 && bytes[1] == 0 && bytes[2] == 0 && bytes[3] == 0);
}
