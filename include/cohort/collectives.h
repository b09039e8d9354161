/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_H
#define COHORT_COLLECTIVES_H

#include "cohort/comm.h"
#include "cohort/datatype.h"
#include "cohort/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The collectives of a communicator whose blocks are all of one size; ragged.h has those with
 * blocks of different sizes, call.h what a single call may ask for besides. For all of them:
 *
 * All sites call the same operation with the same count, datatype and operation under the same
 * generation; where they don't, the sites that meet the difference get COHORT_ERR_MISMATCH, which
 * names both sites and what differs, and nobody hangs. Where a call is wrong in itself, or can't be
 * carried out, the calls of all other sites in that generation fail with its error, but for those
 * that are complete by then.
 *
 * GENERATION numbers the calls of an endpoint: above 0 and above that of the call before; numbers
 * may be left out, but by all sites. Only on a communicator with auto_generation it is
 * COHORT_AUTO_GENERATION, and always so: there any other number is COHORT_ERR_BAD_PARAMETER, as are
 * COHORT_AUTO_GENERATION and 0 elsewhere. A number that is not above the last one is
 * COHORT_ERR_GENERATION. Such errors come in the future, and the communicator stays usable; no
 * number is used up.
 *
 * Buffers belong to the operation from the call until its future completes, with a value or with
 * an error; then nobody touches them any more. COUNT is in elements; 0 is fine (the buffers may
 * then be NULL); any size_t that memory can hold is, beyond 2^31 too. IN and OUT must not overlap;
 * see COHORT_IN_PLACE. "A block" is count elements.
 *
 * Operations may be in flight at once and complete in any order; more than 64 generations beyond
 * the oldest unfinished one wait for their turn, the caller doesn't.
 *
 * Any task or thread may call; no call suspends. Besides those above, the future may hold
 * COHORT_ERR_BAD_PARAMETER, COHORT_ERR_WRONG_ROLE (a non-root calls the root's function or the
 * reverse), COHORT_ERR_MOVED_PAST (a peer skipped this generation), COHORT_ERR_GONE,
 * COHORT_ERR_PEER_DIED, COHORT_ERR_CANCELLED, COHORT_ERR_NO_MEMORY, COHORT_ERR_NETWORK, or what
 * the user's own reduction returned; COHORT_ERR_NOT_SUPPORTED where no algorithm fits what is asked
 * for. After an error the contents of OUT are undefined. A call of a shape (size, root and so on)
 * that this endpoint has used lately builds and allocates nothing. */

/* Given as IN: the input is in OUT, where the result replaces it. Each site decides for itself.
 *   all_reduce, reduce_here, scan, exclusive_scan: OUT is the input.
 *   all_gather, gather_here and their v-variants: this site's block is in its place in OUT.
 *   all_to_all and its v-variants: all of OUT is the input, with the counts and places of OUT.
 *   reduce_scatter and its v-variant: all num_sites blocks are at the beginning of OUT, which so
 * has to be as large as IN would be; the result replaces the first block. Cast to void * and given
 * as OUT to scatter_to or scatterv_to: the root's own block stays in IN. Elsewhere it is
 * COHORT_ERR_BAD_PARAMETER. It costs memory for the operation of its own, as much as what is in
 * place (for scatter_to: a block), and a copy into it. */
COHORT_API extern const void *const COHORT_IN_PLACE;

/* Gather: the root calls _here and gets num_sites blocks in site order in OUT; all others call
 * _there. */
COHORT_API cohort_future *cohort_gather_here(cohort_comm *comm, const void *in, void *out,
                                             size_t count, cohort_datatype datatype,
                                             uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_gather_there(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;

/* Scatter: the root calls _to with num_sites blocks in IN; everybody gets its own block in OUT, the
 * others by _from. */
COHORT_API cohort_future *cohort_scatter_to(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_scatter_from(cohort_comm *comm, void *out, size_t count,
                                              cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;

/* Broadcast: the root's block IN arrives in everybody else's OUT. */
COHORT_API cohort_future *cohort_broadcast_to(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_broadcast_from(cohort_comm *comm, void *out, size_t count,
                                                cohort_datatype datatype,
                                                uint64_t generation) COHORT_MUST_USE;

/* Reduce: the root gets in OUT, element by element, site 0's op site 1's op ... IN. Operations that
 * are not commutative are applied in the order of the sites. */
COHORT_API cohort_future *cohort_reduce_here(cohort_comm *comm, const void *in, void *out,
                                             size_t count, cohort_datatype datatype,
                                             const cohort_op *op,
                                             uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_reduce_there(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype, const cohort_op *op,
                                              uint64_t generation) COHORT_MUST_USE;

/* Everybody gets everybody's block IN, num_sites blocks in site order, in OUT. */
COHORT_API cohort_future *cohort_all_gather(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation) COHORT_MUST_USE;

/* Reduce whose result everybody gets. */
COHORT_API cohort_future *cohort_all_reduce(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            const cohort_op *op,
                                            uint64_t generation) COHORT_MUST_USE;

/* IN and OUT are num_sites blocks each: block j of site i's IN becomes block i of site j's OUT.
 * Over the tree: rows are gathered at the representatives of the top groups, exchanged among them
 * as sub-matrices, and columns scattered down. */
COHORT_API cohort_future *cohort_all_to_all(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation) COHORT_MUST_USE;

/* IN is num_sites blocks; block i, reduced over all sites in their order, arrives in site i's OUT.
 */
COHORT_API cohort_future *cohort_reduce_scatter(cohort_comm *comm, const void *in, void *out,
                                                size_t count, cohort_datatype datatype,
                                                const cohort_op *op,
                                                uint64_t generation) COHORT_MUST_USE;

/* Prefix reductions in the order of the sites: site i gets in OUT the reduction of IN of sites 0 to
 * i; the exclusive one: 0 to i - 1. There site 0's OUT is left alone, and may be NULL. */
COHORT_API cohort_future *cohort_scan(cohort_comm *comm, const void *in, void *out, size_t count,
                                      cohort_datatype datatype, const cohort_op *op,
                                      uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_exclusive_scan(cohort_comm *comm, const void *in, void *out,
                                                size_t count, cohort_datatype datatype,
                                                const cohort_op *op,
                                                uint64_t generation) COHORT_MUST_USE;

/* Circular shift: site i's IN arrives in OUT of site i + Q modulo num_sites. Q may be negative or
 * beyond num_sites; sites whose Qs are equal modulo num_sites agree. */
COHORT_API cohort_future *cohort_shift(cohort_comm *comm, const void *in, void *out, size_t count,
                                       cohort_datatype datatype, int64_t q,
                                       uint64_t generation) COHORT_MUST_USE;

/* Completes at no site before all sites have called it. */
COHORT_API cohort_future *cohort_barrier(cohort_comm *comm, uint64_t generation) COHORT_MUST_USE;

/* Agreement. With check_asymmetric, the option of a communicator (for gather and scatter and their
 * v-variants) or of a call (for any collective), or COHORT_CHECK_ASYMMETRIC=1 in the environment of
 * site 0 when the communicator is created (as the communicator's option), the sites first agree on
 * the datatype and on the kind of memory, which is host memory. It costs one all_reduce of 8 bytes.
 * Where they don't agree no data moves, all sites get the same status, with a message that says
 * which types were met and what this site gave, and OUT is as it was; then each of them may do
 * something else. The status is
 *   COHORT_ERR_BAD_PARAMETER where the call of a site is wrong in itself (the site's message says
 *     how); otherwise
 *   COHORT_ERR_NOT_SUPPORTED where a site gives a type of its own (cohort_datatype_of_bytes), which
 *     can't be compared; otherwise
 *   COHORT_ERR_BAD_PARAMETER where the types differ.
 * Where it can't be found out, since a site has died or the like, that error is the call's. Counts
 * are not looked at. All sites have to ask for it: COHORT_ERR_MISMATCH otherwise. */

/* The agreement as a call of its own, which has a generation of its own: COHORT_OK if all sites
 * give the same predefined DATATYPE, else as above. */
COHORT_API cohort_future *cohort_check_rooted(cohort_comm *comm, cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
