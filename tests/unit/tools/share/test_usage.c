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

static const struct usage usage = {"prog", "usage: prog ...\n", "help\n", hint_for};
static const struct option long_options[] = {
    {"flag", no_argument, NULL, USAGE_FIRST_OPTION},
    {"value", required_argument, NULL, USAGE_FIRST_OPTION + 1},
    {0},
};

/* What was read, as text: "flag|n=3|word|". */
static char read_so_far[256];

static void add(const char *name, const char *value)
{
    size_t length = strlen(read_so_far);
    snprintf(read_so_far + length, sizeof(read_so_far) - length, "%s%s%s|", name, value ? "=" : "",
             value ? value : "");
}

static int read_option(void *context, int option, const char *word)
{
    CHECK_TEXT(context, "context");
    CHECK(word[0] == '-');
    if (option < USAGE_HELP)
        add((char[]){(char)option, '\0'}, optarg);
    else
        add(option == USAGE_FIRST_OPTION ? "flag" : "value", optarg);
    return -1;
}

static int read_word(void *context, const char *word)
{
    CHECK_TEXT(context, "context");
    add(word, NULL);
    return strcmp(word, "end") == 0 ? 7 : -1;
}

static const struct usage_reader with_words = {"", long_options, read_option, read_word};
static const struct usage_reader with_letters = {"n:x", long_options, read_option, NULL};

/* Reads LINE, whose words are separated by single blanks. */
static int read_line(const struct usage_reader *reader, const char *line)
{
    static char words[256];
    char *argv[16] = {"prog"};
    int argc = 1;
    read_so_far[0] = '\0';
    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    return usage_read(&usage, reader, argc, argv, "context");
}

static void check_read(const struct usage_reader *reader, const char *line, const char *wanted)
{
    CHECK_INT(read_line(reader, line), -1);
    CHECK_TEXT(read_so_far, wanted);
}

/* Reading LINE ends with status 2, and prints WANTED. */
static void check_wrong(const struct usage_reader *reader, const char *line, const char *wanted)
{
    FILE *saved = stderr;
    char *said = NULL, text[128];
    size_t bytes;
    stderr = open_memstream(&said, &bytes);
    CHECK(stderr);
    int status = read_line(reader, line);
    fclose(stderr);
    stderr = saved;
    CHECK_INT(status, 2);
    snprintf(text, sizeof(text), "prog: %s\nusage: prog ...\n", wanted);
    CHECK_TEXT(said, text);
    free(said);
}

static void test_mixed(void)
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
static void test_stops(void)
{
    check_read(&with_letters, "-n 3 -xn4 --flag program --flag -n", "n=3|x|n=4|flag|");
    CHECK_INT(optind, 5);
    check_read(&with_letters, "-x -- --flag", "x|");
    CHECK_INT(optind, 3);
}

static void test_wrong(void)
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

static void test_decimal(void)
{
    static const char *const wrong[] = {"", ".", "1x", " 1", "x", "1e1", "-1", "3.01", "inf"};
    double value = 7;
    CHECK(usage_parse_decimal("1.5", "0123456789.", 0, 3, &value));
    CHECK(value == 1.5);
    CHECK(usage_parse_decimal("2e-1", "0123456789.e-", 0, 3, &value));
    CHECK(value == 0.2);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(!usage_parse_decimal(wrong[i], "0123456789.", 0, 3, &value));
    CHECK(value == 0.2);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"mixed", test_mixed},
        {"stops", test_stops},
        {"wrong", test_wrong},
        {"decimal", test_decimal},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
