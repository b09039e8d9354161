/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PARTICIPANT_H
#define COHORT_COLLECTIVES_EXEC_PARTICIPANT_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/group.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/movement.h"

/* One site in one meeting, for an operation of its endpoint. The operation may be that meeting
 * alone (meeting_call.c), or a plan with a MEET step (meet.c). The owner has the memory. What it
 * may do with it is in attendance.h. */

struct cohort__meeting;

/* How many meetings of one subgroup a plan may have. On a board a call has one, or one for each
 * segment of its blocks. */
enum { COHORT__MEETINGS_OF_PLAN = 11 };

struct cohort__participant {
    /* The owner sets these before the participant enters. */
    struct cohort__operation *operation; /* which it is a part of */
    /* The meeting is over for it, with ERROR, or NULL if all went well. ERROR is valid until it
     * leaves, which it has to do now or later. */
    void (*told)(struct cohort__participant *participant, const struct cohort__error *error);
    struct cohort__terms terms; /* the owner has a reference to `op` */
    unsigned char *in;          /* the same as `out`: in place */
    unsigned char *out;
    enum cohort__subgroup subgroup; /* whose sites meet */
    uint32_t rank;                  /* of this site in that subgroup */
    uint32_t index;                 /* which one of the call's meetings */
    unsigned phase;                 /* of the call, see cohort__fingerprint_fits */
    /* Whether its buffers may be read and written as soon as it enters. If not, `in` and `out` are
     * set before it gets ready. With a board they may. */
    bool is_ready;

    /* The meeting's. */
    struct cohort__meeting *meeting;  /* NULL, as at the beginning: it is not inside */
    struct cohort__item over;         /* tells it that the meeting is over */
    struct cohort__participant *next; /* in a bunch, or in a list of those to be told */
};

#endif
