/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: runs a job: sets it up, and handles all its events. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_H
#define COHORT_TOOLS_COHORTRUN_JOB_H

#include "tools/cohortrun/options.h"

/* Starts the localities, and returns when nothing of them is left. Returns the job's exit
 * status. */
int job_run(const struct options *options);

#endif
