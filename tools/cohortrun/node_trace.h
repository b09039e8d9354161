/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what a daemon does for a trace: tells the time, and sends parts. */
#ifndef COHORT_TOOLS_COHORTRUN_NODE_TRACE_H
#define COHORT_TOOLS_COHORTRUN_NODE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct locality;
struct node_link;

/* Numbers of 8 bytes on the link, little-endian.
 *
 * CLOCK: when it was sent; answered with the same, when it has arrived, and when that is sent, by
 * the daemon's clock.
 *
 * PART: from which byte on; answered with the same, and the bytes, at most PIECE; none: there are
 * no more, or there is no part. NODE_TRACE_NOTHING: only what is in the ledger is to be added to
 * the part. So at most one message is under way, and what is read is what was asked for. PART_HERE:
 * all of it has come, it can go. */
enum {
    NODE_TRACE_PING_BYTES = 8,
    NODE_TRACE_PONG_BYTES = 24,
    NODE_TRACE_QUESTION_BYTES = 8,
    NODE_TRACE_PIECE = 1 << 20,
};
#define NODE_TRACE_NOTHING UINT64_MAX

/* The part that is being sent. */
struct node_trace {
    uint32_t rank;
    int file; /* -1: none */
};

void node_trace_init(struct node_trace *trace);
void node_trace_fini(struct node_trace *trace);

/* These take the messages of their names. False: it makes no sense. ARRIVED: when it did. */
bool node_trace_clock(struct node_link *node_link, const unsigned char *data, size_t bytes,
                      uint64_t arrived);
bool node_trace_part(struct node_trace *trace, struct node_link *node_link,
                     const struct locality *locality, int ledger, uint32_t slot,
                     const unsigned char *data, size_t bytes);
void node_trace_part_here(struct node_trace *trace, const struct locality *locality);

#endif
