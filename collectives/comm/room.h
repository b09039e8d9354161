/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ROOM_H
#define COHORT_COLLECTIVES_COMM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/proc/commons.h"

/* Posts of one length take turns in so many parts of the arena, where it has room for that. It is
 * more than there may be at a time: what is written then is not in the others' caches any more,
 * from which it would have to be fetched. */
enum { COHORT__ROOM_TURNS = 32 };

/* What a locality's latest posts hold of its slot: places for their heads, and parts of the arena,
 * each behind the one before, then from the beginning again. Known to it alone. All zero: nothing.
 * Generations are taken in rising order. */
struct cohort__room {
    struct cohort__held {
        uint64_t generation; /* 0: none */
        uint32_t begin, end; /* in the arena, with a line in between; equal: nothing there */
    } held[COHORT__BOARD_DEPTH];
    uint32_t next; /* where the latest one in the arena ends */
};

/* Where GENERATION can post BYTES (at most COHORT__BOARD_POST) once all have passed *RET_NEEDED, as
 * they have passed ALL_PASSED: at once, where that isn't less. */
uint32_t cohort__room_find(const struct cohort__room *room, uint64_t generation, size_t bytes,
                           uint64_t all_passed, uint64_t *ret_needed);

/* It posts there. */
void cohort__room_take(struct cohort__room *room, uint64_t generation, size_t bytes,
                       uint32_t offset);

#endif
