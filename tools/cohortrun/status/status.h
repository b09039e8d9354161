/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: --status: finds a job or a program, and says who waits for whom in it. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_STATUS_H
#define COHORT_TOOLS_COHORTRUN_STATUS_STATUS_H

#include <stdbool.h>

/* The command line of this role is `cohortrun --status [JOB] [--json]`, or with core files in place
 * of JOB, in any order that begins with an option. */
#define STATUS_OPTION "--status"

#define STATUS_JSON_OPTION "--json"

/* Whether FIRST, the first word behind cohortrun, is of this role. */
bool status_is_asked(const char *first);

/* The NUM WORDS of that. JOB: the pid of cohortrun, of a locality, or of a program that runs
 * alone; NULL: the only job of this user. Returns the status to exit with: 0 when it has been said;
 * 1 when not, which has been printed, or when no locality could be read; 2 when there are several
 * jobs, which have been listed, or WORDS make no sense. */
int status_main(int num, char *const *words);

#endif
