/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/pieces.h"

#include <stdbool.h>
#include <string.h>

#include "collectives/comm/commons.h"
#include "collectives/plan/layout.h"
#include "runtime/base/container.h"
#include "runtime/task/scheduler.h"

static void run_member(struct cohort__work *work)
{
    struct cohort__crew *crew = COHORT_CONTAINER_OF(work, struct cohort__crew_member, work)->crew;
    struct cohort__commons *commons = crew->commons; /* the crew may be gone at the end */
    uint64_t part = atomic_fetch_add(&crew->next_part, 1);
    if (part < crew->num_parts) {
        crew->perform(crew, part);
        crew->post(work);
        return;
    }
    if (atomic_fetch_sub(&crew->num_at_work, 1) == 1)
        crew->over(crew);
    cohort__commons_count_work(commons, -1);
}

void cohort__crew_start(struct cohort__crew *crew, struct cohort__commons *commons,
                        void (*post)(struct cohort__work *work), uint64_t num_parts,
                        void (*perform)(struct cohort__crew *crew, uint64_t part),
                        void (*over)(struct cohort__crew *crew))
{
    uint32_t num = cohort__scheduler_num_workers();
    if (num > COHORT__CREW_MEMBERS)
        num = COHORT__CREW_MEMBERS;
    if (num > num_parts)
        num = (uint32_t)num_parts;
    crew->commons = commons;
    crew->post = post;
    crew->perform = perform;
    crew->over = over;
    crew->num_parts = num_parts;
    atomic_store(&crew->next_part, 0);
    atomic_store(&crew->num_at_work, num);
    for (uint32_t i = 0; i < num; i++) {
        struct cohort__crew_member *member = &crew->members[i];
        *member = (struct cohort__crew_member){.work.run = run_member, .crew = crew};
        cohort__commons_count_work(commons, 1);
        post(&member->work);
    }
}

static const struct cohort__block *block_at(const struct cohort__pieces *pieces, uint32_t index)
{
    return &pieces->plan->blocks[pieces->block_refs[index]];
}

/* A position in a walk over pieces: the rest of the current piece. */
struct cursor {
    const struct cohort__pieces *pieces;
    const struct cohort__block *block;
    uint32_t next_block;
    uint32_t next_piece;
    unsigned char *at;
    size_t left;
};

/* Goes on to the next piece that isn't empty. False: there is none. An empty one may be at NULL,
 * see pieces.h. */
__attribute__((no_sanitize("pointer-overflow"))) static bool advance(struct cursor *cursor)
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

/* memcpy for data that is often one number. The compiler turns a known size into a move. */
static void copy(unsigned char *to, const unsigned char *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

/* The bytes of pieces that are contiguous. Nearly all blocks are: then there is nothing to walk
 * over. */
static size_t bytes_of(const struct cohort__pieces *contiguous)
{
    const struct cohort__block *block = block_at(contiguous, 0);
    return block->count * block->bytes;
}

/* How many whole pieces of its block, of BYTES bytes each, the cursor is in front of, the current
 * one included. */
static size_t whole_pieces(const struct cursor *cursor, size_t bytes)
{
    if (cursor->left != bytes || cursor->block->bytes != bytes)
        return 0;
    return 1 + (cursor->block->count - cursor->next_piece);
}

/* Skips NUM whole pieces, the current one included. */
static void skip(struct cursor *cursor, size_t num)
{
    cursor->next_piece += (uint32_t)(num - 1);
    cursor->left = 0;
}

void cohort__pieces_copy(const struct cohort__pieces *to, const struct cohort__pieces *from)
{
    unsigned char *in_one = cohort__pieces_contiguous(to);
    if (in_one) {
        cohort__pieces_pack(in_one, from);
        return;
    }
    struct cursor target = {.pieces = to}, source = {.pieces = from};
    while (advance(&target) && advance(&source)) {
        size_t bytes = target.left < source.left ? target.left : source.left;
        size_t num_to = whole_pieces(&target, bytes), num_from = whole_pieces(&source, bytes);
        size_t num = num_to < num_from ? num_to : num_from;
        if (num > 0) {
            cohort__strided_copy(target.at, target.block->stride, source.at, source.block->stride,
                                 bytes, num);
            skip(&target, num);
            skip(&source, num);
        } else {
            copy(target.at, source.at, bytes);
            consume(&target, bytes);
            consume(&source, bytes);
        }
    }
}

void cohort__pieces_pack(unsigned char *to, const struct cohort__pieces *from)
{
    const unsigned char *in_one = cohort__pieces_contiguous(from);
    if (in_one) {
        copy(to, in_one, bytes_of(from));
        return;
    }
    struct cursor source = {.pieces = from};
    while (advance(&source)) {
        size_t bytes = source.left, num = whole_pieces(&source, bytes);
        cohort__strided_copy(to, bytes, source.at, source.block->stride, bytes, num);
        skip(&source, num);
        to += num * bytes;
    }
}

void cohort__pieces_unpack(const struct cohort__pieces *to, const unsigned char *from)
{
    unsigned char *in_one = cohort__pieces_contiguous(to);
    if (in_one) {
        copy(in_one, from, bytes_of(to));
        return;
    }
    struct cursor target = {.pieces = to};
    while (advance(&target)) {
        size_t bytes = target.left, num = whole_pieces(&target, bytes);
        cohort__strided_copy(target.at, target.block->stride, from, bytes, bytes, num);
        skip(&target, num);
        from += num * bytes;
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
