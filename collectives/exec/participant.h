/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PARTICIPANT_H
#define COHORT_COLLECTIVES_EXEC_PARTICIPANT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "collectives/comm/team.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/crew.h"
#include "collectives/exec/movement.h"

/* One site's part in a meeting: the operation at its endpoint. */

enum { COHORT__PARTICIPANT_ASKED = 4 }; /* missing sites that a stalled participant asks */

struct cohort__meeting;

struct cohort__participant {
    struct cohort__operation operation; /* first */
    struct cohort__item over;           /* brings the news that the meeting is over */
    struct cohort__participant *next;   /* in a list of those to be told */
    struct cohort__meeting *meeting;    /* NULL: it has not entered */
    const struct cohort__movement_kind *kind;
    unsigned char *in;
    unsigned char *out;
    uint32_t root;
    uint32_t shift;
    const cohort_op *op;  /* a reference, or NULL */
    cohort_future **rows; /* the completer's references, one for each site; or NULL */
    uint32_t asked[COHORT__PARTICIPANT_ASKED];
    uint8_t answers[COHORT__PARTICIPANT_ASKED]; /* enum cohort__answer */
    uint8_t num_asked;
};

enum cohort__meeting_state {
    COHORT__MEETING_OPEN,     /* not everybody of this locality is there */
    COHORT__MEETING_GATHERED, /* they are, and wait for other localities */
    COHORT__MEETING_BRINGING, /* likewise, while the crew copies what they bring to the board; if it
                               * has to fail meanwhile, it does so, with `error`, after that */
    COHORT__MEETING_REDUCING, /* all have posted, and this locality's share of the result is made on
                               * the board; as for failing, like BRINGING */
    COHORT__MEETING_REDUCED,  /* it is made, and the others' are waited for */
    COHORT__MEETING_MOVING, /* all are, and data moves, or has been moved; not in the list any more
                             */
    COHORT__MEETING_FAILED, /* with `error`, before all were there */
};

/* Whether works are at the buffers, so that the meeting can't fail yet. */
static inline bool cohort__meeting_is_busy(enum cohort__meeting_state state)
{
    return state == COHORT__MEETING_BRINGING || state == COHORT__MEETING_REDUCING;
}

struct cohort__meeting {
    struct cohort__list link; /* in one of the group's lists */
    struct cohort__meeting *next_full;
    enum cohort__meeting_state state;
    uint64_t generation;
    uint64_t fingerprint; /* of those inside */
    const struct cohort__movement_kind *kind;
    struct cohort__movement movement;
    struct cohort__round far; /* of the other localities, if there are */
    bool are_shares_made;     /* on the board, by all localities */
    _Atomic uint32_t num_inside;
    uint32_t num_come; /* in all */
    struct cohort__error error;
    atomic_bool has_error; /* somebody sets `error` while data moves */
    atomic_bool is_untold; /* it has failed, and those outside are still to be told; */
    bool is_awaited;       /* so are other localities, which wait for this one */
    unsigned char *copies; /* of inputs in place; kept for the next meeting */
    size_t copies_bytes;
    unsigned char *place;     /* on the board, where the crew brings what it copies */
    struct cohort__crew crew; /* brings, reduces, then moves */
    struct cohort__participant *participants[]; /* by site */
};

/* meeting.c, in the endpoint's turn, as struct cohort__operation_handlers has it. */
void cohort__participant_start(struct cohort__operation *operation);
void cohort__participant_failing(struct cohort__operation *operation);
void cohort__participant_release(struct cohort__operation *operation);

/* meeting_missing.c. How many sites have not come yet; the first MAX_SITES of them. */
uint32_t cohort__participant_missing(const struct cohort__participant *participant,
                                     uint32_t *ret_sites, uint32_t max_sites);

/* Has the posts of the others looked at which are there although somebody's is missing. */
void cohort__participant_overdue(const struct cohort__participant *participant);

/* participant.c: asks those that are missing. */
void cohort__participant_stalled(struct cohort__operation *operation);

/* Completes the futures of the rows, which there are, as the operation is about to be. */
void cohort__participant_rows_complete(struct cohort__participant *participant);

#endif
