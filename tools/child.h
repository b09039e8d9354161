/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TOOLS_CHILD_H
#define COHORT_TOOLS_CHILD_H

#include <stdbool.h>

/* Runs a program, whose path is the first of ARGS, and hands every line that it prints to ON_LINE,
 * until that says no; what follows is read and dropped. ARGS ends with NULL. False: it could not be
 * started, did not end with status 0, or ON_LINE said no; the first two are printed. */
bool child_run(char *const args[], bool (*on_line)(void *context, const char *line), void *context);

#endif
