/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_COMMAND_H
#define COHORT_EXAMPLES_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A command line: options first or in between, then files. */

/* An option, --NAME. One of flag, number and choice is set, which says what kind of option it is.
 * It points to the option's value, which holds the default before. */
struct command_option {
    const char *name;       /* without the dashes */
    const char *value_name; /* in the help, for instance "N"; NULL for a flag */
    const char *help;
    bool *flag;
    uint32_t *number; /* from min to max */
    uint32_t min;
    uint32_t max;
    const char **choice; /* one of choices, which end with NULL */
    const char *const *choices;
};

struct command_file {
    const char *name; /* in the help: "IN.pgm" */
    const char **path;
};

struct command {
    const char *name;
    const char *about; /* a sentence or two, for --help */
    const struct command_option *options;
    size_t num_options;
    const struct command_file *files; /* all are needed */
    size_t num_files;
};

/* What main has to do next. */
enum command_result {
    COMMAND_RUN,
    COMMAND_HELP,  /* has been printed: end with status 0 */
    COMMAND_WRONG, /* has been said, with the usage: end with status 2 */
};

/* --help is an option of every command. */
enum command_result command_parse(const struct command *command, int argc, char **argv);

/* Prints the usage in one line. Also for main, if it finds something wrong that a table can't
 * say. */
void command_print_usage(FILE *file, const struct command *command);

#endif
