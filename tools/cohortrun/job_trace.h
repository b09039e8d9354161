/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: makes one trace of what the localities have written with COHORT_TRACE. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_TRACE_H
#define COHORT_TOOLS_COHORTRUN_JOB_TRACE_H

struct job;

/* When all localities have ended, and their ledger is still there. Does nothing without
 * COHORT_TRACE. Says on standard error what has failed, or is missing. */
void job_join_trace(const struct job *job);

#endif
