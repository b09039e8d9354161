/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: finds and kills all that a process has started, also what has left its group. */
#ifndef COHORT_TOOLS_COHORTRUN_DESCENDANTS_H
#define COHORT_TOOLS_COHORTRUN_DESCENDANTS_H

#include <stdbool.h>

/* Makes this process the subreaper: a descendant whose parent dies becomes its child, whatever
 * session and group the descendant is in. */
void descendants_adopt(void);

/* Whether this process has no children. Then all children that it will have are its own, and none
 * belongs to the program that it was before exec. */
bool descendants_are_none(void);

/* The parent of PID; 0: there is no such process. */
int descendants_parent_of(int pid);

/* Whether PID is a process that TOP has started, or one that such a process has started, and so on;
 * also one that TOP's own parent, its subreaper, has inherited since. */
bool descendants_include(int top, int pid);

/* Kills and reaps every descendant, until there are none. This process has to have called
 * descendants_adopt, and has to have one thread. Descendants that it may not kill (another user's)
 * are left. */
void descendants_kill(void);

#endif
