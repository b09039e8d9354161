/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_TEAM_H
#define COHORT_COLLECTIVES_COMM_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/group.h"
#include "runtime/base/error.h"
#include "runtime/proc/boards.h"

/* Posts of one length take turns in the first part of the arena. Two places are enough if each call
 * waits for all localities. A locality that posts has seen all posts of the call before, so all
 * have read what was posted before that call. With more places, up to COHORT__ROOM_TURNS, a new
 * post is not written to memory that is still in the caches of its readers: it would have to be
 * fetched from there. But if that takes more than two places, all localities together use at most
 * COHORT__ROOM_SPREAD bytes, to stay in the caches. Measured: docs/measurements.md,
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

/* The localities of one host in which a group has its sites, and their board. For each segment of
 * each generation, each locality posts what its sites bring, and sees what the others have posted.
 * If all data comes from one site, only its locality posts. Not locked: the caller has to lock. */
struct cohort__team;

/* The state of one post of each locality. */
struct cohort__round {
    uint64_t number; /* of the post */
    uint64_t fingerprint;
    size_t bytes;    /* that each site brings */
    bool has_source; /* one locality posts and waits for no other; the others wait only for it */
    uint32_t source; /* the site whose locality that is */
    bool has_shares; /* each locality also posts its share of the result, see below */
    size_t placed;   /* bytes that this locality brings in all */
    uint32_t offset; /* where they are in its arena */
    uint32_t lent;   /* as in the post of this locality */
    bool reads_lent; /* some other locality lends what it brings */
    bool is_read;    /* all of that was read, and was not withdrawn meanwhile */
    /* Pieces of the source's post: those that this locality has read, and those that are there;
     * whether more are to come. As last looked up. */
    uint8_t num_read, num_readable;
    bool is_partial;
    uint64_t needed;       /* what all must have passed for this place, as last looked up */
    bool is_to_wake;       /* the next look wakes the others if it finds all posts */
    bool is_posted;        /* by this locality */
    bool is_overdue;       /* the next look also checks posts behind a missing one */
    bool has_asked;        /* has asked a locality that posted for another call what that is */
    uint32_t num_there;    /* others whose posts have been seen, in their order */
    uint64_t least_passed; /* by any of these, when they posted; UINT64_MAX at the beginning */
};

/* The bytes of a piece of the source's post. 0: it has none. */
static inline size_t cohort__round_piece(const struct cohort__round *round)
{
    return round->has_source ? cohort__board_piece(round->bytes) : 0;
}

/* Where, in a post that has pieces, the first NUM of them end. */
static inline size_t cohort__round_end(const struct cohort__round *round, uint8_t num)
{
    size_t end = num * cohort__board_piece(round->bytes);
    return end < round->bytes ? end : round->bytes;
}

enum cohort__round_state {
    COHORT__ROUND_PARTIAL,
    COHORT__ROUND_READABLE, /* more of the source's post is there, but not all */
    COHORT__ROUND_FULL,
    COHORT__ROUND_DIFFERENT, /* some locality has posted for another call */
};

/* For GROUP, which must have a board. */
cohort_status cohort__team_create(struct cohort__team **ret_team, struct cohort__group *group);
void cohort__team_destroy(struct cohort__team *team); /* NULL is fine */

/* Whether this locality posts something. */
bool cohort__team_posts(const struct cohort__team *team, const struct cohort__round *round);

/* Whether this locality may lend MEMORY. *RET_OFFSET is where the others find it. */
bool cohort__team_can_lend(const struct cohort__team *team, const void *memory,
                           uint64_t *ret_offset);

/* Whether all others have read what this locality lends. If not, it is woken when they have. They
 * have if they have passed the post; or, as their sites have said, are THROUGH with the call, which
 * says so for each locality: a call before it may keep one from passing it, or it may have failed
 * there, and been forgotten. */
bool cohort__team_is_returned(struct cohort__team *team, const struct cohort__round *round,
                              const bool *through);
bool cohort__team_is_returned_by(const struct cohort__team *team, const struct cohort__round *round,
                                 const bool *through, uint32_t site);
void cohort__team_set_through(const struct cohort__team *team, bool *through, uint32_t site);

/* From now on what this locality lends may change, unless all have passed it. */
void cohort__team_withdraw(const struct cohort__team *team, const struct cohort__round *round);

/* After all others' posts were there, and what they lend was read: whether it was theirs all the
 * time. If not, what was read is worth nothing, and a look misses the posts that were withdrawn. */
bool cohort__team_look_again(const struct cohort__team *team, struct cohort__round *round);

/* Where to write the BYTES that this locality's sites bring together, site by site. They must be
 * posted before anything else is placed. NULL: there is no place yet. Try again when there is
 * news. */
unsigned char *cohort__team_place(struct cohort__team *team, struct cohort__round *round,
                                  size_t bytes);

/* If the post is to be read in pieces: posts it now, before anything is written there. */
void cohort__team_begin_post(struct cohort__team *team, struct cohort__round *round);

/* Then: what the source brings is written there from BEGIN to END, where pieces end. Needs no
 * lock. */
void cohort__team_mark(const struct cohort__team *team, const struct cohort__round *round,
                       size_t begin, size_t end);

/* Posts what was written there. A look must follow. */
void cohort__team_post(struct cohort__team *team, struct cohort__round *round);

/* Looks at the posts that this locality waits for. DIFFERENT may be found before all have posted:
 * then *RET_SITE is a site of that locality. Failures are not reported here, see operation.c. */
enum cohort__round_state cohort__team_look(struct cohort__team *team, struct cohort__round *round,
                                           uint32_t *ret_site);

/* Whether the locality of SITE, another one, has done all that this one waits for. It has posted
 * for this call. Or, if only this locality posts, it has passed what this one needs for a place. */
bool cohort__team_has_come(const struct cohort__team *team, const struct cohort__round *round,
                           uint32_t site);

/* Once a look was full: what SITE has brought, which lies in EXTENT bytes of it if it is lent, as
 * *RET_IS_LENT says. Its locality must have posted, and it must be a call for which all sites of
 * that locality bring something. Valid until this locality has passed the post. NULL: the post
 * makes no sense, or what is lent can't be mapped; *RET_ERROR says so. */
const unsigned char *cohort__team_input(const struct cohort__team *team,
                                        struct cohort__round *round, uint32_t site, size_t extent,
                                        bool *ret_is_lent, struct cohort__error *ret_error);

/* Where on the board is what this locality's sites have brought and posted, or would be. It must be
 * more than COHORT__BOARD_INLINE bytes. And the same of locality NUMBER, see below; NULL: the post
 * makes no sense. */
unsigned char *cohort__team_own(const struct cohort__team *team, const struct cohort__round *round);
const unsigned char *cohort__team_at(const struct cohort__team *team,
                                     const struct cohort__round *round, uint32_t number);

/* That memory has become this locality's share of the result: posts it. A look must follow. */
void cohort__team_post_share(struct cohort__team *team, struct cohort__round *round);

/* Looks at the others' shares. */
enum cohort__round_state cohort__team_look_shares(struct cohort__team *team,
                                                  struct cohort__round *round);

/* Whether the locality of SITE, another one, has posted its share. */
bool cohort__team_has_share(const struct cohort__team *team, const struct cohort__round *round,
                            uint32_t site);

/* The localities have the numbers of the group's machine, which are the same everywhere. This one's
 * number. */
uint32_t cohort__team_own_number(const struct cohort__team *team);

/* This locality does not read posts of NUMBER, or earlier ones, any more. */
void cohort__team_pass(struct cohort__team *team, uint64_t number);

/* Gives the first BYTES of this locality's arena back to the system. False: what is there may still
 * be read by some locality, or the system does not take it. Nothing may be placed and not posted.
 */
bool cohort__team_free_arena(struct cohort__team *team, size_t bytes);

/* How many bytes each site of GROUP may bring. The same in all localities. */
size_t cohort__team_share(const struct cohort__group *group);

#endif
