/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what a daemon does for a trace: tells the time, and sends parts. */
#include "tools/cohortrun/node_trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/locality.h"
#include "tools/cohortrun/node_link.h"
#include "tools/cohortrun/trace_part.h"

void node_trace_init(struct node_trace *trace)
{
    trace->file = -1;
}

void node_trace_fini(struct node_trace *trace)
{
    if (trace->file >= 0)
        close(trace->file);
    trace->file = -1;
}

bool node_trace_clock(struct node_link *node_link, const unsigned char *data, size_t bytes,
                      uint64_t arrived)
{
    unsigned char pong[NODE_TRACE_PONG_BYTES];
    if (bytes != NODE_TRACE_PING_BYTES)
        return false;
    memcpy(pong, data, NODE_TRACE_PING_BYTES);
    bytes_put_u64(pong + 8, arrived);
    bytes_put_u64(pong + 16, cohort__clock_now());
    node_link_send(node_link, NODE_LINK_CLOCK, 0, pong, sizeof(pong));
    return true;
}

/* NULL: there is no trace, or no memory. */
static char *path_of(const struct locality *locality)
{
    const char *file = getenv("COHORT_TRACE"); /* that of the localities */
    return file && *file ? trace_part_path(file, locality->rank) : NULL;
}

static void open_part(struct node_trace *trace, const struct locality *locality, const char *path)
{
    struct stat stat;
    node_trace_fini(trace);
    trace->rank = locality->rank;
    trace->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (trace->file >= 0 && (fstat(trace->file, &stat) != 0 || !S_ISREG(stat.st_mode)))
        node_trace_fini(trace);
}

/* How many bytes of the part, from AT on, are in PIECE. */
static size_t read_piece(struct node_trace *trace, uint64_t at, unsigned char *piece)
{
    ssize_t got = trace->file >= 0 && at <= INT64_MAX
                      ? pread(trace->file, piece, NODE_TRACE_PIECE, (off_t)at)
                      : 0;
    if (got <= 0)
        node_trace_fini(trace);
    return got > 0 ? (size_t)got : 0;
}

bool node_trace_part(struct node_trace *trace, struct node_link *node_link,
                     const struct locality *locality, int ledger, uint32_t slot,
                     const unsigned char *data, size_t bytes)
{
    if (bytes != NODE_TRACE_QUESTION_BYTES)
        return false;
    uint64_t at = bytes_get_u64(data);
    bool is_first = at == 0 || at == NODE_TRACE_NOTHING;
    char *path = is_first ? path_of(locality) : NULL;
    if (path && locality->guarded.end != GUARDED_RUNS)
        trace_part_complete(path, 0, ledger, slot);
    if (path && at == 0)
        open_part(trace, locality, path);
    free(path);
    if (trace->rank != locality->rank)
        node_trace_fini(trace);
    unsigned char *answer = malloc(NODE_TRACE_QUESTION_BYTES + NODE_TRACE_PIECE);
    if (!answer) {
        node_link_send(node_link, NODE_LINK_PART, locality->rank, data, bytes);
        return true;
    }
    memcpy(answer, data, NODE_TRACE_QUESTION_BYTES);
    size_t got = read_piece(trace, at, answer + NODE_TRACE_QUESTION_BYTES);
    node_link_send(node_link, NODE_LINK_PART, locality->rank, answer,
                   NODE_TRACE_QUESTION_BYTES + got);
    free(answer);
    return true;
}

void node_trace_part_here(struct node_trace *trace, const struct locality *locality)
{
    char *path = path_of(locality);
    node_trace_fini(trace);
    if (path)
        unlink(path);
    free(path);
}
