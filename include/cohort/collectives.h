/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_H
#define COHORT_COLLECTIVES_H

#include "cohort/comm.h"
#include "cohort/datatype.h"
#include "cohort/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The collectives of a communicator whose blocks are all of one size. ragged.h has those with
 * blocks of different sizes; call.h has the options of a single call, also where the elements of
 * its buffers lie, if they do not lie one behind the other. For all of them:
 *
 * All sites call the same operation with the same count, datatype and operation under the same
 * generation. Where they don't, the sites that notice the difference get COHORT_ERR_MISMATCH, with
 * both sites and the difference in its message, and no site hangs. Where one site's call is wrong
 * in itself, or can't be carried out, the calls of all other sites in that generation fail with its
 * error, except those that are already complete.
 *
 * GENERATION numbers the calls of an endpoint. It is above 0 and above that of the call before.
 * Numbers may be left out if all sites leave out the same ones. On a communicator with
 * auto_generation it is always COHORT_AUTO_GENERATION; any other number gives
 * COHORT_ERR_BAD_PARAMETER there. On other communicators COHORT_AUTO_GENERATION, 0 and whatever is
 * above 2^54 - 2 give COHORT_ERR_BAD_PARAMETER. A number that is not above the last one gives
 * COHORT_ERR_GENERATION.
 * The future holds these errors, the communicator stays usable, and no number is used up.
 *
 * Buffers belong to the operation from the call until its future completes, with a value or with an
 * error. After that the library doesn't touch them any more. They need not be aligned. COUNT is in
 * elements. It may be 0 (the buffers may then be NULL), and any size_t that memory can hold, also
 * beyond 2^31. What is read of IN and what is written into OUT must not overlap
 * (COHORT_ERR_BAD_PARAMETER), but see COHORT_IN_PLACE. "A block" is COUNT elements.
 *
 * Several operations may be in flight at once, and they complete in any order. A call that is more
 * than 64 generations beyond the oldest unfinished one waits for its turn; its caller doesn't wait.
 *
 * Any task or thread may call; no call suspends. Besides the errors above, the future may hold
 * COHORT_ERR_BAD_PARAMETER, COHORT_ERR_WRONG_ROLE (a non-root calls the root's function or the
 * reverse), COHORT_ERR_MOVED_PAST (a peer skipped this generation), COHORT_ERR_GONE,
 * COHORT_ERR_PEER_DIED, COHORT_ERR_REVOKED, COHORT_ERR_CANCELLED, COHORT_ERR_NO_MEMORY,
 * COHORT_ERR_NETWORK, what the user's own reduction returned, or COHORT_ERR_NOT_SUPPORTED where no
 * algorithm can do what is asked for. After an error the contents of OUT are undefined. A call of a
 * shape (size, root and so on) that this endpoint has used lately builds and allocates nothing. */

/* Given as IN: the input is in OUT, where the result replaces it. Each site decides for itself.
 *   all_reduce, reduce_here, scan, exclusive_scan: OUT is the input.
 *   all_gather, gather_here and their v-variants: this site's block is in its place in OUT.
 *   all_to_all and its v-variants: all of OUT is the input, with the counts and places of OUT.
 *   reduce_scatter and its v-variant: all num_sites blocks are at the beginning of OUT, and the
 *     result replaces the first block. So OUT has to be as large as IN would be.
 *
 * It may also be cast to void * and given as OUT to scatter_to or scatterv_to: the root's own block
 * then stays in IN. In other calls it gives COHORT_ERR_BAD_PARAMETER.
 *
 * The operation then allocates memory, as much as the data that is in place (for scatter_to: one
 * block), and copies the data into it. */
COHORT_API extern const void *const COHORT_IN_PLACE;

/* Gather: the root calls _here and gets num_sites blocks in site order in OUT; all others call
 * _there. */
COHORT_API cohort_future *cohort_gather_here(cohort_comm *comm, const void *in, void *out,
                                             size_t count, cohort_datatype datatype,
                                             uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_gather_there(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;

/* Scatter: the root calls _to with num_sites blocks in IN; all others call _from. Every site gets
 * its own block in OUT. */
COHORT_API cohort_future *cohort_scatter_to(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_scatter_from(cohort_comm *comm, void *out, size_t count,
                                              cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;

/* Broadcast: the root's block IN arrives in OUT of all other sites. */
COHORT_API cohort_future *cohort_broadcast_to(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_broadcast_from(cohort_comm *comm, void *out, size_t count,
                                                cohort_datatype datatype,
                                                uint64_t generation) COHORT_MUST_USE;

/* Reduce: the root gets in OUT, element by element, (IN of site 0) op (IN of site 1) op ...
 * Operations that are not commutative are applied in the order of the sites. */
COHORT_API cohort_future *cohort_reduce_here(cohort_comm *comm, const void *in, void *out,
                                             size_t count, cohort_datatype datatype,
                                             const cohort_op *op,
                                             uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_reduce_there(cohort_comm *comm, const void *in, size_t count,
                                              cohort_datatype datatype, const cohort_op *op,
                                              uint64_t generation) COHORT_MUST_USE;

/* Every site gets the blocks IN of all sites, num_sites blocks in site order, in OUT. */
COHORT_API cohort_future *cohort_all_gather(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation) COHORT_MUST_USE;

/* A reduce whose result every site gets in OUT. */
COHORT_API cohort_future *cohort_all_reduce(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            const cohort_op *op,
                                            uint64_t generation) COHORT_MUST_USE;

/* IN and OUT are num_sites blocks each: block j of site i's IN becomes block i of site j's OUT.
 * Over the tree, rows are gathered at the representatives of the top groups, exchanged among them
 * as sub-matrices, and columns are scattered down. */
COHORT_API cohort_future *cohort_all_to_all(cohort_comm *comm, const void *in, void *out,
                                            size_t count, cohort_datatype datatype,
                                            uint64_t generation) COHORT_MUST_USE;

/* IN is num_sites blocks. Block i, reduced over all sites in site order, arrives in site i's
 * OUT. */
COHORT_API cohort_future *cohort_reduce_scatter(cohort_comm *comm, const void *in, void *out,
                                                size_t count, cohort_datatype datatype,
                                                const cohort_op *op,
                                                uint64_t generation) COHORT_MUST_USE;

/* Prefix reductions in the order of the sites. Site i gets in OUT the reduction of IN of sites 0 to
 * i, and with the exclusive one of sites 0 to i - 1. In the exclusive one site 0's OUT is not
 * touched, and may be NULL. */
COHORT_API cohort_future *cohort_scan(cohort_comm *comm, const void *in, void *out, size_t count,
                                      cohort_datatype datatype, const cohort_op *op,
                                      uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_exclusive_scan(cohort_comm *comm, const void *in, void *out,
                                                size_t count, cohort_datatype datatype,
                                                const cohort_op *op,
                                                uint64_t generation) COHORT_MUST_USE;

/* Circular shift: site i's IN arrives in OUT of site i + Q modulo num_sites. Q may be negative or
 * beyond num_sites. All sites have to give the same Q modulo num_sites. */
COHORT_API cohort_future *cohort_shift(cohort_comm *comm, const void *in, void *out, size_t count,
                                       cohort_datatype datatype, int64_t q,
                                       uint64_t generation) COHORT_MUST_USE;

/* Barrier: completes at no site before all sites have called it. */
COHORT_API cohort_future *cohort_barrier(cohort_comm *comm, uint64_t generation) COHORT_MUST_USE;

/* Agreement. The sites first agree on the datatype and on the kind of memory, which is host memory.
 * They do so with check_asymmetric, as the option of a communicator (for gather and scatter and
 * their v-variants) or of a call (for any collective). COHORT_CHECK_ASYMMETRIC=1 in the environment
 * of site 0 when the communicator is created has the same effect as the communicator's option. It
 * costs one all_reduce of 8 bytes.
 *
 * If the sites don't agree, no data moves, and all sites get the same status. The message says
 * which types were found and what this site gave. OUT is unchanged, and each site may then do
 * something else. The status is
 *   COHORT_ERR_BAD_PARAMETER where the call of a site is wrong in itself (that site's message says
 *     how); otherwise
 *   COHORT_ERR_NOT_SUPPORTED where a site gives a type of its own (cohort_datatype_of_bytes), which
 *     can't be compared; otherwise
 *   COHORT_ERR_BAD_PARAMETER where the types differ.
 *
 * If the agreement itself fails, because a site has died or the like, the call fails with that
 * error. Counts are not compared. All sites have to ask for the agreement: otherwise
 * COHORT_ERR_MISMATCH. */

/* The agreement as a call of its own, with a generation of its own. COHORT_OK if all sites give the
 * same predefined DATATYPE; else as above. */
COHORT_API cohort_future *cohort_check_rooted(cohort_comm *comm, cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
