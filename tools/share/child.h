/* SPDX-License-Identifier: Apache-2.0 */
/* tools: runs another program, and reads what it prints. */
#ifndef COHORT_TOOLS_SHARE_CHILD_H
#define COHORT_TOOLS_SHARE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Runs a program, and hands every line that it prints to ON_LINE, until that returns false. What
 * follows is read and dropped. ARGS begins with the program, a path or a name to look for in PATH,
 * and ends with NULL. Returns false if the program could not be started or did not end with status
 * 0, which is printed; or if ON_LINE returned false. */
bool child_run(char *const args[], bool (*on_line)(void *context, const char *line), void *context);

/* A program that runs beside this one. Its output is not seen. */
struct child {
    pid_t pid;
    const char *name; /* stays the caller's */
};

/* False: it could not be started, which is printed. */
bool child_start(struct child *ret_child, char *const args[]);
bool child_is_running(const struct child *child);

/* Waits for its end, and before that sends it SIGTERM if IS_STOPPED. False: it did not end with
 * status 0, which is printed unless IS_STOPPED. */
bool child_end(const struct child *child, bool is_stopped);

/* Whether the program can be run and ends with status 0. Nothing of this is printed. */
bool child_succeeds(char *const args[]);

#endif
