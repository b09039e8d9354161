/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: answers those who ask how the job is, and asks itself. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_STATUS_H
#define COHORT_TOOLS_COHORTRUN_JOB_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;
struct job;

/* Listens at the job's name (card.h). Where that fails, nobody can ask, and the job goes on. */
void job_status_open(struct job *job);

/* job_status_close: before the loop is destroyed. Whoever still waits for an answer gets none.
 * Returns whether a child may be left, which has been killed. job_status_destroy: after that. */
bool job_status_close(struct job *job);
void job_status_destroy(struct job *job);

/* A daemon's answer to a question of one who asks. False: it makes no sense. */
bool job_status_seen(struct job *job, struct host *host, uint32_t rank, const unsigned char *data,
                     size_t bytes);

/* Prints who waits for whom: lets `cohortrun --status` do it, since the loop has other work. SHOWN
 * is called when that has ended, after two seconds at the latest. NULL is fine. If it is under way
 * already, SHOWN is called when that has ended, and with NULL it is done once more then. */
void job_status_show(struct job *job, void (*shown)(struct job *job));

#endif
