/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: runs a job: sets it up, and hears of all that happens in it. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_H
#define COHORT_TOOLS_COHORTRUN_JOB_H

#include "tools/cohortrun/options.h"

/* Starts the localities and stays until nothing of them is left. The job's exit status. */
int job_run(const struct options *options);

#endif
