/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: says when nothing moves in the whole job. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_STALL_H
#define COHORT_TOOLS_COHORTRUN_JOB_STALL_H

struct job;

/* Begins to look, once the localities have been started, if the options say so. Where there is no
 * memory for it, nothing is said, and the job goes on. */
void job_stall_open(struct job *job);

/* Something has moved that is not seen in ledgers: output was passed on, another host says so. */
void job_stall_moved(struct job *job);

/* job_stall_close: before the loop is destroyed. job_stall_destroy: after that. */
void job_stall_close(struct job *job);
void job_stall_destroy(struct job *job);

#endif
