/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: fetches what the daemons of other hosts hand out, piece by piece. */
#include "tools/cohortrun/far_fetch.h"

#include "tools/cohortrun/bytes.h"
#include "tools/cohortrun/host.h"

static void ask(struct host *host, enum node_fetch_what what)
{
    struct far_fetch *fetch = &host->fetches[what];
    unsigned char question[NODE_FETCH_QUESTION_BYTES] = {(unsigned char)what};
    bytes_put_u32(question + 1, ++fetch->number);
    bytes_put_u64(question + 5, fetch->at);
    host_send(host, NODE_LINK_FETCH, fetch->rank, question, sizeof(question));
}

void far_fetch_begin(struct host *host, enum node_fetch_what what)
{
    struct far_fetch *fetch = &host->fetches[what];
    fetch->is_asked = host_is_ready(host);
    fetch->rank = host->name->first;
    fetch->at = 0;
    if (fetch->is_asked)
        ask(host, what);
}

bool far_fetch_read(struct far_piece *ret_piece, struct host *host, uint32_t rank,
                    const unsigned char *data, size_t bytes)
{
    if (bytes < NODE_FETCH_ANSWER_BYTES ||
        bytes > NODE_FETCH_ANSWER_BYTES + NODE_FETCH_PIECE_BYTES ||
        data[0] >= NODE_FETCH_NUM_WHATS || data[5] >= NODE_FETCH_NUM_KINDS)
        return false;
    struct far_fetch *fetch = &host->fetches[data[0]];
    const uint32_t number = bytes_get_u32(data + 1);
    const struct far_piece piece = {.is_late = !fetch->is_asked || number != fetch->number,
                                    .what = (enum node_fetch_what)data[0],
                                    .rank = rank,
                                    .at = fetch->at,
                                    .kind = (enum node_fetch_kind)data[5],
                                    .data = data + NODE_FETCH_ANSWER_BYTES,
                                    .bytes = bytes - NODE_FETCH_ANSWER_BYTES};
    *ret_piece = piece;
    if (piece.is_late)
        return fetch->number - number <= INT32_MAX;
    fetch->at += piece.bytes;
    return rank == fetch->rank && (piece.kind != NODE_FETCH_MORE || piece.bytes > 0);
}

void far_fetch_go_on(struct host *host, enum node_fetch_what what, bool is_over)
{
    struct far_fetch *fetch = &host->fetches[what];
    if (is_over) {
        fetch->rank++;
        fetch->at = 0;
    }
    fetch->is_asked = fetch->rank < host->name->first + host->name->num;
    if (fetch->is_asked)
        ask(host, what);
}

void far_fetch_stop(struct host *host, enum node_fetch_what what)
{
    host->fetches[what].is_asked = false;
}
