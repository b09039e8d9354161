/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_TUNE_FILE_H
#define COHORT_COLLECTIVES_MODEL_TUNE_FILE_H

#include <stdbool.h>

#include "collectives/model/parameters.h"

/* The text of a tuning file, lines of `name = value` with comments from # on:
 *
 *     version = 1                       first
 *     cores = 2
 *     tasks.startup = 20.5              nanoseconds; for each scope and term
 *     factor.tasks.all_reduce.ring = 1 0.95 ...    for a row, at each of the knots
 *
 * What is not there is as in the default parameters. */

/* Where the file is unless the environment names another one: in CONFIG_HOME ($XDG_CONFIG_HOME), or
 * in HOME/.config. Either may be NULL. False: neither is a path, or the result is too long. */
bool cohort__tune_file_place(const char *config_home, const char *home, char *ret_path,
                             size_t bytes);

/* FILE is for messages. COHORT_ERR_BAD_PARAMETER says file, line and what is wrong. */
cohort_status cohort__tune_file_read(struct cohort__parameters *ret_parameters, const char *file,
                                     const char *text);

/* The text is the caller's to free. COHORT_ERR_NO_MEMORY. HEAD: what stands in the first line, as a
 * comment. */
cohort_status cohort__tune_file_write(const struct cohort__parameters *parameters, const char *head,
                                      char **ret_text);

#endif
