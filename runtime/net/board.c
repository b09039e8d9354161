/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/board.h"

#include <string.h>

/* The layout: a line with the head, a line for each slot with what it has passed, the posts of all
 * slots for each place, and the arenas. Each arena begins one line later in its page than the one
 * before, so that data that is read together doesn't compete for the same few cache sets. */
enum { ARENA_STRIDE = COHORT__BOARD_ARENA + COHORT__BOARD_LINE };

_Static_assert(ARENA_STRIDE % 4096 != 0,
               "one arena is at other places of the caches than the next");

_Static_assert(sizeof(struct cohort__board_head) == COHORT__BOARD_LINE &&
                   sizeof(struct cohort__board_post) == COHORT__BOARD_LINE,
               "one line each");

static size_t posts_offset(uint32_t size)
{
    return (size_t)(1 + size) * COHORT__BOARD_LINE;
}

static size_t place_of(uint32_t size, uint32_t slot, uint64_t number)
{
    return (size_t)cohort__board_index(number) * size + slot;
}

static size_t arenas_offset(uint32_t size)
{
    return posts_offset(size) + (size_t)COHORT__BOARD_DEPTH * size * COHORT__BOARD_LINE;
}

size_t cohort__board_bytes(uint32_t size)
{
    return arenas_offset(size) + (size_t)size * ARENA_STRIDE;
}

struct cohort__board_head *cohort__board_head(const struct cohort__board *board)
{
    return (struct cohort__board_head *)(void *)board->memory;
}

_Atomic uint64_t *cohort__board_passed(const struct cohort__board *board, uint32_t slot)
{
    return (_Atomic uint64_t *)(void *)(board->memory + (size_t)(1 + slot) * COHORT__BOARD_LINE);
}

struct cohort__board_post *cohort__board_post(const struct cohort__board *board, uint32_t slot,
                                              uint64_t number)
{
    return (struct cohort__board_post *)(void *)(board->memory + posts_offset(board->size) +
                                                 place_of(board->size, slot, number) *
                                                     COHORT__BOARD_LINE);
}

void cohort__board_clear(const struct cohort__board *board, uint32_t slot)
{
    for (uint64_t place = 0; place < COHORT__BOARD_DEPTH; place++)
        memset(cohort__board_post(board, slot, cohort__board_number(place, 0)), 0,
               sizeof(struct cohort__board_post));
    atomic_store(cohort__board_passed(board, slot), 0);
    atomic_store(&cohort__board_head(board)->num_waiting, 0);
}

unsigned char *cohort__board_arena(const struct cohort__board *board, uint32_t slot)
{
    return board->memory + arenas_offset(board->size) + (size_t)slot * ARENA_STRIDE;
}

unsigned char *cohort__board_place(const struct cohort__board *board, uint32_t slot,
                                   uint64_t number, size_t bytes, uint32_t offset)
{
    if (bytes <= COHORT__BOARD_INLINE)
        return cohort__board_post(board, slot, number)->data;
    return cohort__board_arena(board, slot) + offset;
}

const unsigned char *cohort__board_data(const struct cohort__board *board, uint32_t slot,
                                        uint64_t number, size_t bytes)
{
    uint32_t offset = 0;
    if (bytes > COHORT__BOARD_INLINE)
        offset = cohort__board_post(board, slot, number)->offset;
    if (bytes > COHORT__BOARD_ARENA || offset > COHORT__BOARD_ARENA - bytes ||
        offset % COHORT__BOARD_LINE != 0)
        return NULL;
    return cohort__board_place(board, slot, number, bytes, offset);
}

const uint64_t *cohort__board_table(const struct cohort__board *board, uint32_t slot,
                                    uint64_t number, uint32_t num)
{
    const size_t offset = cohort__board_post(board, slot, number)->lent - 1;
    if (offset % COHORT__BOARD_LINE != 0 || offset > COHORT__BOARD_ARENA ||
        COHORT__BOARD_ARENA - offset < num * sizeof(uint64_t))
        return NULL;
    return (const uint64_t *)(const void *)(cohort__board_arena(board, slot) + offset);
}
