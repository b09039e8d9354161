/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_SHM_H
#define COHORT_RUNTIME_NET_SHM_H

#include "runtime/net/board.h"
#include "runtime/net/hub.h"
#include "runtime/net/net.h"

/* How fetches copy. */
enum cohort__shm_copy {
    COHORT__SHM_STREAM, /* through the ring, in pieces: both sides copy, at the same time */
    COHORT__SHM_DIRECT, /* by process_vm_readv where it is allowed, else through the ring: only the
                           fetching side need run */
};

/* A transport through the memory of HUB, as the one in SLOT. HUB is the transport's, also on
 * failure. To be created before the others learn this end's address; afterwards SLOT may be used
 * again when all have destroyed theirs.
 *
 * It doesn't notice the death of a peer; whoever does removes it. */
cohort_status cohort__shm_create(const struct cohort__net_handlers *handlers,
                                 struct cohort__hub *hub, uint32_t slot, enum cohort__shm_copy copy,
                                 struct cohort__net **ret_net);

/* Whether ADDRESS is that of an end that shares memory with NET, an end made by the above. */
bool cohort__shm_shares(const struct cohort__net *net, const void *address, size_t bytes);

/* What else NET, an end made by the above, has: boards in the memory that is shared. Any thread. */

/* Random; the same for all that share memory. */
uint64_t cohort__shm_hub_id(const struct cohort__net *net);

/* The slots of this end and of a peer; false: it doesn't share memory. */
uint32_t cohort__shm_own_slot(const struct cohort__net *net);
bool cohort__shm_slot_of(struct cohort__net *net, uint32_t peer, uint32_t *ret_slot);

/* Reserves an empty board; false: there is none left, or no memory. */
bool cohort__shm_board_take(struct cohort__net *net, uint32_t *ret_number);
/* When nobody uses it any more. */
void cohort__shm_board_give_back(struct cohort__net *net, uint32_t number);

cohort_status cohort__shm_board_open(struct cohort__net *net, uint32_t number,
                                     struct cohort__board *ret_board);
void cohort__shm_board_close(struct cohort__board *board);

/* Wakes those of the NUM slots that sleep, to look at what this thread has written before. */
void cohort__shm_alert(struct cohort__net *net, const uint32_t *slots, uint32_t num);

#endif
