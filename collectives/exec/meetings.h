/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETINGS_H
#define COHORT_COLLECTIVES_EXEC_MEETINGS_H

#include <pthread.h>

#include "collectives/comm/arenas.h"
#include "collectives/comm/team.h"
#include "collectives/comm/group.h"
#include "collectives/comm/watch.h"
#include "collectives/exec/meeting.h"
#include "collectives/exec/participant.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/copier.h"

/* All meetings of a subgroup. Private to the meeting*.c and to participant.c. */
struct meetings {
    struct cohort__annex base;  /* first */
    struct cohort__watch watch; /* looks at the board, if there is a team */
    pthread_mutex_t lock;
    /* By generation and index: those that do not move, failed ones, too. */
    struct cohort__list current;
    struct cohort__list moving;
    struct cohort__list spare;
    struct cohort__members sites; /* the site of each rank */
    uint32_t *own_sites;          /* memory for these; NULL: they are the group's */
    uint32_t num_local;           /* sites of this locality */
    struct cohort__group *group;
    /* The localities of this host. NULL: all sites are in this one. With a team, each site's rank
     * is its number. */
    struct cohort__team *team;
    struct cohort__copier copier; /* copies to the board */
    struct cohort__arena arena;   /* this locality's on the board */
    uint64_t last_ended;          /* the highest number of one that has ended, see board.h */
    uint64_t last_gathered;       /* that of the latest to which all sites here have come */
};

static inline struct cohort__meeting *cohort__meeting_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__meeting, link);
}

/* meetings.c. The meetings of a subgroup of GROUP, made by the first call. NULL: they can't be
 * made; the error is set. */
struct meetings *cohort__meetings_get(struct cohort__group *group, enum cohort__subgroup subgroup);

/* participant.c. Functions of the annex and the watch. _on_look: by the thread that turns the event
 * loop; whether something has come on the board meanwhile. */
void cohort__meetings_left(struct cohort__annex *base, const struct cohort_comm *comm);
bool cohort__meetings_on_look(struct cohort__watch *watch);

/* meeting.c. The following with the lock held. A meeting for PARTICIPANT, which is to enter it.
 * NULL: there is no memory. */
struct cohort__meeting *cohort__meeting_open(struct meetings *meetings,
                                             const struct cohort__participant *participant);

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

/* Tells the other localities up to which post this one reads none any more: all of the last
 * generation that has ended, or all below one to which all sites here have come. But a meeting that
 * is still under way needs its posts. */
void cohort__meetings_pass(struct meetings *meetings);

/* The last participant has left. */
void cohort__meeting_end(struct meetings *meetings, struct cohort__meeting *meeting);

/* Fails MEETING, which is open, gathered or reduced, with ERROR. Adds the
 * participants that are inside, except EXCEPT, to *TOLD. */
void cohort__meeting_fail(struct meetings *meetings, struct cohort__meeting *meeting,
                          const struct cohort__error *error,
                          const struct cohort__participant *except,
                          struct cohort__participant **told);

/* meeting_tell.c. Prepares the bunches of a new meeting of NUM_LOCAL sites of this locality. False:
 * there is no memory. */
bool cohort__meeting_bunches_create(struct cohort__meeting *meeting, uint32_t num_local);

/* With the lock held: PARTICIPANT, which the calling worker has made, has entered. */
void cohort__meeting_bunch(struct cohort__meeting *meeting,
                           struct cohort__participant *participant);

/* Forgets who is in which bunch. */
void cohort__meeting_bunches_empty(struct cohort__meeting *meeting);

/* Without the lock: tells each of PARTICIPANTS, a list, that its meeting has failed. */
void cohort__participants_tell(struct cohort__participant *participants);

/* All are there, and the data has been moved, or the user's operation has failed: tells all
 * participants. */
void cohort__meeting_over(struct cohort__meeting *meeting);

/* meeting_move.c. All are there: moves the data, by works if it is much. This many bytes take 2 us,
 * and a work would first take a turn of the scheduler; twice as many made no difference
 * (docs/performance.md, "Beside MPI": "Two copies against one"). */
enum { COHORT__MEETING_ON_THE_SPOT = 64 * 1024 };
void cohort__meeting_move(struct cohort__meeting *meeting);

/* meeting_far.c. The following with the lock held. The first meeting that has to post before
 * MEETING may. MEETING itself if there is none. */
const struct cohort__meeting *cohort__meeting_first_to_post(const struct meetings *meetings,
                                                            const struct cohort__meeting *meeting);

/* All are there: from now on the meeting moves data, or reduces its share first. */
void cohort__meeting_begin_moving(struct meetings *meetings, struct cohort__meeting *meeting);

/* What a look at the board has found. */
struct cohort__looked {
    struct cohort__participant *told; /* participants whose meetings have failed */
    struct cohort__meeting *full;     /* meetings that begin to move, or to reduce */
    struct {                          /* to a site whose locality has posted for another call */
        struct cohort__message *message;
        struct cohort__group *group; /* a reference */
        uint32_t site;
    } question; /* at most one; the next look finds the next one */
};

/* For a gathered meeting: posts what this locality's sites bring, and looks which others have
 * posted. If the meeting fails by that, or another locality has called something else, what has to
 * follow is added to *LOOKED. */
enum cohort__round_state cohort__meeting_await_others(struct meetings *meetings,
                                                      struct cohort__meeting *meeting,
                                                      struct cohort__looked *looked);

/* Looks at the board for what all waiting meetings wait for, and adds what has to follow to
 * *LOOKED. */
void cohort__meetings_look(struct meetings *meetings, struct cohort__looked *looked);

/* Without the lock: does what has to follow a look. */
void cohort__looked_go_on(struct cohort__looked *looked);

/* meeting_shares.c. Whether the localities share the reduction. */
bool cohort__meeting_has_shares(const struct meetings *meetings,
                                const struct cohort__meeting *meeting);

/* If so: this locality's share, from *RET_BEGIN to *RET_END in bytes. Only this locality reads what
 * the others bring of it, and no other locality reads what this one brings of it. */
void cohort__meeting_own_share(const struct meetings *meetings,
                               const struct cohort__meeting *meeting, size_t *ret_begin,
                               size_t *ret_end);

/* Without the lock: makes this locality's share of the result. If it is much, works do it, and what
 * follows. Else what has to follow is added to *LOOKED. */
void cohort__meeting_reduce(struct cohort__meeting *meeting, struct cohort__looked *looked);

/* Without the lock, when all shares are made: copies them to the outputs. */
void cohort__meeting_collect(struct cohort__meeting *meeting);

/* meeting_bring.c. How many bytes each site brings. */
size_t cohort__meeting_in_bytes(const struct cohort__meeting *meeting);

/* Whether the site of RANK brings anything. If the call has one source, no other site does. */
bool cohort__meeting_brings(const struct cohort__meeting *meeting, uint32_t rank);

/* With the lock held, for a gathered meeting that is next: copies what its sites bring to the
 * board, and posts it. True: it is posted. False: there is no place yet, or works copy it and will
 * post it. */
bool cohort__meeting_bring(struct meetings *meetings, struct cohort__meeting *meeting);

#endif
