/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: which program each locality runs, where there are several. */
#include "tools/cohortrun/command.h"

#include <ctype.h>
#include <string.h>

#include "runtime/launch/control.h"

/* Behind the first word of a program: ":", "-n", the number, and then the program. */
enum { BETWEEN = 3 };

static bool is_next(char *const *words)
{
    return strcmp(words[0], ":") == 0 && words[1] &&
           (strcmp(words[1], "-n") == 0 || strcmp(words[1], "-np") == 0);
}

/* The words of the program that begins at WORDS. Its name may be anything. */
static size_t count_words(char *const *words)
{
    size_t num = words[0] ? 1 : 0;
    while (num > 0 && words[num] && !is_next(words + num))
        num++;
    return num;
}

/* 0: TEXT is no number from 1 to 4096. */
static uint32_t read_number(const char *text)
{
    uint32_t number = 0;
    const char *c = text ? text : "";
    while (isdigit((unsigned char)*c) && number <= COHORT__CONTROL_MAX_LOCALITIES)
        number = 10 * number + (uint32_t)(*c++ - '0');
    return *c || number > COHORT__CONTROL_MAX_LOCALITIES ? 0 : number;
}

static cohort_status check_program(char *const *words)
{
    if (!words[0])
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "the program to start is missing");
    if (words[0][0] == '\0')
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "the program's name is empty");
    return COHORT_OK;
}

cohort_status command_check(char *const *words, uint32_t *ret_later)
{
    uint32_t later = 0;
    cohort_status status = check_program(words);
    while (!status && words[count_words(words)]) {
        words += count_words(words);
        uint32_t num = read_number(words[2]);
        if (num == 0)
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               ": %s needs a number from 1 to %d, not '%.40s'", words[1],
                               COHORT__CONTROL_MAX_LOCALITIES, words[2] ? words[2] : "");
        later += num;
        if (later > COHORT__CONTROL_MAX_LOCALITIES)
            return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                               "the programs have more than %d localities together",
                               COHORT__CONTROL_MAX_LOCALITIES);
        words += BETWEEN;
        status = check_program(words);
    }
    if (!status)
        *ret_later = later;
    return status;
}

struct command command_of(char *const *words, uint32_t size, uint32_t rank)
{
    uint32_t later = 0, end;
    (void)!command_check(words, &later);
    end = size - later;
    while (rank >= end && words[count_words(words)]) {
        words += count_words(words);
        end += read_number(words[2]);
        words += BETWEEN;
    }
    return (struct command){words, count_words(words)};
}
