/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TOOLS_COHORTRUN_DESCENDANTS_H
#define COHORT_TOOLS_COHORTRUN_DESCENDANTS_H

/* Makes this process the one to which those of its descendants fall whose parent dies, whatever
 * sessions and groups they are in. */
void descendants_adopt(void);

/* Kills and reaps every descendant, until there are none. This process has to have adopted, to have
 * one thread, and to block SIGCHLD. Those that it may not kill (another user's) are left. */
void descendants_kill(void);

#endif
