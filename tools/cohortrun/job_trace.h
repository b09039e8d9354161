/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: makes one trace of what the localities have written with COHORT_TRACE. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_TRACE_H
#define COHORT_TOOLS_COHORTRUN_JOB_TRACE_H

#include "cohort/status.h"

struct job;

/* What COHORT_TRACE says, before anything is started. COHORT_ERR_BAD_PARAMETER. */
cohort_status job_check_trace(void);

/* For jobs on several hosts: job->far_trace, if there is a trace. COHORT_ERR_NO_MEMORY. */
cohort_status job_open_far_trace(struct job *job);

/* Both do nothing without COHORT_TRACE. When the localities of this host have ended, and their
 * ledger is still there: what is only there gets into their parts. */
void job_complete_parts(const struct job *job);

/* When nothing is left of the job: it may take long. Says on standard error what has failed, or is
 * missing. */
void job_join_trace(const struct job *job);

#endif
