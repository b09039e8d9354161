/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what a daemon hands out, piece by piece: looks at localities, and parts of a trace. */
#ifndef COHORT_TOOLS_COHORTRUN_NODE_FETCH_H
#define COHORT_TOOLS_COHORTRUN_NODE_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct locality;
struct node_link;

enum node_fetch_what {
    NODE_FETCH_LOOK, /* what look_copy makes of the locality when byte 0 is asked for */
    NODE_FETCH_PART, /* its part of a trace; if it has ended, with what was only in the ledger */
    NODE_FETCH_NUM_WHATS
};

enum node_fetch_kind {
    NODE_FETCH_MORE, /* a piece, and more follow */
    NODE_FETCH_LAST, /* the last piece */
    NODE_FETCH_NONE, /* a text: why there is none */
    NODE_FETCH_NUM_KINDS
};

/* NODE_LINK_FETCH asks for the bytes from a place on, and NODE_LINK_FETCHED answers. So of each
 * kind one piece is under way, and what else the connection carries does not wait behind it for
 * long. The first piece is small: most looks fit into it, and of a part it shows whether the rest
 * is wanted. */
enum {
    NODE_FETCH_FIRST_BYTES = 16 << 10,
    NODE_FETCH_PIECE_BYTES = 1 << 20,
    NODE_FETCH_QUESTION_BYTES = 13, /* u8 what, u32 the question's number, u64 the place */
    NODE_FETCH_ANSWER_BYTES = 6,    /* u8 what, u32 that number, u8 kind; behind them the piece */
};

/* The look that is being handed out. All zero: none. */
struct node_fetch {
    char *look;
    size_t bytes;
    uint32_t rank;
};

/* Answers QUESTION about LOCALITY, whose ledger is region SLOT of MEMORY; -1: it has none. False:
 * it makes no sense. */
bool node_fetch_answer(struct node_fetch *fetch, struct node_link *node_link,
                       const struct locality *locality, int memory, uint32_t slot,
                       const unsigned char *question, size_t bytes);

/* LOCALITY's part of a trace has come to where it was asked for, so it goes here. */
void node_fetch_remove_part(const struct locality *locality);

void node_fetch_fini(struct node_fetch *fetch);

#endif
