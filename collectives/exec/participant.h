/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PARTICIPANT_H
#define COHORT_COLLECTIVES_EXEC_PARTICIPANT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "collectives/comm/team.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/crew.h"
#include "collectives/exec/movement.h"

/* One site's operation in a meeting. */

struct cohort__meeting;

struct cohort__participant {
    struct cohort__operation operation; /* first */
    struct cohort__item over;           /* tells it that the meeting is over */
    struct cohort__participant *next;   /* in a bunch, or in a list of those to be told */
    struct cohort__meeting *meeting;    /* NULL: it has not entered */
    const struct cohort__movement_kind *kind;
    unsigned char *in;
    unsigned char *out;
    uint32_t root;
    uint32_t shift;
    const cohort_op *op;  /* a reference, or NULL */
    cohort_future **rows; /* the references that complete them, one for each site; or NULL */
};

enum cohort__meeting_state {
    COHORT__MEETING_OPEN,     /* not all sites of this locality are there */
    COHORT__MEETING_GATHERED, /* they are there, and wait for other localities */
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

enum { COHORT__INQUIRY_SITES = 4 }; /* how many missing sites are asked at a time */

/* What a meeting that has waited for long has asked. One participant asks for all of them: what it
 * learns fails the meeting, and there may be many participants. */
struct cohort__inquiry {
    const struct cohort__participant *asker; /* the first one that has stalled, or NULL */
    uint32_t num_sites;
    uint32_t sites[COHORT__INQUIRY_SITES];
    uint8_t answers[COHORT__INQUIRY_SITES]; /* enum cohort__answer, the last one of each */
};

struct cohort__meeting {
    struct cohort__list link; /* in one of the group's lists */
    struct cohort__meeting *next_full;
    enum cohort__meeting_state state;
    uint64_t generation;
    uint64_t fingerprint; /* of those inside */
    const struct cohort__movement_kind *kind;
    struct cohort__movement movement;
    struct cohort__round far; /* what the other localities have posted, if there are any */
    bool are_shares_made;     /* on the board, by all localities */
    struct cohort__inquiry inquiry;
    _Atomic uint32_t num_inside;
    uint32_t num_come;             /* participants that have ever entered */
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
    struct cohort__participant *participants[]; /* by site */
};

/* meeting.c. Handlers of struct cohort__operation_handlers, in the endpoint's turn. */
void cohort__participant_start(struct cohort__operation *operation);
void cohort__participant_failing(struct cohort__operation *operation);
void cohort__participant_release(struct cohort__operation *operation);

/* meeting_missing.c. Returns how many sites have not come yet. Sets *RET_INQUIRY to the first of
 * them, with what they have answered so far. */
uint32_t cohort__participant_missing(const struct cohort__participant *participant,
                                     struct cohort__inquiry *ret_inquiry);

/* Whether PARTICIPANT is to ask for its meeting. If so: *RET_INQUIRY is whom, and what they have
 * answered before; and the next look checks all posts that are there, even behind one that is
 * missing. */
bool cohort__participant_inquires(const struct cohort__participant *participant,
                                  struct cohort__inquiry *ret_inquiry);

/* SITE has answered. */
void cohort__participant_answered(const struct cohort__participant *participant, uint32_t site,
                                  enum cohort__answer answer);

/* participant.c. Completes the futures of the rows with the outcome of the operation. `rows` must
 * not be NULL. */
void cohort__participant_rows_complete(struct cohort__participant *participant);

#endif
