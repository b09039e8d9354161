/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_STATS_H
#define COHORT_RUNTIME_JOB_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"

struct cohort__counters_line;
struct cohort__loop;
struct cohort__process;

/* COHORT_STATS: what this locality has counted. With cohortrun it only writes that into its ledger,
 * and cohortrun does the rest. Without, it prints or writes it itself. All zero: it is not wanted,
 * and the others do nothing. */
struct cohort__stats {
    struct cohort__counters_line *line; /* NULL: it is not wanted */
    const struct cohort__loop *loop;
    uint32_t rank, size;
    bool is_own;      /* there is no cohortrun that reads the line */
    int file;         /* -1: a table at the end */
    uint64_t next_at; /* of the next line in the file, as cohort__clock_now */
    bool has_failed;  /* to write a line, and said so */
};

struct cohort__stats_options {
    const char *setting; /* as cohort__settings.stats */
    const struct cohort__loop *loop;
    uint32_t rank, size;
    bool has_launcher;
};

/* After the trace has begun. COHORT_ERR_SYSTEM: the file can't be written; COHORT_ERR_NO_MEMORY. */
cohort_status cohort__stats_begin(struct cohort__stats *stats,
                                  const struct cohort__stats_options *options);

/* At each tick. PROCESS: NULL: there is none yet. */
void cohort__stats_tick(struct cohort__stats *stats, const struct cohort__process *process);

/* The last numbers, when PROCESS has been stopped; NULL: there never was one. */
void cohort__stats_end(struct cohort__stats *stats, const struct cohort__process *process);

#endif
