/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_DRAIN_H
#define COHORT_RUNTIME_LAUNCH_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

/* Decides when a job may end, by Mattern's four counters. Each locality is asked how many messages
 * it has sent and received. One round of answers is not a consistent snapshot: a message may be
 * sent after its sender was asked, and received before its receiver was asked. But if two
 * successive rounds give the same sums, no message was sent or received between the end of the
 * first round and the start of the second. If then the number of received messages is the number of
 * sent ones, no message is in flight. This code has no clock and does no I/O. */
struct cohort__drain {
    uint32_t size;
    uint32_t num_missing; /* answers of this round that have not come yet */
    uint64_t round;       /* 0: no round has begun */
    uint64_t sent;        /* sums of this round */
    uint64_t received;
    bool busy;
    bool was_quiet; /* in the last round nobody was busy, and as many were received as sent */
    uint64_t last_sent;
};

enum cohort__drain_next {
    COHORT__DRAIN_WAIT,  /* wait for more answers */
    COHORT__DRAIN_AGAIN, /* a round has ended without a result: begin the next one */
    COHORT__DRAIN_DONE,
};

void cohort__drain_init(struct cohort__drain *drain, uint32_t size);

/* From the next round on, only SIZE localities are asked: others have died. Answers to former
 * rounds are ignored, as they count messages to and from the dead. */
void cohort__drain_restart(struct cohort__drain *drain, uint32_t size);

/* Begins a round, and returns its number: 1, 2, ... */
uint64_t cohort__drain_begin(struct cohort__drain *drain);

/* Takes one locality's answer to ROUND. Each locality answers once. An answer to another round is
 * ignored. */
enum cohort__drain_next cohort__drain_answer(struct cohort__drain *drain, uint64_t round,
                                             uint64_t sent, uint64_t received, bool busy);

/* How long to wait before the next round, in nanoseconds. The pauses grow, so that a job that takes
 * long is not disturbed by too many questions. */
uint64_t cohort__drain_pause_ns(const struct cohort__drain *drain);

#endif
