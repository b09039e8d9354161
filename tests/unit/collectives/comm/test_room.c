/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/team.h"

#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { NUM_GENERATIONS = 2000, NUM_SEEDS = 100, PLENTY = COHORT__BOARD_DEPTH };

/* Makes a post that can be made at once. */
static uint32_t put(struct cohort__room *room, uint64_t generation, size_t bytes,
                    uint64_t all_passed)
{
    uint64_t needed;
    uint32_t offset = cohort__room_find(room, generation, bytes, all_passed, &needed);
    CHECK(needed <= all_passed);
    cohort__room_take(room, generation, bytes, offset);
    return offset;
}

/* Which generation has to be passed before BYTES bytes can be posted. */
static uint64_t needed_for(const struct cohort__room *room, uint64_t generation, size_t bytes,
                           uint64_t all_passed)
{
    uint64_t needed;
    cohort__room_find(room, generation, bytes, all_passed, &needed);
    return needed;
}

/* As many posts as possible of each length, while no locality passes anything. */
TEST(plenty)
{
    const size_t lengths[] = {1, COHORT__BOARD_INLINE, COHORT__BOARD_INLINE + 1, 4096,
                              COHORT__BOARD_POST / PLENTY};
    for (size_t i = 0; i < NUM_OF(lengths); i++) {
        struct cohort__room room = {0};
        for (uint64_t generation = 1; generation <= PLENTY; generation++)
            put(&room, generation, lengths[i], 0);
        CHECK_INT((long long)needed_for(&room, PLENTY + 1, lengths[i], 0), 1); /* its place */
        put(&room, PLENTY + 1, lengths[i], 1);
    }
}

/* A post as long as the arena waits for all others, except those that use nothing of the arena. */
TEST(longest)
{
    struct cohort__room room = {0};
    CHECK_INT(put(&room, 1, COHORT__BOARD_POST, 0), 0);
    CHECK_INT((long long)needed_for(&room, 2, COHORT__BOARD_INLINE + 1, 0), 0);
    put(&room, 2, COHORT__BOARD_INLINE, 0);
    CHECK_INT((long long)needed_for(&room, 3, COHORT__BOARD_POST, 0), 1);
    CHECK_INT(put(&room, 3, COHORT__BOARD_POST, 1), 0);
    CHECK_INT((long long)needed_for(&room, 4, COHORT__BOARD_POST / 2, 1), 3);
    CHECK_INT(put(&room, 4, COHORT__BOARD_POST / 2, 3), 0);
    put(&room, 5, COHORT__BOARD_POST / 2, 3);
    CHECK_INT((long long)needed_for(&room, 6, COHORT__BOARD_POST / 2, 3), 4);
    CHECK_INT((long long)needed_for(&room, 6, COHORT__BOARD_POST, 3), 5);
    struct cohort__room halves = {0};
    put(&halves, 1, COHORT__BOARD_POST / 2, 0);
    put(&halves, 2, COHORT__BOARD_POST / 2, 0); /* there is room for both */
}

/* Short posts stay in a part of the arena that is not much larger than what they need. After a long
 * post this is true again as soon as it has been passed. Before that they go behind it. */
static void check_short(uint32_t spread, uint32_t turns)
{
    struct cohort__room room = {.spread = spread};
    uint32_t limit = turns * (4096 + COHORT__BOARD_LINE), latest = 0, furthest = 0;
    uint64_t generation = 0;
    while (++generation < 100) {
        latest = put(&room, generation, 4096, generation - 1);
        furthest = latest > furthest ? latest : furthest;
    }
    /* All places of the rotation are used. */
    CHECK_INT((long long)furthest, limit - (4096 + COHORT__BOARD_LINE));
    uint32_t offset = put(&room, generation, 1 << 20, generation - 1);
    for (int i = 1; i < COHORT__BOARD_DEPTH; i++) {
        uint32_t next = put(&room, generation + (uint64_t)i, 4096, generation - 1);
        CHECK(next < offset || next >= offset + (1 << 20));
    }
    for (generation += COHORT__BOARD_DEPTH; generation < 200; generation++)
        CHECK(put(&room, generation, 4096, generation - 1) < limit);
}

TEST(short)
{
    check_short(0, COHORT__ROOM_LEAST);
    check_short(10 * (4096 + COHORT__BOARD_LINE), 10);
    check_short(1 << 20, COHORT__ROOM_TURNS);
}

/* Posts of all lengths, which are passed sooner or later. Posts that have not been passed are
 * inside the arena, begin at lines, and do not overlap. No post has to wait for more than all
 * earlier posts. */
TEST(random)
{
    for (uint64_t seed = 1; seed <= NUM_SEEDS; seed++) {
        struct cohort__room room = {.spread = seed % 2 ? COHORT__ROOM_SPREAD / 2 : 0};
        size_t lengths[NUM_GENERATIONS + 1] = {0};
        uint32_t offsets[NUM_GENERATIONS + 1] = {0};
        uint64_t all_passed = 0;
        struct cohort__random random = cohort__random_seeded(seed);
        for (uint64_t generation = 1; generation <= NUM_GENERATIONS; generation++) {
            size_t most = (size_t)1 << cohort__random_below(&random, 22);
            size_t bytes = lengths[generation] = 1 + (size_t)cohort__random_below(&random, most);
            uint64_t needed;
            all_passed += cohort__random_below(&random, generation - all_passed);
            cohort__room_find(&room, generation, bytes, all_passed, &needed);
            CHECK(needed < generation);
            if (needed > all_passed)
                all_passed = needed;
            uint32_t offset = offsets[generation] = put(&room, generation, bytes, all_passed);
            CHECK(generation - all_passed <= COHORT__BOARD_DEPTH);
            if (bytes <= COHORT__BOARD_INLINE)
                continue;
            CHECK_INT(offset % COHORT__BOARD_LINE, 0);
            CHECK(offset + bytes <= COHORT__BOARD_ARENA);
            for (uint64_t other = all_passed + 1; other < generation; other++)
                CHECK(lengths[other] <= COHORT__BOARD_INLINE || offset + bytes <= offsets[other] ||
                      offset >= offsets[other] + lengths[other]);
        }
    }
}

/* The arena is empty again, but the places of the heads are held. */
TEST(forget)
{
    struct cohort__room room = {0};
    CHECK_INT((long long)cohort__room_latest(&room), 0);
    for (uint64_t generation = 1; generation <= PLENTY; generation++)
        put(&room, generation, generation % 2 ? 4096 : 1, 0);
    CHECK_INT((long long)cohort__room_latest(&room), PLENTY - 1);
    cohort__room_forget(&room);
    CHECK_INT((long long)cohort__room_latest(&room), 0);
    CHECK_INT((long long)needed_for(&room, PLENTY + 1, 4096, 0), 1);
    CHECK_INT(put(&room, PLENTY + 1, COHORT__BOARD_POST, 1), 0);
    CHECK_INT((long long)cohort__room_latest(&room), PLENTY + 1);
}
