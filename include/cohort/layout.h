/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_LAYOUT_H
#define COHORT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/datatype.h"
#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which elements of an array belong together, and in which order: a column of a matrix, a face of a
 * box of cells, or any list of blocks. All is counted in elements, so one layout serves all
 * datatypes. Calls that take a layout move the elements between the array and the other side, where
 * they may lie in another way: only their number and their datatype are compared. Such are the
 * collectives (in_layout and out_layout in call.h), exchanges (cohort_exchange_layouts in ragged.h)
 * and channels (cohort_channel_set_layout and _get_layout in channel.h).
 *
 * A layout never changes, and is reference-counted: calls keep what they need of it, so it may be
 * released as soon as they have returned. Any thread may call these functions; none suspends. All
 * that create one give COHORT_ERR_BAD_PARAMETER if there is no RET_LAYOUT, or if there are more
 * than PTRDIFF_MAX elements or the last one ends behind so many, and COHORT_ERR_NO_MEMORY;
 * *RET_LAYOUT is then not touched. Calls refuse a layout that has, or spans, more than PTRDIFF_MAX
 * bytes of their datatype. A layout takes 40 to 80 bytes for each block, or for any number of
 * blocks that follow each other with one stride. A layout may have no elements. Elements may occur
 * more than once where they are sent; where they are received, the call refuses that. */
typedef struct cohort_layout cohort_layout;

/* COUNT blocks of BLOCK elements each. Each block begins STRIDE elements after the beginning of the
 * one before, the first one at 0. A column of a row-major matrix with N columns: COUNT rows,
 * BLOCK 1, STRIDE N. */
COHORT_API cohort_status cohort_layout_create_vector(cohort_layout **ret_layout, size_t count,
                                                     size_t block, size_t stride) COHORT_MUST_USE;

/* COUNT elements from OFFSET on. */
typedef struct cohort_layout_block {
    size_t offset;
    size_t count;
} cohort_layout_block;

/* NUM blocks, in the order of the array, which is only read during the call. It may be NULL if NUM
 * is 0. */
COHORT_API cohort_status cohort_layout_create_blocks(cohort_layout **ret_layout,
                                                     const cohort_layout_block *blocks,
                                                     size_t num) COHORT_MUST_USE;

/* COUNT times the elements of INNER, each time STRIDE elements further on. Also
 * COHORT_ERR_BAD_PARAMETER: no INNER, or more than 2^28 blocks that no stride describes. INNER
 * stays the caller's. */
COHORT_API cohort_status cohort_layout_create_repeat(cohort_layout **ret_layout, size_t count,
                                                     size_t stride,
                                                     const cohort_layout *inner) COHORT_MUST_USE;

/* The elements of LAYOUT, which begins OFFSET elements after the beginning of the array. */
typedef struct cohort_layout_part {
    size_t offset;
    const cohort_layout *layout;
} cohort_layout_part;

/* The elements of NUM parts, in the order of the parts, which are only read during the call; the
 * layouts stay the caller's. PARTS may be NULL if NUM is 0. For a buffer with a block for each site
 * that lies in a way of its own. Also COHORT_ERR_BAD_PARAMETER: a part without a layout, or more
 * than 2^28 blocks that no stride describes. */
COHORT_API cohort_status cohort_layout_create_parts(cohort_layout **ret_layout,
                                                    const cohort_layout_part *parts,
                                                    size_t num) COHORT_MUST_USE;

/* A box of an array with NUM_DIMS dimensions (1 or more), of which the last one is contiguous, as
 * in C. SIZES are those of the array; in dimension d the box has the COUNTS[d] indices from
 * STARTS[d] on. Its elements come in the order in which they lie in the array. Also
 * COHORT_ERR_BAD_PARAMETER: the box is not within the array, the box has elements and the array is
 * larger than memory, an argument is NULL, or more than 2^28 blocks that no stride describes. The
 * arrays are only read during the call. */
COHORT_API cohort_status cohort_layout_create_box(cohort_layout **ret_layout, size_t num_dims,
                                                  const size_t *sizes, const size_t *starts,
                                                  const size_t *counts) COHORT_MUST_USE;

/* Another reference. Returns LAYOUT, which may be NULL. */
COHORT_API cohort_layout *cohort_layout_ref(cohort_layout *layout);

/* Releases a reference. NULL is fine. Whoever uses the layout after its last one ends the program,
 * with a line that says where, unless its memory has been used again. */
COHORT_API void cohort_layout_unref(cohort_layout *layout);

/* How many elements it has; how many an array needs for it, from its beginning to its last element;
 * and whether these are the same ones in the same order, so that nothing is packed. LAYOUT must not
 * be NULL. */
COHORT_API size_t cohort_layout_num_elements(const cohort_layout *layout);
COHORT_API size_t cohort_layout_span(const cohort_layout *layout);
COHORT_API bool cohort_layout_is_dense(const cohort_layout *layout);

/* Pack: copies the elements from FROM, where they lie as LAYOUT says, to TO, one behind the other.
 * Unpack: the reverse; what lies between the elements in TO is not touched. FROM and TO must not
 * overlap, and may be NULL if there are no elements. COHORT_ERR_BAD_PARAMETER: no layout, a NULL,
 * no datatype, or more bytes than memory can hold. */
COHORT_API cohort_status cohort_layout_pack(const cohort_layout *layout, cohort_datatype datatype,
                                            void *to, const void *from) COHORT_MUST_USE;
COHORT_API cohort_status cohort_layout_unpack(const cohort_layout *layout, cohort_datatype datatype,
                                              void *to, const void *from) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
