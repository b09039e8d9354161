/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what a daemon hands out, piece by piece: looks at localities, and parts of a trace. */
#include "tools/cohortrun/node_fetch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/locality.h"
#include "tools/cohortrun/node_link.h"
#include "tools/cohortrun/status/look.h"
#include "tools/cohortrun/trace_part.h"

/* The bytes from AT on, of TOTAL; at most MOST. */
struct piece {
    uint64_t at, total;
    size_t most, bytes;
    char *data;
};

static cohort_status read_look(struct node_fetch *fetch, struct piece *piece,
                               const struct locality *locality, int memory, uint32_t slot)
{
    cohort_status status = COHORT_OK;
    if (piece->at == 0) {
        node_fetch_fini(fetch);
        fetch->rank = locality->rank;
        status = memory < 0
                     ? cohort_fail(COHORT_ERR_STATE, "its daemon has no ledger")
                     : look_copy(&fetch->look, &fetch->bytes, memory, slot, locality->guarded.pid);
    }
    if (status)
        return status;
    if (!fetch->look || fetch->rank != locality->rank || piece->at >= fetch->bytes)
        return cohort_fail(COHORT_ERR_STATE, "it is asked for a piece that there is not");
    const size_t left = fetch->bytes - piece->at;
    piece->total = fetch->bytes;
    piece->bytes = left < piece->most ? left : piece->most;
    memcpy(piece->data, fetch->look + piece->at, piece->bytes);
    return COHORT_OK;
}

/* NULL: there is no trace, or no memory. */
static char *path_of_part(const struct locality *locality)
{
    const char *file = getenv("COHORT_TRACE"); /* that of the localities */
    return file && *file ? trace_part_path(file, locality->rank) : NULL;
}

static cohort_status read_part(struct piece *piece, const struct locality *locality, int memory,
                               uint32_t slot)
{
    struct stat stat;
    ssize_t got = 0;
    char *path = path_of_part(locality);
    if (path && piece->at == 0 && locality->guarded.end != GUARDED_RUNS)
        trace_part_complete(path, 0, memory, slot);
    const int part = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    free(path);
    if (part >= 0 && fstat(part, &stat) == 0 && S_ISREG(stat.st_mode)) {
        got = pread(part, piece->data, piece->most, (off_t)piece->at);
        piece->total = (uint64_t)stat.st_size;
    }
    if (part >= 0)
        close(part);
    piece->bytes = got > 0 ? (size_t)got : 0;
    return got > 0 ? COHORT_OK : cohort_fail(COHORT_ERR_STATE, "there is no part of it");
}

bool node_fetch_answer(struct node_fetch *fetch, struct node_link *node_link,
                       const struct locality *locality, int memory, uint32_t slot,
                       const unsigned char *question, size_t bytes)
{
    enum { KIND = NODE_FETCH_ANSWER_BYTES - 1 };
    if (bytes != NODE_FETCH_QUESTION_BYTES || question[0] >= NODE_FETCH_NUM_WHATS)
        return false;
    unsigned char *answer = malloc(NODE_FETCH_ANSWER_BYTES + NODE_FETCH_PIECE_BYTES);
    if (!answer)
        return true; /* who asks does not wait for ever */
    const uint64_t at = bytes_get_u64(question + KIND);
    struct piece piece = {.at = at,
                          .most = at == 0 ? NODE_FETCH_FIRST_BYTES : NODE_FETCH_PIECE_BYTES,
                          .data = (char *)answer + NODE_FETCH_ANSWER_BYTES};
    cohort_status status = question[0] == NODE_FETCH_LOOK
                               ? read_look(fetch, &piece, locality, memory, slot)
                               : read_part(&piece, locality, memory, slot);
    if (status)
        piece.bytes = (size_t)snprintf(piece.data, piece.most, "%s", cohort_error_message());
    memcpy(answer, question, KIND);
    answer[KIND] = status                                 ? NODE_FETCH_NONE
                   : piece.at + piece.bytes < piece.total ? NODE_FETCH_MORE
                                                          : NODE_FETCH_LAST;
    node_link_send(node_link, NODE_LINK_FETCHED, locality->rank, answer,
                   NODE_FETCH_ANSWER_BYTES + piece.bytes);
    if (question[0] == NODE_FETCH_LOOK && answer[KIND] != NODE_FETCH_MORE)
        node_fetch_fini(fetch);
    free(answer);
    return true;
}

void node_fetch_remove_part(const struct locality *locality)
{
    char *path = path_of_part(locality);
    if (path)
        unlink(path);
    free(path);
}

void node_fetch_fini(struct node_fetch *fetch)
{
    free(fetch->look);
    *fetch = (struct node_fetch){0};
}
