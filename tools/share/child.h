/* SPDX-License-Identifier: Apache-2.0 */
/* tools: runs another program, and reads what it prints. */
#ifndef COHORT_TOOLS_SHARE_CHILD_H
#define COHORT_TOOLS_SHARE_CHILD_H

#include <stdbool.h>

/* Runs a program, and hands every line that it prints to ON_LINE, until that returns false. What
 * follows is read and dropped. ARGS begins with the program, a path or a name to look for in PATH,
 * and ends with NULL. Returns false if the program could not be started or did not end with status
 * 0, which is printed; or if ON_LINE returned false. */
bool child_run(char *const args[], bool (*on_line)(void *context, const char *line), void *context);

#endif
