/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_TEAM_H
#define COHORT_COLLECTIVES_COMM_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/group.h"
#include "runtime/base/error.h"

/* The localities of one host in which a group has its sites, and their board: for each generation
 * each of them posts what its sites bring, and sees what the others have posted; or one of them
 * does, where all comes from there. Not locked: whoever uses it sees to that. */
struct cohort__team;

/* How far one generation has come. */
struct cohort__round {
    uint64_t generation;
    uint64_t fingerprint;
    size_t bytes;          /* that each site brings */
    bool has_source;       /* only the locality of one site posts, and waits for no other; the
                            * others wait for that alone */
    uint32_t source;       /* that site */
    size_t placed;         /* that this locality brings, in all */
    uint32_t offset;       /* of these, in its arena */
    uint64_t needed;       /* what all must have passed for that, when it was last asked for */
    bool is_to_wake;       /* the others, if the next look finds all */
    bool is_posted;        /* by this locality */
    bool is_overdue;       /* the next look goes on behind one who hasn't posted */
    bool has_asked;        /* somebody who has posted for another call, what it has called */
    uint32_t num_there;    /* others whose posts have been seen, in their order */
    uint64_t least_passed; /* by any of them, when they posted; UINT64_MAX at the beginning */
};

enum cohort__round_state {
    COHORT__ROUND_PARTIAL,
    COHORT__ROUND_FULL,
    COHORT__ROUND_DIFFERENT, /* somebody has posted for another call */
};

/* For GROUP, which has a board. */
cohort_status cohort__team_create(struct cohort__team **ret_team, struct cohort__group *group);
void cohort__team_destroy(struct cohort__team *team); /* NULL is fine */

/* Whether this locality posts something. */
bool cohort__team_posts(const struct cohort__team *team, const struct cohort__round *round);

/* Where the BYTES that this locality's sites bring together are to be written, site by site; NULL:
 * there is no place yet, try again when there is news. To be posted then, before anything else is
 * placed. */
unsigned char *cohort__team_place(struct cohort__team *team, struct cohort__round *round,
                                  size_t bytes);

/* Posts what was written there; to be followed by a look. */
void cohort__team_post(struct cohort__team *team, struct cohort__round *round);

/* Looks at the posts that this locality waits for. DIFFERENT, also where not all have posted:
 * *RET_SITE is of the locality that it is about. Failures are not told here, see failure.c. */
enum cohort__round_state cohort__team_look(struct cohort__team *team, struct cohort__round *round,
                                           uint32_t *ret_site);

/* Whether the locality of SITE, not this one, has done all that this one waits for: has posted for
 * this call; or where this one alone posts, has passed what it needs a place of. */
bool cohort__team_has_come(const struct cohort__team *team, const struct cohort__round *round,
                           uint32_t site);

/* Once full: what SITE, whose locality has posted, and whose locality brings something of all its
 * sites, has brought; until this locality has passed it. NULL: the post makes no sense, and
 * *RET_ERROR says so. */
const unsigned char *cohort__team_input(const struct cohort__team *team,
                                        const struct cohort__round *round, uint32_t site,
                                        struct cohort__error *ret_error);

/* For what this locality's sites bring, more than COHORT__BOARD_INLINE bytes, and have posted:
 * where it is on the board. */
unsigned char *cohort__team_own(const struct cohort__team *team, const struct cohort__round *round);

/* It has become this locality's share of the result; to be followed by a look. */
void cohort__team_post_share(struct cohort__team *team, struct cohort__round *round);

/* Looks at the others' shares. */
enum cohort__round_state cohort__team_look_shares(struct cohort__team *team,
                                                  struct cohort__round *round);

/* Whether the locality of SITE, not this one, has posted its share. */
bool cohort__team_has_share(const struct cohort__team *team, const struct cohort__round *round,
                            uint32_t site);

/* The localities in the order of their first sites, the same everywhere: this one's number, and the
 * first site of locality NUMBER. */
uint32_t cohort__team_own_number(const struct cohort__team *team);
uint32_t cohort__team_first_site(const struct cohort__team *team, uint32_t number);

/* This locality reads no post of GENERATION, or an earlier one, any more. */
void cohort__team_pass(struct cohort__team *team, uint64_t generation);

/* The bytes that each site of GROUP may bring; the same in all localities. */
size_t cohort__team_share(const struct cohort__group *group);

#endif
