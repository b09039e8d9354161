/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/board.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

enum { MAX_SIZE = 5 };

static const uint32_t sizes[] = {1, 2, 3, MAX_SIZE};
enum { NUM_SIZES = NUM_OF(sizes) };

static struct cohort__board board_create(uint32_t size)
{
    size_t bytes = cohort__board_bytes(size);
    struct cohort__board board = {size, aligned_alloc(COHORT__BOARD_LINE, bytes)};
    CHECK(board.memory);
    memset(board.memory, 0, bytes);
    return board;
}

/* Claims bytes of the board. They must be inside the board and not claimed before. */
static void claim(const struct cohort__board *board, unsigned char *claims, const void *from,
                  size_t bytes)
{
    size_t offset = (size_t)((const unsigned char *)from - board->memory);
    CHECK(offset + bytes <= cohort__board_bytes(board->size));
    for (size_t i = 0; i < bytes; i++) {
        CHECK_INT(claims[offset + i], 0);
        claims[offset + i] = 1;
    }
}

TEST(no_overlap)
{
    for (uint32_t i = 0; i < NUM_SIZES; i++) {
        struct cohort__board board = board_create(sizes[i]);
        unsigned char *claims = test_calloc(1, cohort__board_bytes(sizes[i]));
        claim(&board, claims, cohort__board_head(&board), sizeof(struct cohort__board_head));
        for (uint32_t slot = 0; slot < sizes[i]; slot++) {
            claim(&board, claims, cohort__board_passed(&board, slot), COHORT__BOARD_LINE);
            for (uint64_t generation = 8; generation < 8 + COHORT__BOARD_DEPTH; generation++)
                claim(&board, claims, cohort__board_post(&board, slot, generation),
                      sizeof(struct cohort__board_post));
            claim(&board, claims, cohort__board_place(&board, slot, 8, COHORT__BOARD_INLINE + 1, 0),
                  COHORT__BOARD_ARENA);
        }
        free(claims);
        free(board.memory);
    }
}

/* Up to a certain size the data is in the post itself. Longer data is in the slot's arena, at the
 * offset that the post gives. */
TEST(data)
{
    struct cohort__board board = board_create(3);
    for (uint64_t generation = 1; generation <= COHORT__BOARD_DEPTH; generation++)
        for (uint32_t slot = 0; slot < 3; slot++) {
            struct cohort__board_post *post = cohort__board_post(&board, slot, generation);
            size_t bytes = 0;
            for (; bytes <= COHORT__BOARD_INLINE; bytes++) {
                CHECK(cohort__board_place(&board, slot, generation, bytes, 640) == post->data);
                CHECK(cohort__board_data(&board, slot, generation, bytes) == post->data);
            }
            const unsigned char *arena = cohort__board_place(&board, slot, generation, bytes, 0);
            CHECK(arena > (unsigned char *)cohort__board_post(&board, 2, COHORT__BOARD_DEPTH - 1));
            post->offset = 640;
            CHECK(cohort__board_data(&board, slot, generation, bytes) == arena + 640);
            CHECK(cohort__board_place(&board, slot, generation, bytes, 640) == arena + 640);
        }
    free(board.memory);
}

/* The offset that a slot gives is accepted only if it is in the slot's arena. */
TEST(nonsense)
{
    static const size_t lengths[] = {COHORT__BOARD_INLINE + 1, 4096, COHORT__BOARD_POST,
                                     COHORT__BOARD_ARENA};
    struct cohort__board board = board_create(2);
    struct cohort__board_post *post = cohort__board_post(&board, 1, 5);
    for (size_t i = 0; i < NUM_OF(lengths); i++) {
        uint32_t room = (uint32_t)(COHORT__BOARD_ARENA - lengths[i]);
        post->offset = room / COHORT__BOARD_LINE * COHORT__BOARD_LINE;
        CHECK(cohort__board_data(&board, 1, 5, lengths[i]));
        const uint32_t wrong[] = {post->offset + COHORT__BOARD_LINE, COHORT__BOARD_ARENA,
                                  UINT32_MAX - COHORT__BOARD_LINE + 1, UINT32_MAX, 1};
        for (size_t k = 0; k < NUM_OF(wrong); k++) {
            post->offset = wrong[k];
            CHECK(!cohort__board_data(&board, 1, 5, lengths[i]));
        }
    }
    post->offset = 0;
    CHECK(!cohort__board_data(&board, 1, 5, COHORT__BOARD_ARENA + 1));
    CHECK(!cohort__board_data(&board, 1, 5, SIZE_MAX));
    free(board.memory);
}

/* Slots do not share lines, and elements of up to 16 bytes are aligned. */
TEST(alignment)
{
    for (uint32_t i = 0; i < NUM_SIZES; i++) {
        struct cohort__board board = board_create(sizes[i]);
        for (uint32_t slot = 0; slot < sizes[i]; slot++)
            for (uint64_t generation = 0; generation < COHORT__BOARD_DEPTH; generation++) {
                const struct cohort__board_post *post =
                    cohort__board_post(&board, slot, generation);
                const unsigned char *apart =
                    cohort__board_place(&board, slot, generation, COHORT__BOARD_POST, 0);
                CHECK_INT((long long)((uintptr_t)post % COHORT__BOARD_LINE), 0);
                CHECK_INT((long long)((uintptr_t)post->data % 16), 0);
                CHECK_INT((long long)((uintptr_t)apart % COHORT__BOARD_LINE), 0);
            }
        free(board.memory);
    }
}

/* A generation has the same place as the generation one depth later, and no other in between has
 * it. */
TEST(places)
{
    struct cohort__board board = board_create(2);
    for (uint64_t generation = 1; generation < 30; generation++) {
        struct cohort__board_post *post = cohort__board_post(&board, 1, generation);
        CHECK(post == cohort__board_post(&board, 1, generation + COHORT__BOARD_DEPTH));
        for (uint64_t later = 1; later < COHORT__BOARD_DEPTH; later++)
            CHECK(post != cohort__board_post(&board, 1, generation + later));
    }
    free(board.memory);
}

/* A board that all have cleared has no post, no locality has passed anything, and none waits. */
TEST(empty)
{
    struct cohort__board board = board_create(MAX_SIZE);
    memset(board.memory, 0xee, cohort__board_bytes(MAX_SIZE));
    for (uint32_t slot = 0; slot < MAX_SIZE; slot++)
        cohort__board_clear(&board, slot);
    CHECK_INT(atomic_load(&cohort__board_head(&board)->num_waiting), 0);
    for (uint32_t slot = 0; slot < MAX_SIZE; slot++) {
        CHECK_INT((long long)atomic_load(cohort__board_passed(&board, slot)), 0);
        for (uint64_t generation = 1; generation < 20; generation++)
            CHECK(
                !cohort__board_is_posted(cohort__board_post(&board, slot, generation), generation));
    }
    atomic_store(&cohort__board_post(&board, 1, 9)->number, 9);
    CHECK(cohort__board_is_posted(cohort__board_post(&board, 1, 9), 9));
    CHECK(!cohort__board_is_posted(cohort__board_post(&board, 1, 1), 1));
    CHECK(!cohort__board_is_posted(cohort__board_post(&board, 1, 17), 17));
    CHECK(!cohort__board_is_posted(cohort__board_post(&board, 0, 9), 9));
    free(board.memory);
}
