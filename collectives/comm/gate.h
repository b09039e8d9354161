/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_GATE_H
#define COHORT_COLLECTIVES_COMM_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"

/* Orders the calls of one endpoint: the gate accepts a generation that is above all those that have
 * passed. If generations are left out, nothing is sent for them, and no site waits for them. */
struct cohort__gate {
    uint64_t last; /* generation that has passed; 0: none yet */
};

/* The largest generation: the numbers of its posts (net/board.h) fit into 64 bits. */
#define COHORT__GENERATION_MAX ((UINT64_C(1) << 54) - 2)

void cohort__gate_init(struct cohort__gate *gate);

/* COHORT_ERR_BAD_PARAMETER, COHORT_ERR_GENERATION, with a message. On failure the gate is
 * unchanged. */
cohort_status cohort__gate_pass(struct cohort__gate *gate, uint64_t generation);

/* Remembers which generations were called and which were left out, to judge messages for them. A
 * peer asks for what it waits for, which is within its window of 64 generations, so even one that
 * lags by many windows is still told. More gaps would be more memory: a range has 16 bytes. The
 * older half goes when there are twice as many, so these have 32 KiB at most, and none if nothing
 * is left out. Not measured. */
enum { COHORT__HISTORY_RANGES = 1024 };
struct cohort__history {
    uint64_t last;        /* generation called, or left out at the end */
    uint32_t num_skipped; /* ranges */
    uint32_t capacity;
    struct cohort__skipped { /* first to last were left out; the oldest range first */
        uint64_t first, last;
    } * skipped;
};

void cohort__history_init(struct cohort__history *history);
void cohort__history_fini(struct cohort__history *history);

/* GENERATION, which is above the last one, is called. At least the latest COHORT__HISTORY_RANGES
 * gaps are remembered, or fewer if an allocation fails. */
void cohort__history_call(struct cohort__history *history, uint64_t generation);

/* The same, but GENERATION is left out, too, as are those before it. */
void cohort__history_leave_out(struct cohort__history *history, uint64_t generation);

/* Whether GENERATION, which is not above the last one, was left out. */
bool cohort__history_skipped(const struct cohort__history *history, uint64_t generation);

#endif
