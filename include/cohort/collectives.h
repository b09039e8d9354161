/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_H
#define COHORT_COLLECTIVES_H

#include "cohort/comm.h"
#include "cohort/datatype.h"
#include "cohort/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The collectives of a communicator. For all of them:
 *
 * All sites call the same operation with the same count, datatype and operation under the same
 * generation; where they don't, the sites that meet the difference get COHORT_ERR_MISMATCH, which
 * names both sites and what differs, and nobody hangs.
 *
 * GENERATION numbers the calls of an endpoint: above 0 and above that of the call before; numbers
 * may be left out, but by all sites. On a flat communicator without auto_generation, and on a
 * hierarchical one, COHORT_AUTO_GENERATION and 0 are COHORT_ERR_BAD_PARAMETER, as is an explicit
 * number on one with auto_generation. A number that is not above the last one is
 * COHORT_ERR_GENERATION. Such errors come in the future, and the communicator stays usable.
 *
 * Buffers belong to the operation from the call until its future completes, with a value or with
 * an error; then nobody touches them any more. COUNT is in elements; 0 is fine (the buffers may
 * then be NULL). IN and OUT must not overlap. "A block" is count elements.
 *
 * Operations may be in flight at once and complete in any order; more than 64 generations beyond
 * the oldest unfinished one wait for their turn, the caller doesn't.
 *
 * Any task or thread may call; no call suspends. Besides those above, the future may hold
 * COHORT_ERR_BAD_PARAMETER, COHORT_ERR_WRONG_ROLE (a non-root calls the root's function or the
 * reverse), COHORT_ERR_MOVED_PAST (a peer skipped this generation), COHORT_ERR_GONE,
 * COHORT_ERR_PEER_DIED, COHORT_ERR_CANCELLED, COHORT_ERR_NO_MEMORY, COHORT_ERR_NETWORK, or what
 * the user's own reduction returned. After an error the contents of OUT are undefined. */

/* Gather: the root calls _here and gets num_sites blocks in site order in OUT; all others call
 * _there. */
COHORT_API cohort_future *cohort_gather_here(cohort_comm *comm, const void *in, void *out,
                                             size_t count, cohort_datatype datatype,
                                             uint64_t generation);
COHORT_API cohort_future *cohort_gather_there(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype, uint64_t generation);

/* Scatter: the root calls _to with num_sites blocks in IN; everybody gets its own block in OUT, the
 * others by _from. */
COHORT_API cohort_future *cohort_scatter_to(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation);
COHORT_API cohort_future *cohort_scatter_from(cohort_comm *comm, void *out, size_t count,
                                              cohort_datatype datatype, uint64_t generation);

/* Broadcast: the root's block IN arrives in everybody else's OUT. */
COHORT_API cohort_future *cohort_broadcast_to(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype, uint64_t generation);
COHORT_API cohort_future *cohort_broadcast_from(cohort_comm *comm, void *out, size_t count,
                                                cohort_datatype datatype, uint64_t generation);

/* Reduce: the root gets in OUT, element by element, site 0's op site 1's op ... IN. Operations that
 * are not commutative are applied in the order of the sites. */
COHORT_API cohort_future *cohort_reduce_here(cohort_comm *comm, const void *in, void *out,
                                             size_t count, cohort_datatype datatype,
                                             const cohort_op *op, uint64_t generation);
COHORT_API cohort_future *cohort_reduce_there(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype, const cohort_op *op,
                                              uint64_t generation);

/* Everybody gets everybody's block IN, num_sites blocks in site order, in OUT. */
COHORT_API cohort_future *cohort_all_gather(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation);

/* Reduce whose result everybody gets. */
COHORT_API cohort_future *cohort_all_reduce(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            const cohort_op *op, uint64_t generation);

/* IN and OUT are num_sites blocks each: block j of site i's IN becomes block i of site j's OUT.
 * Over the tree: rows are gathered at the representatives of the top groups, exchanged among them
 * as sub-matrices, and columns scattered down. */
COHORT_API cohort_future *cohort_all_to_all(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation);

/* Completes at no site before all sites have called it. */
COHORT_API cohort_future *cohort_barrier(cohort_comm *comm, uint64_t generation);

#ifdef __cplusplus
}
#endif

#endif
