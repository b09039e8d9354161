/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_LINK_H
#define COHORT_RUNTIME_PROC_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* What has come of the messages from one peer, by their numbers, which count from 0 and wrap
 * around. They may overtake each other; each comes once. The router's alone. */
enum { COHORT__LINK_AHEAD = 1024 }; /* by so much at most: more than may be under way */

struct cohort__link {
    uint32_t next;      /* the first that has not come */
    uint32_t num_ahead; /* that have, of those behind it */
    uint64_t since;     /* when it was seen missing, as cohort__clock_now; if there are any ahead */
    uint64_t ahead[COHORT__LINK_AHEAD / 64]; /* a bit for each, by its number */
};

/* Takes in message NUMBER; false: it has come before, or can't have been sent yet. */
bool cohort__link_take(struct cohort__link *link, uint32_t number);

/* Whether a message is lost: later ones have come, and for so long it has not. */
bool cohort__link_is_broken(const struct cohort__link *link, uint64_t now);

#endif
