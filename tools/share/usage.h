/* SPDX-License-Identifier: Apache-2.0 */
/* tools: reads command lines, and says what is wrong with one. */
#ifndef COHORT_TOOLS_SHARE_USAGE_H
#define COHORT_TOOLS_SHARE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct option; /* of getopt.h */

/* The command lines of all programs: how one is read, and what is printed about a wrong one.
 * Functions that read a part of one return -1 to go on, or the status to end with. */
struct usage {
    const char *program;
    const char *line; /* "usage: program ...\n" */
    const char *help; /* what follows it with --help */
    /* What is meant by WORD, which is no option of this program but one of another that many know.
     * NULL: nothing is known of it. May be NULL itself. */
    const char *(*hint_for)(const char *word);
};

/* The values of --help and --version in a program's options. Its own options begin after them. */
enum { USAGE_HELP = 128, USAGE_VERSION, USAGE_FIRST_OPTION };

struct usage_reader {
    const char *letters;          /* options of one letter, as for getopt: "n:x:" */
    const struct option *options; /* long ones, ended by zeroes */
    /* OPTION was given as WORD; its value, if it has one, is getopt's `optarg`. */
    int (*read_option)(void *context, int option, const char *word);
    /* A word that is no option. NULL: reading ends in front of the first such word. */
    int (*read_word)(void *context, const char *word);
};

/* Reads the command line. Afterwards, what READER does not read begins at getopt's `optind`. */
int usage_read(const struct usage *usage, const struct usage_reader *reader, int argc, char **argv,
               void *context);

/* Prints "program: ..." and the usage. Returns 2. */
int usage_wrong(const struct usage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads TEXT, the value of option WORD: digits only, MIN to MAX. */
int usage_read_count(const struct usage *usage, const char *word, const char *text, uint32_t min,
                     uint32_t max, uint32_t *ret);

/* Whether TEXT is a number from MIN to MAX, written in CHARACTERS only. */
bool usage_parse_decimal(const char *text, const char *characters, double min, double max,
                         double *ret);

#endif
