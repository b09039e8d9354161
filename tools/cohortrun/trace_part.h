/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: one locality's part of a trace, as a file of this host. */
#ifndef COHORT_TOOLS_COHORTRUN_TRACE_PART_H
#define COHORT_TOOLS_COHORTRUN_TRACE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* FILE.RANK.part. NULL: no memory. */
char *trace_part_path(const char *file, uint32_t rank);

/* Whether PATH is the part of locality RANK of the job KEY. */
bool trace_part_is_here(const char *path, uint64_t key, uint32_t rank);

/* A locality that was killed has not written its last blocks, but they are in slot SLOT of the
 * LEDGER: adds them to its part, if that is of the job KEY; 0: of any. */
void trace_part_complete(const char *path, uint64_t key, int ledger, uint32_t slot);

/* A part that comes from another host, piece by piece. */
struct trace_part_copy {
    uint64_t key; /* of the job */
    uint32_t rank;
    uint64_t most; /* bytes */
    char *path;
    int file;
    uint64_t at; /* how much has come */
};

/* COHORT_ERR_NO_MEMORY; then it needs no fini. */
cohort_status trace_part_copy_init(struct trace_part_copy *copy, const char *file, uint64_t key,
                                   uint32_t rank, uint64_t most);

/* Takes the next piece. The first one makes the file, in place of a part of another job. Of the
 * pieces nothing is trusted. COHORT_ERR_PROTOCOL: it begins like no part of this locality, or is
 * longer than `most`; COHORT_ERR_SYSTEM: it can't be written; COHORT_ERR_STATE: the part is here
 * already, and stays as it is. */
cohort_status trace_part_copy_take(struct trace_part_copy *copy, const unsigned char *data,
                                   size_t bytes);

/* What is not WHOLE is removed. All zero is fine. */
void trace_part_copy_fini(struct trace_part_copy *copy, bool is_whole);

#endif
