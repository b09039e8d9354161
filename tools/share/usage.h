/* SPDX-License-Identifier: Apache-2.0 */
/* tools: reads command lines, and says what is wrong with one. */
#ifndef COHORT_TOOLS_SHARE_USAGE_H
#define COHORT_TOOLS_SHARE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The command lines of all programs: how one is read, and what is printed about a wrong one.
 * Functions that read a part of one return -1 to go on, or the status to end with. */

enum usage_kind {
    USAGE_FLAG,  /* has no value; a bool */
    USAGE_TEXT,  /* a const char *, which points into the command line */
    USAGE_COUNT, /* a uint32_t */
};

struct usage_value;

/* An option. --help and --version are all programs'. */
struct usage_option {
    const char *name; /* of one letter: -n VALUE; else --name VALUE, --name=VALUE */
    enum usage_kind kind;
    size_t place;      /* of its value in the reader's context */
    uint32_t min, max; /* of a count */
    const char *needs; /* of a text that must not be empty: "a path" */
    size_t note;       /* in the context, of a const char * that becomes its name; 0: of none */
    int (*read)(const struct usage_value *value); /* in place of that; or NULL */
};

/* A value as it was given. */
struct usage_value {
    const struct usage_option *option;
    const char *word; /* the option, as it was written */
    char *text;       /* NULL: a flag */
    void *context;
    void *place; /* where it goes */
};

struct usage {
    const char *program;
    const char *line; /* "usage: program ...\n" */
    const char *help; /* what follows it with --help */
    /* What is meant by WORD, which is no option of this program but one of another that many know.
     * NULL: nothing is known of it. May be NULL itself. */
    const char *(*hint_for)(const char *word);
    const struct usage_option *options; /* ended by zeroes */
    /* A word that is no option. NULL: reading ends in front of the first such word. */
    int (*read_word)(void *context, const char *word);
};

/* Reads the command line. Afterwards, what is not read begins at getopt's `optind`. */
int usage_read(const struct usage *usage, int argc, char **argv, void *context);

/* Prints "program: ..." and the usage. Returns 2. */
int usage_wrong(const struct usage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads a count for the option, as USAGE_COUNT. */
int usage_read_count(const struct usage *usage, const struct usage_value *value);

/* Whether TEXT is digits only, a number from MIN to MAX. */
bool usage_parse_count(const char *text, uint32_t min, uint32_t max, uint32_t *ret);

/* Whether TEXT is a number from MIN to MAX, written in CHARACTERS only. */
bool usage_parse_decimal(const char *text, const char *characters, double min, double max,
                         double *ret);

#endif
