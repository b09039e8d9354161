/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: one locality's part of a trace, as a file of this host. */
#include "tools/cohortrun/trace_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/descriptors.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger_read.h"
#include "runtime/base/trace_format.h"
#include "tools/trace/part.h"

char *trace_part_path(const char *file, uint32_t rank)
{
    char *path = NULL;
    return asprintf(&path, "%s.%u.part", file, (unsigned)rank) < 0 ? NULL : path;
}

bool trace_part_is_here(const char *path, uint64_t key, uint32_t rank)
{
    struct cohort__trace_head head;
    int part = part_open(path, O_RDONLY | O_NOFOLLOW, &head);
    if (part >= 0)
        close(part);
    return part >= 0 && head.key == key && head.rank == rank;
}

/* The blocks of the ledger ------------------------------------------------------------------ */

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

/* If a block is in the part already, the join takes it once. */
void trace_part_complete(const char *path, uint64_t key, int ledger, uint32_t slot)
{
    struct cohort__ledger_view view;
    struct cohort__trace_head head;
    int part = ledger >= 0 ? part_open(path, O_RDWR | O_NOFOLLOW, &head) : -1;
    if (part < 0)
        return;
    if ((key == 0 || head.key == key) && !head.is_closed &&
        !cohort__ledger_view_init(&view, ledger, slot)) {
        off_t num =
            (lseek(part, 0, SEEK_END) - COHORT__TRACE_HEAD_BYTES + COHORT__TRACE_BLOCK_BYTES - 1) /
            COHORT__TRACE_BLOCK_BYTES;
        struct tail tail = {part, COHORT__TRACE_HEAD_BYTES + num * COHORT__TRACE_BLOCK_BYTES};
        (void)!cohort__ledger_each(&view, COHORT__LEDGER_TRACE, append, &tail);
    }
    close(part);
}

/* From another host --------------------------------------------------------------------------- */

cohort_status trace_part_copy_init(struct trace_part_copy *copy, const char *file, uint64_t key,
                                   uint32_t rank, uint64_t most)
{
    *copy = (struct trace_part_copy){.key = key, .rank = rank, .most = most, .file = -1};
    copy->path = trace_part_path(file, rank);
    return copy->path ? COHORT_OK
                      : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a part of the trace");
}

/* One of this job is never replaced: a folder that is shared shows it late. */
static cohort_status begin(struct trace_part_copy *copy, const unsigned char *data, size_t bytes)
{
    struct cohort__trace_head head;
    if (bytes < sizeof(head))
        return cohort_fail(COHORT_ERR_PROTOCOL, "the part of locality %u is too short",
                           (unsigned)copy->rank);
    memcpy(&head, data, sizeof(head));
    if (head.magic != COHORT__TRACE_MAGIC || head.key != copy->key || head.rank != copy->rank)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "the part of locality %u is one of another job, or no part",
                           (unsigned)copy->rank);
    for (int i = 0; i < 2 && copy->file < 0; i++) {
        copy->file = open(copy->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (copy->file >= 0 || errno != EEXIST)
            break;
        if (trace_part_is_here(copy->path, copy->key, copy->rank))
            return cohort_fail(COHORT_ERR_STATE, "%s is here already", copy->path);
        unlink(copy->path);
        errno = EEXIST;
    }
    return copy->file >= 0 ? COHORT_OK
                           : cohort_fail(COHORT_ERR_SYSTEM, "%s can't be written: %s", copy->path,
                                         strerror(errno));
}

cohort_status trace_part_copy_take(struct trace_part_copy *copy, const unsigned char *data,
                                   size_t bytes)
{
    cohort_status status = copy->at == 0 ? begin(copy, data, bytes) : COHORT_OK;
    if (!status && bytes > copy->most - copy->at)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "the part of locality %u is too long",
                             (unsigned)copy->rank);
    if (!status && !cohort__descriptor_write(copy->file, data, bytes, copy->at))
        status = cohort_fail(COHORT_ERR_SYSTEM, "%s can't be written: %s", copy->path,
                             strerror(errno ? errno : ENOSPC));
    if (!status)
        copy->at += bytes;
    return status;
}

void trace_part_copy_fini(struct trace_part_copy *copy, bool is_whole)
{
    if (copy->path && copy->file >= 0) {
        close(copy->file);
        if (!is_whole)
            unlink(copy->path);
    }
    free(copy->path);
    *copy = (struct trace_part_copy){.file = -1};
}
