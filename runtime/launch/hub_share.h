/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_HUB_SHARE_H
#define COHORT_RUNTIME_PROC_HUB_SHARE_H

#include <stdint.h>

#include "cohort/status.h"

struct cohort__hub;

/* How the localities of one host come to one hub (runtime/net/hub.h) where nobody who starts them
 * could hand it on: one of them, the host of the share, makes it and gives its descriptors to the
 * others, its guests, through a socket. The socket has an abstract name, so nothing of it is in the
 * file system, and nothing is left whoever is killed when.
 *
 * Each locality opens a listener before any knows its place. When all know each other's listeners,
 * the guests call the one of slot 0, which is open by then, so nobody has to try twice:
 *
 *     guest                               host
 *     HELLO slot          ->              serves one guest at a time, since the kernel limits how
 *                         <-  PIECE       many descriptors may be under way; at most 250 a message
 *     TAKEN               ->              and so on, until the guest has all
 *
 * Either says FAILED, and why, instead of ending without a word: so each locality has the reason,
 * whichever of them its launcher lets speak.
 *
 * Names of sockets can be seen by everybody on the machine, so the listener's is random and tells
 * nothing; each message carries the job's key, which only its localities know. Who is of another
 * user, or hasn't the key, is dropped, and disturbs nobody. */
struct cohort__hub_share {
    int listener;
    uint64_t listener_id; /* random; the name of the listener comes from it */
};

/* Who takes part, as all of them see it. */
struct cohort__hub_party {
    uint64_t listener_id; /* that of slot 0 */
    uint64_t key;         /* the job's */
    uint32_t rank;        /* this locality; the ranks of those that share follow each other */
    uint32_t slot;
    uint32_t size; /* slots */
    uint64_t patience_ns;
};

/* Opens a listener. COHORT_ERR_SYSTEM, COHORT_ERR_NO_MEMORY. */
cohort_status cohort__hub_share_init(struct cohort__hub_share *share);

/* Closes it; also once more. */
void cohort__hub_share_fini(struct cohort__hub_share *share);

/* Waits until this locality has the hub, and in slot 0 until all have it; then closes the
 * listener. Errors name who has waited for whom: COHORT_ERR_PEER_DIED, COHORT_ERR_TIMEOUT after
 * PARTY->patience_ns, COHORT_ERR_PROTOCOL; COHORT_ERR_NO_MEMORY where descriptors run out;
 * COHORT_ERR_SYSTEM. Once. */
cohort_status cohort__hub_share_meet(struct cohort__hub_share *share,
                                     const struct cohort__hub_party *party,
                                     struct cohort__hub **ret_hub);

#endif
