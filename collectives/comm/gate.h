/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_GATE_H
#define COHORT_COLLECTIVES_COMM_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/status.h"

/* Orders the calls of one endpoint. Generation k owns the slots 3k-2, 3k-1 and 3k, for all
 * operations. The gate accepts a call if its slots have not been passed, and then moves past all
 * three. If slots or generations are left out, nothing is sent for them, and no site waits for
 * them. */
struct cohort__gate {
    uint64_t next; /* the first free slot; at first 1 */
};

/* The largest generation: its slots, and the numbers of its posts (net/board.h), fit into 64 bits.
 */
#define COHORT__GENERATION_MAX ((UINT64_C(1) << 54) - 2)

void cohort__gate_init(struct cohort__gate *gate);

/* COHORT_ERR_BAD_PARAMETER, COHORT_ERR_GENERATION, with a message. On failure the gate is
 * unchanged. */
cohort_status cohort__gate_pass(struct cohort__gate *gate, uint64_t generation);

/* The last generation that has passed. 0: none yet. */
uint64_t cohort__gate_last(const struct cohort__gate *gate);

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
