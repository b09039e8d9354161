/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_TUNE_FILE_H
#define COHORT_COLLECTIVES_MODEL_TUNE_FILE_H

#include <stdbool.h>

#include "collectives/model/parameters.h"

/* The text of a tuning file, lines of `name = value` with comments from # on:
 *
 *     version = 1                       first
 *     cores = 2
 *     tasks.startup = 20.5              nanoseconds; for each distance and term
 *     factor.tasks.all_reduce.ring = 1 0.95 ...    for a row, at each of the knots
 *
 * What is not there is as in the default parameters. */

/* The path of the file, unless the environment names another one: in CONFIG_HOME
 * ($XDG_CONFIG_HOME), or else in HOME/.config. Either may be NULL. False: neither is an absolute
 * path, or the result is too long. */
bool cohort__tune_file_place(const char *config_home, const char *home, char *ret_path,
                             size_t bytes);

/* Reads TEXT. FILE is only for messages. With COHORT_ERR_BAD_PARAMETER the message says file, line
 * and what is wrong. */
cohort_status cohort__tune_file_read(struct cohort__parameters *ret_parameters, const char *file,
                                     const char *text);

/* Writes PARAMETERS as text, which the caller frees. HEAD is the comment in the first line.
 * COHORT_ERR_NO_MEMORY. */
cohort_status cohort__tune_file_write(const struct cohort__parameters *parameters, const char *head,
                                      char **ret_text);

#endif
