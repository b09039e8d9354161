/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_CHANNEL_H
#define COHORT_CHANNEL_H

#include "cohort/comm.h"
#include "cohort/datatype.h"
#include "cohort/layout.h"
#include "cohort/objects.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a site: whichever it is. */
#define COHORT_ANY_SITE UINT32_MAX

/* Messages from one site of a communicator to another one, or to itself, beside its collectives.
 * They have no generations. TAG may be any number; only the program gives it a meaning. A message
 * is set for a site with a tag. That site gets it with the setter's number and the same tag.
 * Messages with the same tag between the same two sites arrive in the order of the sets. Different
 * tags and different pairs of sites don't wait for each other. A set may come before its get or
 * after it, and any number of both may be outstanding.
 *
 * A set, a get or a probe of a task in a scope (cohort/scope.h) ends with COHORT_ERR_CANCELLED when
 * the scope is cancelled and it would have to wait for the other site. What a get had not taken
 * stays for the next one. A set that is ended so has not been got: the other site's get of it fails
 * with COHORT_ERR_CANCELLED, too. A short message is on its way with the call, and arrives.
 *
 * Calls on one endpoint are ordered by the caller, as for collectives. Any task or thread may call,
 * and no call suspends. The future holds the error: COHORT_ERR_BAD_PARAMETER (no such site, no
 * buffer, more bytes than memory), COHORT_ERR_GONE (the other site has left the communicator),
 * COHORT_ERR_PEER_DIED, COHORT_ERR_REVOKED (survivors.h),
 * COHORT_ERR_CANCELLED (this endpoint was given back in the meantime, or see above),
 * COHORT_ERR_NO_MEMORY, COHORT_ERR_NETWORK. */

/* Sends BYTES at DATA (which may be NULL if BYTES is 0) to SITE. Completes when DATA may be written
 * again. This says nothing about whether the other site has got the message: a short message is
 * copied, a long one is read from DATA when a get asks for it. So is a short one, even one of 0
 * bytes, to another locality that has very many already which no get has asked for (see
 * COHORT_EAGER_BUDGET in docs/SETTINGS.md). So a program must not rely on a set to complete before
 * the matching get is called. Nothing but the program limits how many sets are outstanding: each
 * one that is not complete takes some 700 bytes of the library here, and 450 where it is to be got,
 * also if nobody awaits its future. Who sets more than the other site gets has to await some. */
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

/* cohort_channel_get for a message of any length. The library allocates the memory, and the caller
 * gives it back with cohort_object_fini. *ret_object has to live until the future completes. It is
 * empty on failure. */
COHORT_API cohort_future *cohort_channel_get_object(cohort_comm *comm, uint32_t site, uint64_t tag,
                                                    cohort_object *ret_object) COHORT_MUST_USE;

/* cohort_channel_get and cohort_channel_get_object for a message with TAG from any site, this one
 * too: the one that came first of those that no get has taken. *ret_site (which may be NULL) is
 * then the site that has set it; on failure it is untouched. A message that several gets wait for,
 * from its site and from any, goes to the one that was called first. Fails with
 * COHORT_ERR_PEER_DIED when the locality of any site has died, since it may have been that site's
 * message, unless that death is acknowledged (cohort_comm_acknowledge in cohort/survivors.h); and
 * with COHORT_ERR_GONE when all other sites have left. */
COHORT_API cohort_future *cohort_channel_get_any(cohort_comm *comm, uint64_t tag, void *buffer,
                                                 size_t capacity, size_t *ret_bytes,
                                                 uint32_t *ret_site) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_channel_get_any_object(cohort_comm *comm, uint64_t tag,
                                                        cohort_object *ret_object,
                                                        uint32_t *ret_site) COHORT_MUST_USE;

/* A set and a get of elements that lie as LAYOUT says (cohort/layout.h), from the beginning of
 * DATA, or of BUFFER. They may lie in another way at the other site, which may also call the set or
 * the get of bytes: a message is the elements, one behind the other. Get: SITE may be
 * COHORT_ANY_SITE, and *ret_site (which may be NULL) is then who has set it; on failure it is
 * untouched. A message with another number of bytes than the layout's elements have gives
 * COHORT_ERR_MISMATCH, which names the site and both numbers; it is used up. Between the elements
 * nothing is written.
 *
 * LAYOUT stays the caller's, and may be released when the call has returned. Also
 * COHORT_ERR_BAD_PARAMETER: no layout, no datatype, elements that end beyond memory, or in a get an
 * element that is in the layout twice. Set: the elements are packed by the call, which takes as
 * much memory as they have until the future completes, unless they lie one behind the other or are
 * few. Get: they go from the message to where they belong; a message of much data from another
 * locality is fetched into as much memory first. */
COHORT_API cohort_future *cohort_channel_set_layout(cohort_comm *comm, uint32_t site, uint64_t tag,
                                                    const void *data, const cohort_layout *layout,
                                                    cohort_datatype datatype) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_channel_get_layout(cohort_comm *comm, uint32_t site, uint64_t tag,
                                                    void *buffer, const cohort_layout *layout,
                                                    cohort_datatype datatype,
                                                    uint32_t *ret_site) COHORT_MUST_USE;

/* Completes when a message with TAG from SITE, or with COHORT_ANY_SITE from any, is there. The
 * message stays where it is. *ret_bytes is then its length, and *ret_site who has set it; both may
 * be NULL, and are untouched on failure. The next get from that site with TAG receives it, unless
 * another get was called before that. Probes and gets are served in the order of their calls: a
 * probe that was called after a get which still waits tells of the message behind the one that the
 * get will receive. Errors as for a get; if the set of the message has failed, the probe fails with
 * the same error. */
COHORT_API cohort_future *cohort_channel_probe(cohort_comm *comm, uint32_t site, uint64_t tag,
                                               size_t *ret_bytes,
                                               uint32_t *ret_site) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
