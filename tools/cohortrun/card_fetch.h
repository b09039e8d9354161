/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: fetches the card of a running job from its cohortrun. */
#ifndef COHORT_TOOLS_COHORTRUN_CARD_FETCH_H
#define COHORT_TOOLS_COHORTRUN_CARD_FETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/cohortrun/card.h"

/* What the daemon of another host has said of one of its localities. */
struct card_far {
    unsigned char *look; /* packed, see look_pack.h; NULL: there is none */
    size_t bytes;
    bool is_whole;
    char why[160];    /* there is none; "": nothing was said */
    uint32_t silence; /* of its daemon, in milliseconds, if that has not answered */
    bool is_silent;
};

/* NULL is fine. */
void card_far_destroy(struct card_far *fars, uint32_t num);

/* Fetches the card from the cohortrun PID of this user, and the descriptor of its ledger; -1: it
 * has none; and what there is of localities of other hosts, of as many as the card has. The card is
 * freed by the caller. COHORT_ERR_STATE: PID is no cohortrun with a job;
 * COHORT_ERR_TIMEOUT: it does not answer; COHORT_ERR_PEER_DIED: it has ended meanwhile;
 * COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY, COHORT_ERR_SYSTEM. */
cohort_status card_fetch(int pid, struct card **ret_card, int *ret_ledger,
                         struct card_far **ret_fars);

/* Finds the jobs of this user in this network namespace. Returns how many there are, of which at
 * most MAX are put into RET_PIDS. */
size_t card_find(int *ret_pids, size_t max);

#endif
