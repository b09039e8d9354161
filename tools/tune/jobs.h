/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: --localities, --hosts: starts the jobs, and collects their samples. */
#ifndef COHORT_TOOLS_TUNE_JOBS_H
#define COHORT_TOOLS_TUNE_JOBS_H

#include "tools/tune/options.h"

/* Measures the tasks in one job, and each number of localities, and of hosts, in a job of its own,
 * so that no locality is idle beside those that are measured. Writes the file. Returns the status
 * to exit with; it has printed what is wrong. */
int tune_jobs_run(const struct tune_options *options);

#endif
