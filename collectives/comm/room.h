/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ROOM_H
#define COHORT_COLLECTIVES_COMM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/proc/boards.h"

/* Posts of one length take turns in the first part of the arena. Two turns are enough where each
 * call waits for all: who posts has seen all posts of the call before, so all have read what is
 * before that. Up to COHORT__ROOM_TURNS are taken, so that what is written is no longer in the
 * caches of those who have read what was there, from which it would have to be fetched; but of more
 * than two, all localities together use no more than COHORT__ROOM_SPREAD, to stay in the caches.
 * Measured: docs/performance.md, "Beside MPI": "Two copies against one". */
enum { COHORT__ROOM_LEAST = 2, COHORT__ROOM_TURNS = 32, COHORT__ROOM_SPREAD = 4 << 20 };

/* What a locality's latest posts hold of its slot: places for their heads, and parts of the arena,
 * each behind the one before, then from the beginning again. Known to it alone. All zero: nothing.
 * Generations are taken in rising order. */
struct cohort__room {
    struct cohort__held {
        uint64_t generation; /* 0: none */
        uint32_t begin, end; /* in the arena, with a line in between; equal: nothing there */
    } held[COHORT__BOARD_DEPTH];
    uint32_t next;   /* where the latest one in the arena ends */
    uint32_t spread; /* this locality's part of COHORT__ROOM_SPREAD */
};

/* Where GENERATION can post BYTES (at most COHORT__BOARD_POST) once all have passed
 * *RET_NEEDED, as they have passed ALL_PASSED: at once, where that isn't less. */
uint32_t cohort__room_find(const struct cohort__room *room, uint64_t generation, size_t bytes,
                           uint64_t all_passed, uint64_t *ret_needed);

/* It posts there. */
void cohort__room_take(struct cohort__room *room, uint64_t generation, size_t bytes,
                       uint32_t offset);

#endif
