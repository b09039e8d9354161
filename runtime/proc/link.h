/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_LINK_H
#define COHORT_RUNTIME_PROC_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* Which messages from one peer have come, by their numbers, which count from 0 and wrap around.
 * Messages may overtake each other. Each one comes once. Only the router uses this. */
enum { COHORT__LINK_AHEAD = 1024 }; /* how far one may overtake: more than a window */

struct cohort__link {
    uint32_t next;      /* the first one that has not come */
    uint32_t num_ahead; /* how many of the later ones have come */
    uint64_t looked_at; /* when it was last missed, as cohort__clock_now, if num_ahead > 0 */
    uint64_t missed;    /* for how many nanoseconds, by then */
    uint64_t ahead[COHORT__LINK_AHEAD / 64]; /* a bit for each of those, by its number */
};

/* Records that message NUMBER has come. False: it has come before, or can't have been sent yet. */
bool cohort__link_take(struct cohort__link *link, uint32_t number);

/* To be called several times a second while messages are missing, after those that were there were
 * taken. Whether one counts as lost: later ones have come, and it has been missing for too long. */
bool cohort__link_look(struct cohort__link *link, uint64_t now);

#endif
