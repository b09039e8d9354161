/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RAGGED_H
#define COHORT_RAGGED_H

#include "cohort/comm.h"
#include "cohort/datatype.h"
#include "cohort/layout.h"
#include "cohort/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The collectives with blocks of different sizes. What collectives.h says also holds for them.
 * Where the elements of a block do not lie one behind the other, see in_layout and out_layout in
 * call.h.
 *
 * COUNTS has num_sites numbers of elements, one for each site's block. DISPLACEMENTS says where
 * each block begins, in elements from the beginning of the buffer. If it is NULL, the blocks lie
 * one behind the other in the order of the sites. Blocks may be in any order. There may be gaps
 * between them, which are not touched. But blocks that are received must not overlap
 * (COHORT_ERR_BAD_PARAMETER). The arrays are only read during the call.
 *
 * A block of 0 elements may be for any site, in every function. Its displacement is not looked at.
 * A buffer may be NULL if all its blocks at this site have 0 elements. COUNTS may not be NULL.
 *
 * What a site sends and what the other one expects have to be of the same size. Otherwise the
 * receiver gets COHORT_ERR_MISMATCH, which names both sizes, and so do sites that still need
 * something from it. A site that needs nothing more, the sender too, may get COHORT_OK. This also
 * holds for a block of 0 elements.
 *
 * gatherv, scatterv, all_to_allv and all_to_allw send each block as it is, unless an algorithm is
 * forced that is for blocks of one size, "levels" for instance: it carries copies of the blocks.
 * That takes as much memory again at the sites that give, pass on and get them, and is refused
 * where there is a memory_budget. It is worth it for many small blocks. */

/* Gather: the root's own block has IN_COUNT elements, which has to be the same as COUNTS[root]. */
COHORT_API cohort_future *cohort_gatherv_here(cohort_comm *comm, const void *in, size_t in_count,
                                              void *out, const size_t *counts,
                                              const size_t *displacements, cohort_datatype datatype,
                                              uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_gatherv_there(cohort_comm *comm, const void *in, size_t count,
                                               cohort_datatype datatype,
                                               uint64_t generation) COHORT_MUST_USE;

/* Scatter: the root's own block has OUT_COUNT elements, which has to be the same as
 * COUNTS[root]. */
COHORT_API cohort_future *cohort_scatterv_to(cohort_comm *comm, const void *in,
                                             const size_t *counts, const size_t *displacements,
                                             void *out, size_t out_count, cohort_datatype datatype,
                                             uint64_t generation) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_scatterv_from(cohort_comm *comm, void *out, size_t count,
                                               cohort_datatype datatype,
                                               uint64_t generation) COHORT_MUST_USE;

/* COUNTS are the same at all sites; DISPLACEMENTS need not be. IN has COUNTS[this_site] elements.
 */
COHORT_API cohort_future *cohort_all_gatherv(cohort_comm *comm, const void *in, void *out,
                                             const size_t *counts, const size_t *displacements,
                                             cohort_datatype datatype,
                                             uint64_t generation) COHORT_MUST_USE;

/* COUNTS are the same at all sites. They are the sizes of the blocks of IN, which lie one behind
 * the other. OUT has COUNTS[this_site] elements. */
COHORT_API cohort_future *cohort_reduce_scatterv(cohort_comm *comm, const void *in, void *out,
                                                 const size_t *counts, cohort_datatype datatype,
                                                 const cohort_op *op,
                                                 uint64_t generation) COHORT_MUST_USE;

/* Block j of site i's IN becomes block i of site j's OUT. With COHORT_IN_PLACE the arguments in_...
 * are ignored and may be NULL. */
COHORT_API cohort_future *
cohort_all_to_allv(cohort_comm *comm, const void *in, const size_t *in_counts,
                   const size_t *in_displacements, void *out, const size_t *out_counts,
                   const size_t *out_displacements, cohort_datatype datatype,
                   uint64_t generation) COHORT_MUST_USE;

/* cohort_all_to_allv with a datatype for each block, and displacements in bytes. Only the sizes of
 * what is sent and received have to agree. */
COHORT_API cohort_future *
cohort_all_to_allw(cohort_comm *comm, const void *in, const size_t *in_counts,
                   const size_t *in_displacements, const cohort_datatype *in_types, void *out,
                   const size_t *out_counts, const size_t *out_displacements,
                   const cohort_datatype *out_types, uint64_t generation) COHORT_MUST_USE;

/* A block for or from another site (or this one), in elements. */
typedef struct cohort_neighbour {
    uint32_t site;
    size_t offset;
    size_t count;
} cohort_neighbour;

/* Neighbour exchange over the user's graph: each block of TO goes from IN to its site, and each
 * block of FROM comes from its site into OUT. All sites have to call it, also those without
 * neighbours (NULL, 0). Several blocks between the same two sites are matched in the order of the
 * arrays. Every block that is sent has to be expected, and every one that is expected has to
 * be sent. Otherwise one of the two sites gets an error that names the other one: who waits for a
 * block in vain gets COHORT_ERR_MISMATCH, after stall_after (comm.h) or a few times that.
 * IN and OUT may be the same array, or parts of one: but no block of FROM may overlap one of TO
 * (COHORT_ERR_BAD_PARAMETER). */
COHORT_API cohort_future *cohort_exchange(cohort_comm *comm, const void *in,
                                          const cohort_neighbour *to, size_t num_to, void *out,
                                          const cohort_neighbour *from, size_t num_from,
                                          cohort_datatype datatype,
                                          uint64_t generation) COHORT_MUST_USE;

/* The elements of LAYOUT, which begins OFFSET elements after the beginning of the buffer, for or
 * from another site (or this one). */
typedef struct cohort_layout_neighbour {
    uint32_t site;
    size_t offset;
    const cohort_layout *layout;
} cohort_layout_neighbour;

/* As cohort_exchange, where the elements of a block need not lie one behind the other: the faces of
 * a box of cells, and the ghost cells around it, say. They may lie in different ways at the two
 * ends of a block: only their number and the datatype have to agree. A site whose elements do lie
 * one behind the other may call cohort_exchange, which is the same call. IN and OUT may be the same
 * array, as there.
 *
 * The layouts stay the caller's, and are only read during the call. Also COHORT_ERR_BAD_PARAMETER:
 * a block without a layout, or elements of FROM that overlap, in one block or in several. To find
 * that out, the first call with these layouts walks through them, with about 100 bytes for each
 * block of TO and FROM, and for each piece of their layouts that no stride describes. It takes up
 * to some 50 ns for each run of elements, and hardly anything where few pieces of one stride lie
 * in a pattern that is repeated.
 * Elements go from where they lie to where they belong. Only for another process they are packed,
 * which takes as much memory as is on its way; a memory_budget does not count that. */
COHORT_API cohort_future *cohort_exchange_layouts(cohort_comm *comm, const void *in,
                                                  const cohort_layout_neighbour *to, size_t num_to,
                                                  void *out, const cohort_layout_neighbour *from,
                                                  size_t num_from, cohort_datatype datatype,
                                                  uint64_t generation) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
