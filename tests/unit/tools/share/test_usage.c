/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/share/usage.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static const char *hint_for(const char *word)
{
    return strcmp(word, "-flags") == 0 || strcmp(word, "--flat") == 0 ? "--flag" : NULL;
}

/* What was read, as text: "flag|n=3|word|". */
static char read_so_far[256];

static void add(const char *name, const char *value)
{
    size_t length = strlen(read_so_far);
    snprintf(read_so_far + length, sizeof(read_so_far) - length, "%s%s%s|", name, value ? "=" : "",
             value ? value : "");
}

static int read_option(const struct usage_value *value)
{
    CHECK_TEXT(value->context, "context");
    CHECK(value->word[0] == '-');
    add(value->option->name, value->text);
    return -1;
}

static int read_word(void *context, const char *word)
{
    CHECK_TEXT(context, "context");
    add(word, NULL);
    return strcmp(word, "end") == 0 ? 7 : -1;
}

static const struct usage_option words[] = {
    {"flag", USAGE_FLAG, .read = read_option}, {"value", USAGE_TEXT, .read = read_option}, {0}};
static const struct usage_option words_and_letters[] = {{"flag", USAGE_FLAG, .read = read_option},
                                                        {"n", USAGE_TEXT, .read = read_option},
                                                        {"value", USAGE_TEXT, .read = read_option},
                                                        {"x", USAGE_FLAG, .read = read_option},
                                                        {0}};
static const struct usage with_words = {"prog",   "usage: prog ...\n", "help\n", hint_for, words,
                                        read_word};
static const struct usage with_letters = {"prog",   "usage: prog ...\n", "help\n",
                                          hint_for, words_and_letters,   NULL};

/* Reads LINE, whose words are separated by single blanks. */
static int read_line(const struct usage *usage, const char *line)
{
    static char words[256];
    char *argv[16] = {"prog"};
    int argc = 1;
    read_so_far[0] = '\0';
    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    return usage_read(usage, argc, argv, "context");
}

static void check_read(const struct usage *usage, const char *line, const char *wanted)
{
    CHECK_INT(read_line(usage, line), -1);
    CHECK_TEXT(read_so_far, wanted);
}

/* Reading LINE ends with status 2, and prints WANTED. */
static void check_wrong(const struct usage *usage, const char *line, const char *wanted)
{
    FILE *saved = stderr;
    char *said = NULL, text[128];
    size_t bytes;
    stderr = open_memstream(&said, &bytes);
    CHECK(stderr);
    int status = read_line(usage, line);
    fclose(stderr);
    stderr = saved;
    CHECK_INT(status, 2);
    snprintf(text, sizeof(text), "prog: %s\nusage: prog ...\n", wanted);
    CHECK_TEXT(said, text);
    free(said);
}

TEST(mixed)
{
    check_read(&with_words, "", "");
    check_read(&with_words, "a --flag b --value 3 c", "a|flag|b|value=3|c|");
    check_read(&with_words, "--value=3 --val 4", "value=3|value=4|");
    check_read(&with_words, "a -- --flag b", "a|--flag|b|");
    CHECK_INT(read_line(&with_words, "a end b"), 7);
    CHECK_TEXT(read_so_far, "a|end|");
    CHECK_INT(read_line(&with_words, "-- end b"), 7);
    CHECK_TEXT(read_so_far, "end|");
}

/* Everything from the first word on belongs to another program. */
TEST(stops)
{
    check_read(&with_letters, "-n 3 -xn4 --flag program --flag -n", "n=3|x|n=4|flag|");
    CHECK_INT(optind, 5);
    check_read(&with_letters, "-x -- --flag", "x|");
    CHECK_INT(optind, 3);
}

TEST(wrong)
{
    check_wrong(&with_words, "--frob", "--frob is no option");
    check_wrong(&with_words, "a --flag=1", "--flag=1 is no option");
    check_wrong(&with_words, "--valeu=3", "--valeu=3 is no option; is --value meant?");
    check_wrong(&with_letters, "--flga program", "--flga is no option; is --flag meant?");
    check_wrong(&with_letters, "-fla", "-f is no option");
    check_wrong(&with_letters, "-flags", "-flags is no option; here it is --flag");
    check_wrong(&with_words, "--flat", "--flat is no option; here it is --flag");
    check_wrong(&with_words, "--value", "--value needs a value");
    check_wrong(&with_words, "-qx", "-qx is no option");
    check_wrong(&with_letters, "-q", "-q is no option");
    check_wrong(&with_letters, "-xq", "-q is no option");
    check_wrong(&with_letters, "-x -n", "-n needs a value");
    check_wrong(&with_letters, "--value", "--value needs a value");
}

struct values {
    bool flag;
    const char *text;
    uint32_t count;
    const char *noted;
};

static struct values values;

/* Reads LINE into `values`. Returns what is said. */
static const char *values_read(const char *line)
{
#define PLACE(member) offsetof(struct values, member)
    static const struct usage_option options[] = {
        {"flag", USAGE_FLAG, .place = PLACE(flag)},
        {"text", USAGE_TEXT, .place = PLACE(text), .needs = "a path"},
        {"count", USAGE_COUNT, .place = PLACE(count), .min = 2, .max = 10},
        {"other", USAGE_COUNT, .place = PLACE(count), .min = 0, .max = UINT32_MAX,
         .note = PLACE(noted)},
        {0},
    };
    static const struct usage usage = {"prog", "", "", NULL, options, NULL};
    static char said[256];
    char word[64], *argv[] = {"prog", word, NULL};
    FILE *saved = stderr;
    values = (struct values){0};
    snprintf(word, sizeof(word), "%s", line);
    stderr = fmemopen(said, sizeof(said), "w");
    CHECK(stderr);
    int status = usage_read(&usage, 2, argv, &values);
    fclose(stderr);
    stderr = saved;
    CHECK(status == -1 || status == 2);
    return status == -1 ? "" : said;
}

TEST(values)
{
    CHECK_TEXT(values_read("--flag"), "");
    CHECK(values.flag && !values.text);
    CHECK_TEXT(values_read("--text="), "prog: --text needs a path\n");
    CHECK_TEXT(values_read("--count=10"), "");
    CHECK_INT(values.count, 10);
    CHECK_TEXT(values_read("--count=1"), "prog: --count needs a number from 2 to 10, not '1'\n");
    CHECK_TEXT(values_read("--count=11"), "prog: --count needs a number from 2 to 10, not '11'\n");
    CHECK_TEXT(values_read("--count=3x"), "prog: --count needs a number from 2 to 10, not '3x'\n");
    CHECK_TEXT(values_read("--other=4294967295"), "");
    CHECK_INT(values.count, UINT32_MAX);
    CHECK_TEXT(values.noted, "other");
    CHECK(values_read("--other=4294967296")[0]);
}

TEST(decimal)
{
    static const char *const wrong[] = {"", ".", "1x", " 1", "x", "1e1", "-1", "3.01", "inf"};
    double value = 7;
    CHECK(usage_parse_decimal("1.5", "0123456789.", 0, 3, &value));
    CHECK(value == 1.5);
    CHECK(usage_parse_decimal("2e-1", "0123456789.e-", 0, 3, &value));
    CHECK(value == 0.2);
    for (size_t i = 0; i < NUM_OF(wrong); i++)
        CHECK(!usage_parse_decimal(wrong[i], "0123456789.", 0, 3, &value));
    CHECK(value == 0.2);
}
