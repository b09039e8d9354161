/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/boards.h"

#include <string.h>

#include "runtime/names/limits.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/localities.h"

enum { NUM = 3, FIRST_SLOT = 2 };

static struct localities localities;

static void open_all(void)
{
    localities_open_shared(&localities, FIRST_SLOT + NUM, FIRST_SLOT, NUM);
}

/* All localities see the same memory, by numbers. When each has cleared what it has written, the
 * board is empty. */
TEST(contents)
{
    static const uint32_t numbers[] = {0, 5, COHORT__NUM_NUMBERS - 1};
    open_all();
    for (uint32_t i = 0; i < NUM_OF(numbers); i++) {
        struct cohort__board boards[NUM];
        for (uint32_t rank = 0; rank < NUM; rank++) {
            CHECK_OK(cohort__boards_open(localities.processes[rank], numbers[i], &boards[rank]));
            CHECK_INT(boards[rank].size, FIRST_SLOT + NUM);
        }
        const unsigned char *end = cohort__board_arena(&boards[0], 0);
        for (uint32_t slot = 0; slot < FIRST_SLOT + NUM; slot++) {
            for (uint64_t place = 0; place < COHORT__BOARD_DEPTH; place++)
                memset(cohort__board_post(&boards[1], slot, place), 0x55, COHORT__BOARD_LINE);
            atomic_store(cohort__board_passed(&boards[1], slot), 9);
        }
        atomic_store(&cohort__board_head(&boards[1])->num_waiting, 2);
        memcpy(cohort__board_place(&boards[1], 1, 5, 9000 / 2, 640), "told", 5);
        cohort__board_post(&boards[1], 1, 5)->offset = 640;
        CHECK_TEXT((const char *)cohort__board_data(&boards[2], 1, 5, 9000 / 2), "told");
        for (uint32_t slot = 0; slot < FIRST_SLOT + NUM; slot++)
            cohort__boards_clear(&boards[slot % NUM], slot);
        for (const unsigned char *at = boards[0].memory; at < end; at++)
            CHECK_INT(*at, 0);
        for (uint32_t rank = 0; rank < NUM; rank++) {
            cohort__boards_close(&boards[rank]);
            cohort__boards_close(&boards[rank]);
        }
    }
    localities_close(&localities);
}

/* Giving back an arena takes nothing from the next one, nor from the board's posts. */
TEST(free)
{
    open_all();
    struct cohort__board board;
    CHECK_OK(cohort__boards_open(localities.processes[0], 7, &board));
    size_t posts = (size_t)(cohort__board_arena(&board, 0) - board.memory);
    for (uint32_t slot = 0; slot < board.size; slot++) {
        memset(board.memory, 0x55, posts);
        for (uint32_t other = 0; other < board.size; other++)
            memset(cohort__board_arena(&board, other), 0x55, COHORT__BOARD_ARENA);
        CHECK(cohort__boards_free(&board, slot, SIZE_MAX / 2));
        CHECK_INT(cohort__board_arena(&board, slot)[COHORT__BOARD_ARENA / 2], 0);
        for (size_t i = 0; i < posts; i++)
            CHECK_INT(board.memory[i], 0x55);
        for (uint32_t other = 0; other < board.size; other++)
            for (size_t i = 0; other != slot && i < COHORT__BOARD_ARENA; i++)
                CHECK_INT(cohort__board_arena(&board, other)[i], 0x55);
    }
    cohort__boards_close(&board);
    localities_close(&localities);
}

/* Who has died has shared memory, and in a job that goes on it is known to have ended. */
TEST(shares)
{
    struct localities others;
    open_all();
    localities_open_shared(&others, 2, 0, 2);
    for (uint32_t rank = 0; rank < NUM; rank++)
        CHECK(cohort__boards_shares(localities.processes[0], rank));
    CHECK(!cohort__boards_shares(localities.processes[0], NUM));
    CHECK(!cohort__boards_shares(others.processes[0], 2));
    cohort__process_peer_lost(localities.processes[0], 1, "was killed");
    CHECK(cohort__boards_shares(localities.processes[0], 1));
    CHECK(!cohort__boards_is_dead(localities.processes[0], 1)); /* the job ends */
    localities_close(&others);
    localities_close(&localities);
}

/* Without shared memory. */
TEST(alone)
{
    uint32_t slot = 77;
    localities_open(&localities, 0, 2, 0);
    CHECK(!cohort__boards_slot_of(localities.processes[0], 0, &slot));
    CHECK(!cohort__boards_slot_of(localities.processes[0], 1, &slot));
    CHECK_INT(slot, 77);
    CHECK(!cohort__boards_shares(localities.processes[0], 0));
    CHECK(!cohort__boards_shares(localities.processes[0], 1));
    localities_close(&localities);
}

TEST(slots)
{
    uint32_t slot;
    open_all();
    for (uint32_t rank = 0; rank < NUM; rank++)
        for (uint32_t of = 0; of < NUM; of++) {
            CHECK(cohort__boards_slot_of(localities.processes[rank], of, &slot));
            CHECK_INT(slot, FIRST_SLOT + of);
        }
    slot = 77;
    CHECK(!cohort__boards_slot_of(localities.processes[0], NUM, &slot));
    cohort__process_peer_lost(localities.processes[0], 1, "was killed");
    CHECK(!cohort__boards_slot_of(localities.processes[0], 1, &slot));
    CHECK_INT(slot, 77);
    localities_close(&localities);
}
