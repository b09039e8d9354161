/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_TOOL_H
#define COHORT_RUNTIME_JOB_TOOL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Cohort's own programs, which do for a process what need not be in the library. */

/* Where the program NAME is: beside this library, or else in a folder of PATH, which may be NULL.
 * False: nowhere; then RET_COMMAND is "". */
bool cohort__tool_find(const char *name, const char *path, char ret_command[PATH_MAX]);

/* Runs COMMAND until it ends, as a child of a child, so that the program hears nothing of it. */
void cohort__tool_run(const char *command, char *const arguments[]);

/* --- status signal --- */

/* SIGUSR2 to a locality: `cohortrun --status` of it, on its standard error: that is of its whole
 * job if cohortrun has started it on this host, and else of this locality alone. The program itself
 * only starts that, so it makes no difference what it is doing. */

/* If the program has not said itself what SIGUSR2 is to do. PATH: in which folders cohortrun is
 * looked for if it is not where this library is installed; may be NULL. Before there are threads
 * that might get the signal. */
void cohort__status_signal_watch(const char *path);

/* Unless the program has taken the signal meanwhile, it ends the program again. */
void cohort__status_signal_unwatch(void);

#endif
