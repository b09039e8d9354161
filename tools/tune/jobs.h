/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: --localities: starts the jobs, and collects their samples. */
#ifndef COHORT_TOOLS_TUNE_JOBS_H
#define COHORT_TOOLS_TUNE_JOBS_H

#include "tools/tune/options.h"

/* Measures in one job for the tasks and one for each number of localities, so that no locality is
 * idle beside those that are measured, and writes the file. Returns the status to exit with; it has
 * printed what is wrong. */
int tune_jobs_run(const struct tune_options *options);

#endif
