/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/command.h"

#include <string.h>

#include "tests/support/test.h"

enum { MOST_WORDS = 20 };

/* The words of TEXT, which is changed. */
static char **split(char *text)
{
    static char *words[MOST_WORDS + 1];
    size_t num = 0;
    for (char *word = strtok(text, " "); word && num < MOST_WORDS; word = strtok(NULL, " "))
        words[num++] = word;
    words[num] = NULL;
    return words;
}

static void check_command(char *const *words, uint32_t size, uint32_t rank, const char *want)
{
    char text[100] = "";
    struct command command = command_of(words, size, rank);
    for (size_t i = 0; i < command.num_words; i++)
        strcat(strcat(text, i ? " " : ""), command.words[i]);
    CHECK_TEXT(text, want);
}

static void check_later(char *const *words, uint32_t want)
{
    uint32_t later = 99;
    CHECK_OK(command_check(words, &later));
    CHECK_INT(later, want);
}

TEST(one)
{
    char text[] = "a -n 2";
    char **words = split(text);
    check_later(words, 0);
    for (uint32_t rank = 0; rank < 3; rank++)
        check_command(words, 3, rank, "a -n 2");
}

TEST(several)
{
    char text[] = "a 1 : -n 2 b : -np 1 c x y";
    char **words = split(text);
    check_later(words, 3);
    check_command(words, 5, 0, "a 1");
    check_command(words, 5, 1, "a 1");
    check_command(words, 5, 2, "b");
    check_command(words, 5, 3, "b");
    check_command(words, 5, 4, "c x y");
}

/* A colon is an argument if no -n follows, and a name if it comes first. */
TEST(colons)
{
    char text[] = "a : b : -n 1 : : -x :";
    char **words = split(text);
    check_later(words, 1);
    check_command(words, 2, 0, "a : b");
    check_command(words, 2, 1, ": : -x :");
}

static void check_refused(const char *line, const char *why)
{
    char text[100];
    uint32_t later = 99;
    strcpy(text, line);
    CHECK_INT(command_check(split(text), &later), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(later, 99);
    CHECK_TEXT(cohort_error_message(), why);
}

TEST(wrong)
{
    char *const empty[] = {(char *)"", NULL};
    uint32_t later;
    check_refused("", "the program to start is missing");
    check_refused("a : -n 1", "the program to start is missing");
    check_refused("a : -n", ": -n needs a number from 1 to 4096, not ''");
    check_refused("a : -np b", ": -np needs a number from 1 to 4096, not 'b'");
    check_refused("a : -n 0 b", ": -n needs a number from 1 to 4096, not '0'");
    check_refused("a : -n 4097 b", ": -n needs a number from 1 to 4096, not '4097'");
    check_refused("a : -n 99999999999 b", ": -n needs a number from 1 to 4096, not '99999999999'");
    check_refused("a : -n 4000 b : -n 97 c",
                  "the programs have more than 4096 localities together");
    CHECK_INT(command_check(empty, &later), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "the program's name is empty");
}
