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

/* A child of which the program hears nothing: it sends no SIGCHLD, and the program's own waits
 * don't see it, unless it becomes another program. It has a copy of the memory, as after fork. A
 * signal handler may call both. */
pid_t cohort__tool_fork(void);

/* Returns when CHILD has ended. */
void cohort__tool_await(pid_t child);

/* Runs COMMAND until it ends, as a child of a child, so that the program hears nothing of it. */
void cohort__tool_run(const char *command, char *const arguments[]);

#endif
