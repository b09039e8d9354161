/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/pieces.h"

#include <stdbool.h>
#include <string.h>

struct cohort__pieces cohort__pieces_of_step(const struct cohort__plan *plan,
                                             const struct cohort__step *step,
                                             unsigned char *const *bases)
{
    return (struct cohort__pieces){plan, plan->block_refs + step->first_block, step->num_blocks,
                                   bases};
}

static const struct cohort__block *block_at(const struct cohort__pieces *pieces, uint32_t index)
{
    return &pieces->plan->blocks[pieces->block_refs[index]];
}

unsigned char *cohort__pieces_contiguous(const struct cohort__pieces *pieces)
{
    if (pieces->num_blocks != 1)
        return NULL;
    const struct cohort__block *block = block_at(pieces, 0);
    bool in_one = block->count <= 1 || block->stride == block->bytes;
    return in_one ? pieces->bases[block->space] + block->offset : NULL;
}

/* Where a walk over pieces is: what is left of the current one. */
struct cursor {
    const struct cohort__pieces *pieces;
    const struct cohort__block *block;
    uint32_t next_block;
    uint32_t next_piece;
    unsigned char *at;
    size_t left;
};

/* Goes on to the next piece that isn't empty; false at the end. */
static bool advance(struct cursor *cursor)
{
    while (cursor->left == 0) {
        if (cursor->block && cursor->next_piece < cursor->block->count) {
            const struct cohort__block *block = cursor->block;
            cursor->at = cursor->pieces->bases[block->space] + block->offset +
                         cursor->next_piece++ * block->stride;
            cursor->left = block->bytes;
        } else if (cursor->next_block < cursor->pieces->num_blocks) {
            cursor->block = block_at(cursor->pieces, cursor->next_block++);
            cursor->next_piece = 0;
        } else {
            return false;
        }
    }
    return true;
}

static void consume(struct cursor *cursor, size_t bytes)
{
    cursor->at += bytes;
    cursor->left -= bytes;
}

void cohort__pieces_copy(const struct cohort__pieces *to, const struct cohort__pieces *from)
{
    struct cursor target = {.pieces = to}, source = {.pieces = from};
    while (advance(&target) && advance(&source)) {
        size_t bytes = target.left < source.left ? target.left : source.left;
        memcpy(target.at, source.at, bytes);
        consume(&target, bytes);
        consume(&source, bytes);
    }
}

void cohort__pieces_pack(unsigned char *to, const struct cohort__pieces *from)
{
    struct cursor source = {.pieces = from};
    while (advance(&source)) {
        memcpy(to, source.at, source.left);
        to += source.left;
        source.left = 0;
    }
}

void cohort__pieces_unpack(const struct cohort__pieces *to, const unsigned char *from)
{
    struct cursor target = {.pieces = to};
    while (advance(&target)) {
        memcpy(target.at, from, target.left);
        from += target.left;
        target.left = 0;
    }
}

void cohort__pieces_zero(const struct cohort__pieces *to)
{
    struct cursor target = {.pieces = to};
    while (advance(&target)) {
        memset(target.at, 0, target.left);
        target.left = 0;
    }
}
