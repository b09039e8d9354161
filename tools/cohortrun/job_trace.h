/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: makes one trace of what the localities have written with COHORT_TRACE. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_TRACE_H
#define COHORT_TOOLS_COHORTRUN_JOB_TRACE_H

struct job;

/* Both do nothing without COHORT_TRACE. When the localities of this host have ended, and their
 * ledger is still there: what is only there gets into their parts. */
void job_complete_parts(const struct job *job);

/* When nothing is left of the job: it may take long. Says on standard error what has failed, or is
 * missing. */
void job_join_trace(const struct job *job);

#endif
