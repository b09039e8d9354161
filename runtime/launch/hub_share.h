/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_HUB_SHARE_H
#define COHORT_RUNTIME_LAUNCH_HUB_SHARE_H

#include <stdint.h>

#include "cohort/status.h"

struct cohort__hub;

/* How the localities of one host get one common hub (runtime/net/hub.h) if no common parent can
 * pass it to them. One of them, the host of the share, creates the hub and sends its descriptors to
 * the others, the guests, through a socket. The socket has an abstract name. So it is not in the
 * file system, and nothing is left behind, no matter which process is killed at what time.
 *
 * Each locality opens a listener before it knows its place. When all know the listeners of all, the
 * guests connect to that of slot 0. It is open by then, so no guest has to try twice:
 *
 *     guest                               host
 *     HELLO slot          ->              serves one guest at a time, since the kernel limits how
 *                         <-  PIECE       many descriptors may be under way; at most 250 a message
 *     TAKEN               ->              and so on, until the guest has all
 *
 * If one side fails, it sends FAILED with the reason before it ends. So each locality knows the
 * reason, and it doesn't matter which of them the launcher allows to print it.
 *
 * All users of the machine can see the names of sockets, so the name of the listener is random and
 * contains no information. Each message carries the job's key, which only the localities know.
 * Connections of other users, or without the key, are dropped and do no harm. */
struct cohort__hub_share {
    int listener;
    uint64_t listener_id; /* random; the name of the listener is made from it */
};

/* The description of a share and of this locality's place in it. */
struct cohort__hub_party {
    uint64_t listener_id; /* the listener of slot 0 */
    uint64_t key;         /* the job's key */
    uint32_t rank;        /* of this locality; the ranks of all that share are consecutive */
    uint32_t slot;
    uint32_t size; /* number of slots */
    uint64_t patience_ns;
};

/* Opens a listener. COHORT_ERR_SYSTEM, COHORT_ERR_NO_MEMORY. */
cohort_status cohort__hub_share_init(struct cohort__hub_share *share);

/* Closes the listener. May be called twice. */
void cohort__hub_share_fini(struct cohort__hub_share *share);

/* Waits until this locality has the hub, and in slot 0, until all have it. Then closes the
 * listener. Error messages say which locality has waited for which. COHORT_ERR_PEER_DIED,
 * COHORT_ERR_TIMEOUT after PARTY->patience_ns, COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY if there
 * are not enough descriptors, COHORT_ERR_SYSTEM. Once. */
cohort_status cohort__hub_share_meet(struct cohort__hub_share *share,
                                     const struct cohort__hub_party *party,
                                     struct cohort__hub **ret_hub);

#endif
