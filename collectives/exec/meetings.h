/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETINGS_H
#define COHORT_COLLECTIVES_EXEC_MEETINGS_H

#include <pthread.h>
#include <stdatomic.h>

#include "collectives/comm/team.h"
#include "collectives/comm/group.h"
#include "collectives/exec/participant.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/copier.h"

/* Private to the meeting*.c: all meetings of a group. */
struct meetings {
    struct cohort__meetings base; /* first */
    pthread_mutex_t lock;
    struct cohort__list current; /* by generation: open, gathered and failed ones */
    struct cohort__list moving;
    struct cohort__list spare;
    uint32_t num_local; /* sites of this locality */
    struct cohort__group *group;
    struct cohort__team *team;    /* with other localities; NULL: there are none */
    struct cohort__copier copier; /* of what is written for them */
    _Atomic uint32_t num_gathered;
    uint64_t last_ended;    /* generation, the highest one */
    uint64_t last_gathered; /* likewise, to which all sites of this locality have come */
};

static inline struct cohort__meeting *cohort__meeting_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__meeting, link);
}

/* meeting.c. Those of GROUP; NULL, with the error set, where they can't be made. */
struct meetings *cohort__meetings_get(struct cohort__group *group);

/* With the lock held: an open or gathered meeting fails with ERROR. Those who are inside, but for
 * EXCEPT, are added to *TOLD. */
void cohort__meeting_fail(struct meetings *meetings, struct cohort__meeting *meeting,
                          const struct cohort__error *error,
                          const struct cohort__participant *except,
                          struct cohort__participant **told);

/* With the lock held: tells the other localities which posts nobody here reads any more. */
void cohort__meetings_pass(struct meetings *meetings);

/* Without it: the meeting of each of PARTICIPANTS, a list, has failed. */
void cohort__participants_tell(struct cohort__participant *participants);

/* Everybody is there, and the data is where it belongs, or the user's operation has failed: tells
 * all participants. */
void cohort__meeting_over(struct cohort__meeting *meeting);

/* meeting_move.c. Everybody is there: moves the data, by works where it is much. So many bytes take
 * 2 us, and a work would first take a turn of the scheduler; twice as many made no difference
 * (docs/performance.md, "Beside MPI": "Two copies against one"). */
enum { COHORT__MEETING_ON_THE_SPOT = 64 * 1024 };
void cohort__meeting_move(struct cohort__meeting *meeting);

/* meeting_far.c. One of this locality's endpoints, where at least one of its sites is inside. */
struct cohort_comm *cohort__meeting_local_comm(const struct cohort__meeting *meeting);

/* The following with the lock held. Whether MEETING may post: posts go up in the order of their
 * generations. */
bool cohort__meeting_is_next(const struct meetings *meetings,
                             const struct cohort__meeting *meeting);

/* The first meeting that is to post before MEETING may; or that one. */
const struct cohort__meeting *cohort__meeting_first_to_post(const struct meetings *meetings,
                                                            const struct cohort__meeting *meeting);

/* Everybody is there: from now on the meeting moves, or makes its share first. */
void cohort__meeting_begin_moving(struct meetings *meetings, struct cohort__meeting *meeting);

/* What a look at the board has found. */
struct cohort__looked {
    struct cohort__participant *told; /* their meetings have failed */
    struct cohort__meeting *full;     /* these begin to move */
    struct {                          /* for somebody who has posted for another call */
        struct cohort__message *message;
        struct cohort_comm *comm; /* that asks */
        uint32_t site;
    } question; /* at most one; the next look finds the next one */
};

/* A gathered meeting: brings what this locality's sites bring, and sees who else is there. What
 * follows where that fails it, or where somebody has called something else, is added to *LOOKED. */
enum cohort__round_state cohort__meeting_await_others(struct meetings *meetings,
                                                      struct cohort__meeting *meeting,
                                                      struct cohort__looked *looked);

/* Looks for those whom gathered meetings wait for, and adds to *LOOKED. */
void cohort__meetings_look(struct meetings *meetings, struct cohort__looked *looked);

/* Without the lock: what follows from it. */
void cohort__looked_go_on(struct cohort__looked *looked);

/* meeting_shares.c. Whether the localities share the reduction out among them. */
bool cohort__meeting_has_shares(const struct meetings *meetings,
                                const struct cohort__meeting *meeting);

/* Then: this locality's share, from *RET_BEGIN to *RET_END in bytes. What others bring of it is
 * read here alone, and nobody reads what this locality brings of it. */
void cohort__meeting_own_share(const struct meetings *meetings,
                               const struct cohort__meeting *meeting, size_t *ret_begin,
                               size_t *ret_end);

/* Without the lock: makes this locality's share of the result, by works where it is much; what
 * follows then is added to *LOOKED, or done by them. */
void cohort__meeting_reduce(struct cohort__meeting *meeting, struct cohort__looked *looked);

/* Without the lock, when all shares are there: copies them to where they belong. */
void cohort__meeting_collect(struct cohort__meeting *meeting);

/* meeting_bring.c. What each site brings. */
size_t cohort__meeting_in_bytes(const struct cohort__meeting *meeting);

/* Whether SITE brings anything: with one source, nobody else does. */
bool cohort__meeting_brings(const struct cohort__meeting *meeting, uint32_t site);

/* With the lock held, a gathered meeting that is next: brings what its sites bring to the board.
 * True: that is posted. Else there is no place yet, or works are at it, which post it. */
bool cohort__meeting_bring(struct meetings *meetings, struct cohort__meeting *meeting);

#endif
