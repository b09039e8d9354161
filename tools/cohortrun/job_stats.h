/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: prints or writes what the localities have counted with COHORT_STATS. */
#ifndef COHORT_TOOLS_COHORTRUN_JOB_STATS_H
#define COHORT_TOOLS_COHORTRUN_JOB_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

struct job;

/* All but the first do nothing where COHORT_STATS does not want anything. The localities of this
 * host are counted by a tally, those of others by the tally of their daemon, which sends it. */

/* COHORT_ERR_SYSTEM: the file can't be written; COHORT_ERR_NO_MEMORY. */
cohort_status job_stats_open(struct job *job);

/* The localities have been started: begins to write lines, if there is a file. */
void job_stats_begin(struct job *job);

/* What the daemon of locality RANK's host has sent. False: it makes no sense. */
bool job_stats_take(struct job *job, uint32_t rank, const unsigned char *data, size_t bytes);

/* Before the loop is destroyed. */
void job_stats_close(struct job *job);

/* When the localities of this host have ended, and their ledger is still there: the last lines, or
 * the table, and who is missing. */
void job_stats_finish(struct job *job);

void job_stats_destroy(struct job *job);

#endif
