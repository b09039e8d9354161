/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/command.h"

#include "tests/support/test.h"

/* tests/multi checks what is printed. */

static bool flag;
static uint32_t number;
static const char *choice;
static const char *in;
static const char *out;

static enum command_result parse(int argc, const char **argv)
{
    static const char *const choices[] = {"one", "two", NULL};
    static const struct command_option options[] = {
        {"flag", NULL, "a flag", .flag = &flag},
        {"number", "N", "a number", .number = &number, .min = 3, .max = 9},
        {"choice", "C", "a choice", .choice = &choice, .choices = choices},
    };
    static const struct command_file files[] = {{"IN", &in}, {"OUT", &out}};
    static const struct command command = {"test", "About.", options, 3, files, 2};
    char *copy[12] = {0};
    flag = false;
    number = 4;
    choice = in = out = NULL;
    for (int i = 0; i < argc; i++)
        copy[i] = (char *)argv[i];
    return command_parse(&command, argc, copy);
}

#define PARSE(...)                                                                                 \
    parse(sizeof((const char *[]){"test", __VA_ARGS__}) / sizeof(const char *),                    \
          (const char *[]){"test", __VA_ARGS__})

TEST(right)
{
    CHECK_INT(PARSE("a", "b"), COMMAND_RUN);
    CHECK(!flag && number == 4 && !choice);
    CHECK_TEXT(in, "a");
    CHECK_TEXT(out, "b");
    CHECK_INT(PARSE("--flag", "a", "--number", "9", "b", "--choice=two"), COMMAND_RUN);
    CHECK(flag && number == 9);
    CHECK_TEXT(choice, "two");
    CHECK_INT(PARSE("--number=3", "--", "--flag", "b"), COMMAND_RUN);
    CHECK_TEXT(in, "--flag");
    CHECK(!flag && number == 3);
    CHECK_INT(PARSE("--help"), COMMAND_HELP);
    CHECK_INT(PARSE("--flag", "--help", "x"), COMMAND_HELP);
}

TEST(wrong)
{
    CHECK_INT(PARSE("a"), COMMAND_WRONG);
    CHECK_INT(PARSE("a", ""), COMMAND_WRONG);
    CHECK_INT(PARSE("a", "b", "c"), COMMAND_WRONG);
    CHECK_INT(PARSE("--frob", "a", "b"), COMMAND_WRONG);
    CHECK_INT(PARSE("-f", "a", "b"), COMMAND_WRONG);
    CHECK_INT(PARSE("--flag=1", "a", "b"), COMMAND_WRONG);
    CHECK_INT(PARSE("a", "b", "--number"), COMMAND_WRONG);
    CHECK_INT(PARSE("--number", "2", "a", "b"), COMMAND_WRONG);
    CHECK_INT(PARSE("--number", "10", "a", "b"), COMMAND_WRONG);
    CHECK_INT(PARSE("--number", "4x", "a", "b"), COMMAND_WRONG);
    CHECK_INT(PARSE("--choice", "three", "a", "b"), COMMAND_WRONG);
    CHECK_INT(PARSE("--choice", "", "a", "b"), COMMAND_WRONG);
}
