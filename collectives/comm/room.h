/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ROOM_H
#define COHORT_COLLECTIVES_COMM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/proc/boards.h"

/* Posts of one length take turns in the first part of the arena. Two places are enough if each call
 * waits for all localities. A locality that posts has seen all posts of the call before, so all
 * have read what was posted before that call. With more places, up to COHORT__ROOM_TURNS, a new
 * post is not written to memory that is still in the caches of its readers: it would have to be
 * fetched from there. But if that takes more than two places, all localities together use at most
 * COHORT__ROOM_SPREAD bytes, to stay in the caches. Measured: docs/performance.md, "Beside MPI":
 * "Two copies against one". */
enum { COHORT__ROOM_LEAST = 2, COHORT__ROOM_TURNS = 32, COHORT__ROOM_SPREAD = 4 << 20 };

/* What a locality's latest posts hold of its slot: places for their heads, and parts of the arena.
 * The parts follow one another, then begin again at the start. Only this locality knows of it. All
 * zero: nothing is held. Posts are taken in rising order. Not locked: the caller has to lock. */
struct cohort__room {
    struct cohort__held {
        uint64_t number;     /* 0: none */
        uint32_t begin, end; /* in the arena, with a line behind; equal: nothing */
    } held[COHORT__BOARD_DEPTH];
    uint32_t next;   /* where the latest post in the arena ends */
    uint32_t spread; /* this locality's part of COHORT__ROOM_SPREAD */
};

/* Where NUMBER can post BYTES (at most COHORT__BOARD_POST) once all have passed *RET_NEEDED.
 * All have passed ALL_PASSED. If that is not less than *RET_NEEDED, it can post at once. */
uint32_t cohort__room_find(const struct cohort__room *room, uint64_t number, size_t bytes,
                           uint64_t all_passed, uint64_t *ret_needed);

/* The latest post that holds a part of the arena. 0: there is none. */
uint64_t cohort__room_latest(const struct cohort__room *room);

/* All have passed that post, and the arena is empty again. */
void cohort__room_forget(struct cohort__room *room);

/* NUMBER posts BYTES at OFFSET. */
void cohort__room_take(struct cohort__room *room, uint64_t number, size_t bytes, uint32_t offset);

#endif
