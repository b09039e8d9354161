/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_DRAIN_H
#define COHORT_RUNTIME_PROC_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

/* When may a job end? Mattern's four counters: everybody is asked how many messages it has sent and
 * received. One round of answers is no snapshot, since a message may be sent after its sender
 * was asked and received before its receiver was. But if two rounds in succession give the same
 * sums, nothing moved between the end of the first and the start of the second; if then as many
 * were received as sent, none is under way. Pure: no clock, no I/O. */
struct cohort__drain {
    uint32_t size;
    uint32_t num_missing; /* answers of this round */
    uint64_t round;       /* 0: not begun */
    uint64_t sent;        /* sums of this round */
    uint64_t received;
    bool busy;
    bool was_quiet; /* the last round: nobody busy, as many received as sent: */
    uint64_t last_sent;
};

enum cohort__drain_next {
    COHORT__DRAIN_WAIT,  /* for more answers */
    COHORT__DRAIN_AGAIN, /* a round has ended without a result: begin the next one */
    COHORT__DRAIN_DONE,
};

void cohort__drain_init(struct cohort__drain *drain, uint32_t size);

/* Begins a round, and returns its number: 1, 2, ... */
uint64_t cohort__drain_begin(struct cohort__drain *drain);

/* One locality's answer to ROUND, each once; an answer to another round is ignored. */
enum cohort__drain_next cohort__drain_answer(struct cohort__drain *drain, uint64_t round,
                                             uint64_t sent, uint64_t received, bool busy);

/* How long to wait before the next round, so that a job that takes its time is not kept from its
 * work by being asked. */
uint64_t cohort__drain_pause_ns(const struct cohort__drain *drain);

#endif
