/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TOOLS_SHARE_USAGE_H
#define COHORT_TOOLS_SHARE_USAGE_H

#include <stdint.h>

/* How a program of ours is used, and what it says of a command line that it can't take. Functions
 * that read a part of one return -1 to go on, or the status to end with. */
struct usage {
    const char *program;
    const char *line; /* "usage: program ...\n" */
    const char *help; /* what follows it with --help */
};

/* Says "program: ..." and how it is used. Returns 2. */
int usage_wrong(const struct usage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* TEXT, the value of option WORD: digits only, MIN to MAX. */
int usage_read_count(const struct usage *usage, const char *word, const char *text, uint32_t min,
                     uint32_t max, uint32_t *ret);

/* --help and --version. Return 0, or 1 where standard output doesn't take it. */
int usage_print_help(const struct usage *usage);
int usage_print_version(const struct usage *usage);

#endif
