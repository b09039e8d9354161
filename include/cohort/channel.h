/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_CHANNEL_H
#define COHORT_CHANNEL_H

#include "cohort/comm.h"
#include "cohort/objects.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Messages from one site of a communicator to another one, or to itself, beside its collectives.
 * They have no generations. TAG may be any number; only the program gives it a meaning. A message
 * is set for a site with a tag. That site gets it with the setter's number and the same tag.
 * Messages with the same tag between the same two sites arrive in the order of the sets. Different
 * tags and different pairs of sites don't wait for each other. A set may come before its get or
 * after it, and any number of both may be outstanding.
 *
 * Calls on one endpoint are ordered by the caller, as for collectives. Any task or thread may call,
 * and no call suspends. The future holds the error: COHORT_ERR_BAD_PARAMETER (no such site, no
 * buffer), COHORT_ERR_GONE (the other site has left the communicator), COHORT_ERR_PEER_DIED,
 * COHORT_ERR_CANCELLED (this endpoint was given back in the meantime), COHORT_ERR_NO_MEMORY,
 * COHORT_ERR_NETWORK. */

/* Sends BYTES at DATA (which may be NULL if BYTES is 0) to SITE. Completes when DATA may be written
 * again. This says nothing about whether the other site has got the message: a short message is
 * copied, a long one is read from DATA when a get asks for it. So a program must not rely on a set
 * to complete before the matching get is called. */
COHORT_API cohort_future *cohort_channel_set(cohort_comm *comm, uint32_t site, uint64_t tag,
                                             const void *data, size_t bytes) COHORT_MUST_USE;

/* Receives the next message with TAG from SITE into BUFFER, which belongs to the call until the
 * future completes. *ret_bytes (ret_bytes may be NULL) is then the length of the message. A message
 * of more than CAPACITY bytes gives COHORT_ERR_MISMATCH, with both sizes in the text. That message
 * is used up, and its sender doesn't notice. On failure *ret_bytes is untouched, and the contents
 * of BUFFER are undefined. */
COHORT_API cohort_future *cohort_channel_get(cohort_comm *comm, uint32_t site, uint64_t tag,
                                             void *buffer, size_t capacity,
                                             size_t *ret_bytes) COHORT_MUST_USE;

/* The same for a message of any length. The library allocates the memory, and the caller gives it
 * back with cohort_object_fini. *ret_object has to live until the future completes. It is empty on
 * failure. */
COHORT_API cohort_future *cohort_channel_get_object(cohort_comm *comm, uint32_t site, uint64_t tag,
                                                    cohort_object *ret_object) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
