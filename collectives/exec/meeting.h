/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_MEETING_H
#define COHORT_COLLECTIVES_EXEC_MEETING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/arenas.h"
#include "collectives/comm/commons.h"
#include "collectives/comm/group.h"
#include "collectives/comm/team.h"
#include "collectives/exec/movement.h"
#include "collectives/exec/participant.h"
#include "collectives/exec/pieces.h"
#include "runtime/base/container.h"
#include "runtime/base/copier.h"
#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/lock.h"

/* All meetings of a subgroup of a group, as its annex. Any thread; what is in it is private to
 * meeting.c and attendance.c, and changes with the lock held. */
struct cohort__meetings {
    struct cohort__annex base;  /* first */
    struct cohort__watch watch; /* looks at the board, if there is a team */
    struct cohort__lock lock;
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
    uint64_t last_read;           /* the highest number of one that was READ */
};

/* What those above do with them. */
struct cohort__meetings_hooks {
    void (*left)(struct cohort__annex *annex, const struct cohort_comm *comm);
    bool (*look)(struct cohort__watch *watch);
};

/* Those of a subgroup of GROUP. NULL: there are none yet. */
static inline struct cohort__meetings *cohort__meetings_find(struct cohort__group *group,
                                                             enum cohort__subgroup subgroup)
{
    return (struct cohort__meetings *)atomic_load_explicit(&group->meetings[subgroup],
                                                           memory_order_acquire);
}

/* The same, made by the first call. NULL: they can't be made; the error is set. */
struct cohort__meetings *cohort__meetings_make(struct cohort__group *group,
                                               enum cohort__subgroup subgroup,
                                               const struct cohort__meetings_hooks *hooks);

/* How many bytes this locality has in memory of its arena on GROUP's board, which it must have, and
 * on all boards. Any thread. */
void cohort__meetings_arena(struct cohort__group *group, size_t *ret_bytes, size_t *ret_all_bytes);

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

/* A meeting of sites that share memory. Only meeting.c and attendance.c, and meeting_call.c, know
 * what is in it. Unless said otherwise it changes with the lock of its subgroup's meetings held. */

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
    /* A part of what the source has posted is there, and is copied from the board. It fails like
     * BRINGING; else it is GATHERED again, and waits for more. Or all have posted, some of them
     * lend, and the data moves: then it is READ, or GATHERED again if what was lent was withdrawn
     * meanwhile. */
    COHORT__MEETING_READING,
    COHORT__MEETING_REDUCED, /* this share is made; waits for the others' */
    COHORT__MEETING_READ, /* the data has moved; waits until others have read what this one lends */
    COHORT__MEETING_MOVING, /* all are there, and data moves, or has moved; in the list `moving` */
    COHORT__MEETING_FAILED, /* with `error`, before all were there */
};

/* Whether works access the buffers, so that the meeting can't fail yet. */
static inline bool cohort__meeting_is_busy(enum cohort__meeting_state state)
{
    return state == COHORT__MEETING_BRINGING || state == COHORT__MEETING_REDUCING ||
           state == COHORT__MEETING_READING;
}

/* Whether it waits for other localities. It can fail at once. */
static inline bool cohort__meeting_waits(enum cohort__meeting_state state)
{
    return state == COHORT__MEETING_GATHERED || state == COHORT__MEETING_REDUCED ||
           state == COHORT__MEETING_READ;
}

struct cohort__meeting {
    struct cohort__list link; /* in one of the subgroup's lists */
    struct cohort__meetings *meetings;
    struct cohort__meeting *next_full;
    enum cohort__meeting_state state;
    uint64_t generation;
    uint32_t index;       /* among those of the generation */
    uint64_t fingerprint; /* of those inside */
    struct cohort__movement movement;
    struct cohort__round far; /* what the other localities have posted, if there are any */
    bool are_shares_made;     /* on the board, by all localities */
    struct cohort__inquiry inquiry;
    _Atomic uint32_t num_inside;
    uint32_t num_come;             /* participants that have ever entered */
    uint32_t num_ready;            /* of these: whose buffers may be accessed */
    struct cohort__bunch *bunches; /* the participants by worker, see meeting.c */
    uint32_t num_bunches;          /* 0: there is one worker, or few sites */
    struct cohort__error error;
    atomic_bool has_error; /* `error` is set, or being set, while data moves */
    atomic_bool is_untold; /* it has failed, and sites outside have not been told */
    bool is_awaited;       /* these sites include other localities, which wait for this one */
    bool *through;         /* of the team: whose sites have said that their calls are over */
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
    return movement->terms.stride != movement->terms.count * movement->terms.element;
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
    size_t num_blocks = cohort__movement_in_blocks(movement->terms.kind, movement->num_sites);
    return num_blocks * movement->terms.count * movement->terms.element;
}

/* Whether the site of RANK brings anything. If the call has one source, no other site does. */
static inline bool cohort__meeting_brings(const struct cohort__meeting *meeting, uint32_t rank)
{
    return !meeting->movement.terms.kind->has_source || rank == meeting->movement.terms.root;
}

/* How the participants of a meeting learn that it is over, each in its own endpoint's turn. */

/* With the lock held: PARTICIPANT, which the calling worker has made, has entered. */
void cohort__meeting_bunch(struct cohort__meeting *meeting,
                           struct cohort__participant *participant);

/* Without the lock: tells each of PARTICIPANTS, a list, that its meeting has failed. */
void cohort__participants_tell(struct cohort__participant *participants);

/* In the turn of its endpoint: PARTICIPANT has been told, and its operation has failed: unless
 * somebody has done so, tells the sites that are not in its meeting. */
void cohort__participant_tell_outside(const struct cohort__participant *participant);

/* How a meeting begins and ends. All of this with the lock held. */

/* A meeting for PARTICIPANT, which is to enter it. NULL: there is no memory. */
struct cohort__meeting *cohort__meeting_open(struct cohort__meetings *meetings,
                                             const struct cohort__participant *participant);

/* Tells the other localities up to which post this one reads none any more: all of the last
 * generation that has ended, or all below one to which all sites here have come. But a meeting that
 * is still under way needs its posts. */
void cohort__meetings_pass(struct cohort__meetings *meetings);

/* The last participant has left. */
void cohort__meeting_end(struct cohort__meetings *meetings, struct cohort__meeting *meeting);

/* Fails MEETING, which is open, gathered or reduced, with ERROR. Adds the participants that are
 * inside, except EXCEPT, to *TOLD. */
void cohort__meeting_fail(struct cohort__meetings *meetings, struct cohort__meeting *meeting,
                          const struct cohort__error *error,
                          const struct cohort__participant *except,
                          struct cohort__participant **told);

/* What a meeting has to do with the other localities of the host. */

/* With the lock held. The first meeting that has to post before MEETING may. MEETING itself if
 * there is none. */
const struct cohort__meeting *cohort__meeting_first_to_post(const struct cohort__meetings *meetings,
                                                            const struct cohort__meeting *meeting);

/* With the lock held. All are there: from now on the meeting moves data, or reduces its share
 * first. Or it reads a part of what its source has posted. */
void cohort__meeting_begin_moving(struct cohort__meetings *meetings,
                                  struct cohort__meeting *meeting);

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

/* With the lock held, for a gathered meeting: posts what this locality's sites bring, and looks
 * which others have posted. Returns whether the meeting can go on. If the meeting fails by that, or
 * another locality has called something else, what has to follow is added to *LOOKED. */
bool cohort__meeting_await_others(struct cohort__meetings *meetings,
                                  struct cohort__meeting *meeting, struct cohort__looked *looked);

/* With the lock held: looks at the board for what all waiting meetings wait for, and adds what has
 * to follow to *LOOKED. */
void cohort__meetings_look(struct cohort__meetings *meetings, struct cohort__looked *looked);

/* Without the lock: does what has to follow a look. */
void cohort__looked_go_on(struct cohort__looked *looked);

#endif
