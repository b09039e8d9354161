/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PIECES_H
#define COHORT_COLLECTIVES_EXEC_PIECES_H

#include <stddef.h>

#include "collectives/plan/plan.h"

/* The memory that a list of blocks stands for in one operation: pieces, one after the other. */
struct cohort__pieces {
    const struct cohort__plan *plan;
    const uint32_t *block_refs;
    uint32_t num_blocks;
    unsigned char *const *bases; /* of each space */
};

/* All blocks of STEP. */
static inline struct cohort__pieces cohort__pieces_of_step(const struct cohort__plan *plan,
                                                           const struct cohort__step *step,
                                                           unsigned char *const *bases)
{
    return (struct cohort__pieces){plan, plan->block_refs + step->first_block, step->num_blocks,
                                   bases};
}

/* The address of the memory if it is in one piece, else NULL. Where there are no bytes, the base
 * may be the caller's NULL, to which C allows to add nothing, not even 0. */
__attribute__((no_sanitize("pointer-overflow"))) static inline unsigned char *
cohort__pieces_contiguous(const struct cohort__pieces *pieces)
{
    if (pieces->num_blocks != 1)
        return NULL;
    const struct cohort__block *block = &pieces->plan->blocks[pieces->block_refs[0]];
    if (block->count > 1 && block->stride != block->bytes)
        return NULL;
    return pieces->bases[block->space] + block->offset;
}

/* These copy as many bytes as TO has (pack: as FROM has). The other side has as many. They must not
 * overlap. */
void cohort__pieces_copy(const struct cohort__pieces *to, const struct cohort__pieces *from);
void cohort__pieces_pack(unsigned char *to, const struct cohort__pieces *from);
void cohort__pieces_unpack(const struct cohort__pieces *to, const unsigned char *from);
void cohort__pieces_zero(const struct cohort__pieces *to);

#endif
