/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: kills all that a process has started, also what has left its group. */
#ifndef COHORT_TOOLS_COHORTRUN_DESCENDANTS_H
#define COHORT_TOOLS_COHORTRUN_DESCENDANTS_H

#include <stdbool.h>

/* Makes this process the one to which those of its descendants fall whose parent dies, whatever
 * sessions and groups they are in. */
void descendants_adopt(void);

/* Whether this process has no children: all it will have are its own then, and not those of what
 * it was before exec. */
bool descendants_are_none(void);

/* Kills and reaps every descendant, until there are none. This process has to have adopted, and to
 * have one thread. Those that it may not kill (another user's) are left. */
void descendants_kill(void);

#endif
