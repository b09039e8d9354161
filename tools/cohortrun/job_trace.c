/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: makes one trace of what the localities have written with COHORT_TRACE. */
#include "tools/cohortrun/job_trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/ledger_read.h"
#include "runtime/base/trace_format.h"
#include "runtime/trace/join.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/options.h"

/* Where the next block goes in a part, behind all those that are there. */
struct tail {
    int part;
    off_t at;
};

static void append(void *context, const void *line)
{
    struct tail *tail = context;
    if (pwrite(tail->part, line, COHORT__TRACE_BLOCK_BYTES, tail->at) == COHORT__TRACE_BLOCK_BYTES)
        tail->at += COHORT__TRACE_BLOCK_BYTES;
}

/* A locality that was killed has not written its last blocks, but they are in its ledger. If one is
 * in its part already, the join takes it once. */
static void append_blocks(const struct job *job, int part, uint32_t slot)
{
    struct cohort__ledger_view view;
    struct cohort__trace_head head;
    struct stat stat;
    if (pread(part, &head, sizeof(head), 0) != sizeof(head) || fstat(part, &stat) != 0 ||
        !S_ISREG(stat.st_mode) || head.magic != COHORT__TRACE_MAGIC || head.key != job->key ||
        head.is_closed || cohort__ledger_view_init(&view, job->ledger, slot))
        return;
    off_t num = (stat.st_size - COHORT__TRACE_HEAD_BYTES + COHORT__TRACE_BLOCK_BYTES - 1) /
                COHORT__TRACE_BLOCK_BYTES;
    struct tail tail = {part, COHORT__TRACE_HEAD_BYTES + num * COHORT__TRACE_BLOCK_BYTES};
    (void)!cohort__ledger_each(&view, COHORT__LEDGER_TRACE, append, &tail);
}

/* NULL: there is no trace, or no job. */
static const char *file_of(const struct job *job)
{
    const char *file = getenv("COHORT_TRACE");
    return file && *file && job->key ? file : NULL;
}

void job_complete_parts(const struct job *job)
{
    const char *file = file_of(job);
    uint32_t first = 0, num = 0;
    if (file && job->localities && job->ledger >= 0)
        job_find_own_localities(job, &first, &num);
    for (uint32_t i = 0; i < num; i++) {
        char *path = NULL;
        if (job->localities[first + i].guarded.end == GUARDED_RUNS ||
            asprintf(&path, "%s.%u.part", file, (unsigned)(first + i)) < 0)
            continue;
        int part = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        free(path);
        if (part < 0)
            continue;
        append_blocks(job, part, i);
        close(part);
    }
}

void job_join_trace(const struct job *job)
{
    const char *file = file_of(job);
    struct cohort__trace_joined joined;
    if (!file)
        return;
    cohort_status status = cohort__trace_join(
        &(struct cohort__trace_join_options){.file = file, .has_key = true, .key = job->key},
        &joined);
    if (status == COHORT_ERR_STATE && job->status)
        return; /* there are no parts, as the program has not come so far */
    if (status) {
        fprintf(stderr, "cohortrun: COHORT_TRACE: %s\n", cohort_error_message());
        return;
    }
    if (joined.num_parts < job->options->size)
        fprintf(stderr, "cohortrun: COHORT_TRACE: %s has only %u of %u localities\n", file,
                (unsigned)joined.num_parts, (unsigned)job->options->size);
    if (joined.lost > 0)
        fprintf(stderr, "cohortrun: COHORT_TRACE: %s: there was no room for %llu records\n", file,
                (unsigned long long)joined.lost);
}
