/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_VISIT_H
#define COHORT_COLLECTIVES_EXEC_VISIT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "collectives/comm/team.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/crew.h"
#include "collectives/exec/movement.h"

/* One site's part in a meeting: the operation at its endpoint. */

enum { COHORT__VISIT_ASKED = 4 }; /* missing sites that a stalled visit asks */

struct cohort__meeting;

struct cohort__visit {
    struct cohort__operation operation; /* first */
    struct cohort__item over;           /* brings the news that the meeting is over */
    struct cohort__visit *next;         /* in a list of those to be told */
    struct cohort__meeting *meeting;    /* NULL: it has not entered */
    const struct cohort__movement_kind *kind;
    unsigned char *in;
    unsigned char *out;
    uint32_t root;
    uint32_t shift;
    const cohort_op *op;  /* a reference, or NULL */
    cohort_future **rows; /* the completer's references, one for each site; or NULL */
    uint32_t asked[COHORT__VISIT_ASKED];
    uint8_t answers[COHORT__VISIT_ASKED]; /* enum cohort__answer */
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
    struct cohort__attendance far; /* of the other localities, if there are */
    bool are_shares_made;          /* on the board, by all localities */
    _Atomic uint32_t num_inside;
    uint32_t num_come; /* in all */
    struct cohort__error error;
    atomic_bool has_error; /* somebody sets `error` while data moves */
    atomic_bool is_untold; /* it has failed, and those outside are still to be told; */
    bool is_awaited;       /* so are other localities, which wait for this one */
    unsigned char *copies; /* of inputs in place; kept for the next meeting */
    size_t copies_bytes;
    unsigned char *place;           /* on the board, where the crew brings what it copies */
    struct cohort__crew crew;       /* brings, reduces, then moves */
    struct cohort__visit *visits[]; /* by site */
};

/* meeting.c, in the endpoint's turn, as struct cohort__operation_handlers has it. */
void cohort__visit_start(struct cohort__operation *operation);
void cohort__visit_failing(struct cohort__operation *operation);
void cohort__visit_release(struct cohort__operation *operation);

/* meeting_missing.c. How many sites have not come yet; the first MAX_SITES of them. */
uint32_t cohort__visit_missing(const struct cohort__visit *visit, uint32_t *ret_sites,
                               uint32_t max_sites);

/* Has the posts of the others looked at which are there although somebody's is missing. */
void cohort__visit_overdue(const struct cohort__visit *visit);

/* visit.c: asks those that are missing. */
void cohort__visit_stalled(struct cohort__operation *operation);

/* Completes the futures of the rows, which there are, as the operation is about to be. */
void cohort__visit_rows_complete(struct cohort__visit *visit);

#endif
