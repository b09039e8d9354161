/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_SHM_H
#define COHORT_RUNTIME_NET_SHM_H

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

#endif
