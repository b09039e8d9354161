/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PARTICIPANT_H
#define COHORT_COLLECTIVES_EXEC_PARTICIPANT_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/group.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/movement.h"

/* One site in one meeting, for an operation of its endpoint. The operation may be that meeting
 * alone (meeting_call.c). All of this happens in the endpoint's turn. */

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
    const struct cohort__movement_kind *kind;
    unsigned char *in; /* the same as `out`: in place */
    unsigned char *out;
    size_t count;                   /* of a block, in elements; or of a segment of it */
    size_t stride;                  /* bytes from a block to the next one, if there are several */
    bool of_objects;                /* the bytes are slots, see object_steps.h */
    cohort_datatype datatype;       /* 0: no elements */
    const cohort_op *op;            /* or NULL; the owner has a reference */
    enum cohort__subgroup subgroup; /* whose sites meet */
    uint32_t rank;                  /* of this site in that subgroup */
    uint32_t root;                  /* a rank */
    uint32_t shift;
    uint32_t index; /* which one of the call's meetings */
    unsigned phase; /* of the call, see cohort__fingerprint_fits */
    /* Whether its buffers may be read and written as soon as it enters. If not, `in` and `out` are
     * set before it gets ready. With a board they may. */
    bool is_ready;

    /* The meeting's. */
    struct cohort__meeting *meeting;  /* NULL, as at the beginning: it is not inside */
    struct cohort__item over;         /* tells it that the meeting is over */
    struct cohort__participant *next; /* in a bunch, or in a list of those to be told */
};

enum { COHORT__INQUIRY_SITES = 4 }; /* how many missing sites are asked at a time */

/* What a meeting that has waited for long has asked. One participant asks for all of them: what it
 * learns fails the meeting, and there may be many participants. */
struct cohort__inquiry {
    const struct cohort__participant *asker; /* the first one that has stalled, or NULL */
    uint32_t first;                          /* the rank from which on it looks for sites to ask */
    uint32_t next;                           /* the rank after the last one that it has asked */
    uint32_t num_sites;
    uint32_t sites[COHORT__INQUIRY_SITES];
    uint8_t answers[COHORT__INQUIRY_SITES]; /* enum cohort__answer, the last one of each */
};

/* meetings.c. The rank of SITE, one of the subgroup. */
uint32_t cohort__subgroup_rank(const struct cohort__group *group, enum cohort__subgroup subgroup,
                               uint32_t site);

/* participant.c. Why a participant may not enter. */
struct cohort__refusal {
    struct cohort__error error; /* the caller frees its text */
    bool is_told;               /* the sites that depend on it know that error */
};

/* PARTICIPANT's site comes to the meeting. If it may not, sets *RET_REFUSAL, which is all zero.
 * Else it is told later. But it stays outside, and is not told, if its endpoint has been told
 * already that the call has failed, and is about to fail it.
 *
 * A call enters all its meetings when it starts, in the order of their indices. A site that has
 * come to a meeting of a later call has left out the earlier ones in which it is not. */
void cohort__participant_enter(struct cohort__participant *participant,
                               struct cohort__refusal *ret_refusal);

/* The buffers of PARTICIPANT, which has entered without being ready, may be read and written from
 * now on, until it is told. The data moves when all have entered and are ready. In any order. Does
 * nothing if the meeting has failed, or PARTICIPANT is not inside. */
void cohort__participant_ready(struct cohort__participant *participant);

/* The operation fails, with its `failure`: so does the meeting, now or later. True: now, or
 * PARTICIPANT is not inside; it is not told. False: it will be told. */
bool cohort__participant_fail(struct cohort__participant *participant);

/* It has been told, or the meeting has failed with it. Does nothing if it is not inside. */
void cohort__participant_leave(struct cohort__participant *participant);

/* meeting_tell.c. PARTICIPANT has been told, and its operation has failed: unless somebody has done
 * so, tells the sites that are not in its meeting. */
void cohort__participant_tell_outside(const struct cohort__participant *participant);

/* meeting_missing.c. Returns how many sites have not come yet, or are not ready. Sets *RET_INQUIRY
 * to some of them, with what they have answered so far: those that are asked now, if any are. */
uint32_t cohort__participant_missing(const struct cohort__participant *participant,
                                     struct cohort__inquiry *ret_inquiry);

/* Whether PARTICIPANT is to ask for its meeting. Only one that is ready waits for others. If so:
 * *RET_INQUIRY is whom, and what they have answered before; and the next look checks all posts that
 * are there, even behind one that is missing. */
bool cohort__participant_inquires(const struct cohort__participant *participant,
                                  struct cohort__inquiry *ret_inquiry);

/* SITE has answered. */
void cohort__participant_answered(const struct cohort__participant *participant, uint32_t site,
                                  enum cohort__answer answer);

#endif
