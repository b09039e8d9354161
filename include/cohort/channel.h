/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_CHANNEL_H
#define COHORT_CHANNEL_H

#include "cohort/comm.h"
#include "cohort/objects.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Messages from one site of a communicator to another one, or to itself, beside its collectives.
 * They have no generations; TAG, any number, is the program's own. What a site sets for a site with
 * a tag is got there, by the setter's number and the same tag, in the order of the sets; different
 * tags and different pairs of sites don't wait for each other. Sets and gets come in any order of
 * time, and any number of them may be outstanding.
 *
 * Calls on one endpoint are ordered by the caller, as for collectives; any task or thread may call,
 * and no call suspends. Errors come in the future: COHORT_ERR_BAD_PARAMETER (no such site, no
 * buffer), COHORT_ERR_GONE (the other site has left the communicator), COHORT_ERR_PEER_DIED,
 * COHORT_ERR_CANCELLED (this endpoint was given back meanwhile), COHORT_ERR_NO_MEMORY,
 * COHORT_ERR_NETWORK. */

/* Sends BYTES at DATA (NULL is fine for none) to SITE. Completes when DATA may be written again,
 * which says nothing about who has got it: few bytes are copied, many are read from DATA when a get
 * asks for them. So a program that awaits a set must not rely on that to happen before the get. */
COHORT_API cohort_future *cohort_channel_set(cohort_comm *comm, uint32_t site, uint64_t tag,
                                             const void *data, size_t bytes) COHORT_MUST_USE;

/* The next message with TAG from SITE into BUFFER, which belongs to the call until the future
 * completes; *ret_bytes (which may be NULL) is then how long it is. A message of more than CAPACITY
 * bytes is COHORT_ERR_MISMATCH, which names both sizes; it is used up, and its sender doesn't
 * notice. *ret_bytes is untouched on failure, BUFFER undefined. */
COHORT_API cohort_future *cohort_channel_get(cohort_comm *comm, uint32_t site, uint64_t tag,
                                             void *buffer, size_t capacity,
                                             size_t *ret_bytes) COHORT_MUST_USE;

/* The same for a message of any length: the library allocates, and the caller gives it back with
 * cohort_object_fini. *ret_object has to live until the future completes; empty on failure. */
COHORT_API cohort_future *cohort_channel_get_object(cohort_comm *comm, uint32_t site, uint64_t tag,
                                                    cohort_object *ret_object) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
