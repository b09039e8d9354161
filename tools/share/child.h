/* SPDX-License-Identifier: Apache-2.0 */
/* tools: runs another program, and reads what it prints. */
#ifndef COHORT_TOOLS_SHARE_CHILD_H
#define COHORT_TOOLS_SHARE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Runs a program, which is the first of ARGS, a path or to be looked for in PATH, and hands every
 * line that it prints to ON_LINE, until that says no; what follows is read and dropped. ARGS ends
 * with NULL. False: it could not be started, did not end with status 0, or ON_LINE said no; the
 * first two are printed. */
bool child_run(char *const args[], bool (*on_line)(void *context, const char *line), void *context);

/* A program that runs beside this one, and of which nothing is seen. */
struct child {
    pid_t pid;
    const char *name; /* stays the caller's */
};

/* False: it could not be started, which is printed. */
bool child_start(struct child *ret_child, char *const args[]);
bool child_is_running(const struct child *child);

/* Waits for its end, having sent it SIGTERM if IS_STOPPED; false: it did not end with status 0,
 * which is printed unless it was stopped. */
bool child_end(const struct child *child, bool is_stopped);

/* Whether the program can be run and ends with status 0, of which nothing is printed. */
bool child_succeeds(char *const args[]);

#endif
