/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_H
#define COHORT_COLLECTIVES_EXEC_MEETING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/team.h"
#include "collectives/exec/inquiry.h"
#include "collectives/exec/movement.h"
#include "collectives/exec/participant.h"
#include "collectives/exec/pieces.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/list.h"

struct cohort__meetings;

/* A meeting of sites that share memory. Only meeting*.c and attendance.c know what is in it. Unless
 * said otherwise it changes with the lock of its subgroup's meetings held (meetings.h). */

/* So many bytes are moved on the spot, more by works. This many take 2 us, and a work would first
 * take a turn of the scheduler; twice as many made no difference (docs/measurements.md, "Two
 * copies against one"). */
enum { COHORT__MEETING_ON_THE_SPOT = 64 * 1024 };

enum cohort__meeting_state {
    COHORT__MEETING_OPEN,     /* not all sites of this locality are there and ready */
    COHORT__MEETING_GATHERED, /* they are, and wait for other localities */
    /* Like GATHERED, while the crew copies what they bring to the board. If the meeting has to fail
     * meanwhile, it fails after that, with `error`. */
    COHORT__MEETING_BRINGING,
    /* All have posted, and this locality's share of the result is made on the board. It fails like
     * BRINGING. */
    COHORT__MEETING_REDUCING,
    COHORT__MEETING_REDUCED, /* this share is made; waits for the others' */
    COHORT__MEETING_MOVING,  /* all are there, and data moves, or has moved; in the list `moving` */
    COHORT__MEETING_FAILED,  /* with `error`, before all were there */
};

/* Whether works access the buffers, so that the meeting can't fail yet. */
static inline bool cohort__meeting_is_busy(enum cohort__meeting_state state)
{
    return state == COHORT__MEETING_BRINGING || state == COHORT__MEETING_REDUCING;
}

struct cohort__meeting {
    struct cohort__list link; /* in one of the subgroup's lists */
    struct cohort__meetings *meetings;
    struct cohort__meeting *next_full;
    enum cohort__meeting_state state;
    uint64_t generation;
    uint32_t index;       /* among those of the generation */
    uint64_t fingerprint; /* of those inside */
    const struct cohort__movement_kind *kind;
    struct cohort__movement movement;
    struct cohort__round far; /* what the other localities have posted, if there are any */
    bool are_shares_made;     /* on the board, by all localities */
    struct cohort__inquiry inquiry;
    _Atomic uint32_t num_inside;
    uint32_t num_come;             /* participants that have ever entered */
    uint32_t num_ready;            /* of these: whose buffers may be accessed */
    struct cohort__bunch *bunches; /* the participants by worker, see meeting_tell.c */
    uint32_t num_bunches;          /* 0: there is one worker, or few sites */
    struct cohort__error error;
    atomic_bool has_error; /* `error` is set, or being set, while data moves */
    atomic_bool is_untold; /* it has failed, and sites outside have not been told */
    bool is_awaited;       /* these sites include other localities, which wait for this one */
    unsigned char *copies; /* of inputs in place; the memory is kept for the next meeting */
    size_t copies_bytes;
    unsigned char *place;                       /* on the board, where the crew copies to */
    struct cohort__crew crew;                   /* copies to the board, reduces, then moves */
    struct cohort__participant *participants[]; /* by rank */
};

/* Whether it is one of several, each for a part of all blocks. */
static inline bool cohort__meeting_is_segment(const struct cohort__meeting *meeting)
{
    const struct cohort__movement *movement = &meeting->movement;
    return movement->stride != movement->count * movement->element;
}

/* Whether MEETING comes before the one of GENERATION and INDEX in the lists. */
static inline bool cohort__meeting_precedes(const struct cohort__meeting *meeting,
                                            uint64_t generation, uint32_t index)
{
    return meeting->generation < generation ||
           (meeting->generation == generation && meeting->index < index);
}

static inline struct cohort__meeting *cohort__meeting_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__meeting, link);
}

/* The bytes of an element. */
static inline size_t cohort__meeting_element(cohort_datatype datatype)
{
    return datatype ? cohort_datatype_size(datatype) : 1;
}

/* The participant of the lowest rank. There must be one that has not left. */
static inline const struct cohort__participant *
cohort__meeting_first(const struct cohort__meeting *meeting)
{
    uint32_t rank = 0;
    while (!meeting->participants[rank])
        rank++;
    return meeting->participants[rank];
}

/* How many bytes each site brings. */
static inline size_t cohort__meeting_in_bytes(const struct cohort__meeting *meeting)
{
    const struct cohort__movement *movement = &meeting->movement;
    size_t num_blocks = meeting->kind->in_blocks ? meeting->kind->in_blocks : movement->num_sites;
    return num_blocks * movement->count * movement->element;
}

/* Whether the site of RANK brings anything. If the call has one source, no other site does. */
static inline bool cohort__meeting_brings(const struct cohort__meeting *meeting, uint32_t rank)
{
    return !meeting->kind->has_source || rank == meeting->movement.root;
}

#endif
