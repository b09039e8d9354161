/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/boards.h"

#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/runtime/proc/localities.h"

enum { NUM = 3, FIRST_SLOT = 2 };

static struct localities localities;

static void open_all(void)
{
    struct cohort__hub *hub;
    CHECK_INT(cohort__hub_create(&hub, FIRST_SLOT + NUM), COHORT_OK);
    localities_open_shared(&localities, hub, FIRST_SLOT, NUM);
    cohort__hub_destroy(hub);
}

static struct cohort__board_name take(uint32_t rank)
{
    return cohort__boards_take(localities.processes[rank]);
}

/* Several localities take boards in turn, until there are none. */
static void take_all(struct cohort__board_name *names)
{
    static bool seen[COHORT__NUM_BOARDS];
    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < COHORT__NUM_BOARDS; i++) {
        names[i] = take(i % NUM);
        CHECK(names[i].hub != 0 && names[i].number < COHORT__NUM_BOARDS);
        CHECK(names[i].hub == names[0].hub);
        CHECK(!seen[names[i].number]);
        seen[names[i].number] = true;
    }
    CHECK_INT((long long)take(0).hub, 0);
    CHECK_INT((long long)take(1).hub, 0);
}

static void test_all(void)
{
    static struct cohort__board_name names[COHORT__NUM_BOARDS];
    open_all();
    for (int round = 0; round < 2; round++) {
        take_all(names);
        for (uint32_t i = 0; i < COHORT__NUM_BOARDS; i++)
            cohort__boards_leave(localities.processes[i % NUM], names[i]);
    }
    take_all(names);
    cohort__boards_leave(localities.processes[2], names[17]);
    CHECK_INT(take(1).number, names[17].number);
    CHECK_INT((long long)take(1).hub, 0);
    cohort__boards_leave(localities.processes[1], (struct cohort__board_name){0});
    CHECK_INT((long long)take(1).hub, 0);
    localities_close(&localities);
}

/* All localities see the same memory. A board that was used is empty when it is taken again. */
static void test_contents(void)
{
    open_all();
    struct cohort__board_name name = take(0);
    struct cohort__board boards[NUM];
    for (uint32_t rank = 0; rank < NUM; rank++) {
        CHECK(cohort__boards_has(localities.processes[rank], name));
        CHECK_INT(cohort__boards_open(localities.processes[rank], name, &boards[rank]), COHORT_OK);
        CHECK_INT(boards[rank].size, FIRST_SLOT + NUM);
    }
    memset(boards[1].memory, 0x55, cohort__board_clear_bytes(boards[1].size));
    memcpy(cohort__board_place(&boards[1], 1, 5, 9000 / 2, 640), "told", 5);
    cohort__board_post(&boards[1], 1, 5)->offset = 640;
    CHECK_TEXT((const char *)cohort__board_data(&boards[2], 1, 5, 9000 / 2), "told");
    cohort__boards_leave(localities.processes[0], name);
    struct cohort__board_name again = take(2);
    CHECK_INT(again.number, name.number);
    for (size_t i = 0; i < cohort__board_clear_bytes(boards[0].size); i++)
        CHECK_INT(boards[0].memory[i], 0);
    for (uint32_t rank = 0; rank < NUM; rank++) {
        cohort__boards_close(&boards[rank]);
        cohort__boards_close(&boards[rank]);
    }
    localities_close(&localities);
}

/* Giving back an arena takes nothing from the next one, nor from the board's posts. */
static void test_free(void)
{
    open_all();
    struct cohort__board board;
    struct cohort__board_name name = take(0);
    CHECK_INT(cohort__boards_open(localities.processes[0], name, &board), COHORT_OK);
    size_t posts = cohort__board_clear_bytes(board.size);
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

static bool begin(uint32_t rank, struct cohort__board_name name)
{
    static const uint32_t ranks[NUM] = {0, 1, 2};
    bool has_begun = true;
    CHECK_INT(cohort__boards_begin(localities.processes[rank], name, ranks, NUM, &has_begun),
              COHORT_OK);
    return has_begun;
}

static void leave(uint32_t rank, struct cohort__board_name name)
{
    cohort__boards_leave(localities.processes[rank], name);
}

/* RANK hears that DEAD has died. */
static void hear(uint32_t rank, uint32_t dead)
{
    cohort__boards_peer_died(localities.processes[rank], dead);
}

static bool is_free(struct cohort__board_name name)
{
    struct cohort__board_name other = take(0);
    bool is_it = other.number == name.number;
    CHECK(other.ticket != name.ticket);
    leave(0, other);
    return is_it;
}

/* As long as one of its users has not left, a board is not given out again. */
static void test_leaving(void)
{
    open_all();
    for (int round = 0; round < 3; round++) {
        struct cohort__board_name name = take(1);
        for (uint32_t rank = 0; rank < NUM; rank++)
            CHECK(begin(rank, name));
        for (uint32_t rank = 0; rank < NUM; rank++) {
            CHECK(!is_free(name));
            leave(rank, name);
            leave(rank, name); /* again */
        }
        CHECK(is_free(name));
    }
    localities_close(&localities);
}

/* The last one begins when all others have left. */
static void test_late(void)
{
    open_all();
    struct cohort__board_name name = take(0);
    for (uint32_t rank = 0; rank < NUM; rank++) {
        CHECK(!is_free(name));
        CHECK(begin(rank, name));
        leave(rank, name);
    }
    CHECK(is_free(name));
    /* Who has taken it gives it back before the others begin, or after some have. */
    name = take(0);
    leave(0, name);
    CHECK(is_free(name) && !begin(1, name) && is_free(name));
    name = take(0);
    CHECK(begin(1, name));
    leave(0, name);
    CHECK(begin(2, name));
    leave(1, name);
    leave(2, name);
    CHECK(is_free(name));
    localities_close(&localities);
}

/* NUM_BEGUN localities have begun, the one that dies last of all. The others leave; when NUM_LEFT
 * of them have, the death is heard of. */
static void die_in(uint32_t dead, uint32_t num_begun, uint32_t num_left)
{
    const uint32_t others[] = {(dead + 1) % NUM, (dead + 2) % NUM};
    struct cohort__board_name name = take(0);
    for (uint32_t i = 0; i < num_begun; i++)
        CHECK(begin((dead + 1 + i) % NUM, name));
    for (uint32_t i = 0; i < NUM; i++) {
        CHECK_INT(is_free(name), i == NUM - 1 && num_left < NUM - 1);
        if (i == num_left)
            hear(others[i % 2], dead);
        if (i < NUM - 1)
            leave(others[i], name);
    }
    CHECK(is_free(name));
}

static void test_dead(void)
{
    for (uint32_t dead = 0; dead < NUM; dead++) {
        open_all();
        for (uint32_t num_begun = 1; num_begun <= NUM; num_begun++)
            for (uint32_t num_left = 0; num_left < NUM; num_left++)
                die_in(dead, num_begun, num_left);
        localities_close(&localities);
    }
}

/* What the dead one has taken, for a communicator that never was; and what is another's by now. */
static void test_dead_taker(void)
{
    open_all();
    struct cohort__board_name name = take(1), mine = take(0);
    hear(0, 1);
    CHECK(is_free(name) && mine.number != name.number);
    struct cohort__board_name again = take(2);
    CHECK(again.number == name.number && !begin(0, name));
    hear(2, 1);
    leave(0, name);
    CHECK(!is_free(again) && begin(0, again) && begin(2, again));
    leave(0, again);
    leave(2, again);
    CHECK(!is_free(again)); /* it is told that locality 1 is one of its users */
    hear(0, 1);
    CHECK(is_free(again));
    localities_close(&localities);
}

/* One dies that has begun, and marked one that had died before. */
static void test_dead_in_turn(void)
{
    open_all();
    struct cohort__board_name name = take(0);
    hear(2, 0);
    CHECK(is_free(name));
    localities_close(&localities);
    open_all();
    name = take(1);
    hear(2, 0);
    CHECK(begin(1, name) && begin(2, name));
    leave(2, name);
    CHECK(!is_free(name));
    hear(2, 1);
    CHECK(is_free(name));
    localities_close(&localities);
}

/* Boards of another memory are not accepted, nor are numbers that can't exist. */
static void test_foreign(void)
{
    struct localities others;
    struct cohort__hub *hub;
    open_all();
    CHECK_INT(cohort__hub_create(&hub, 2), COHORT_OK);
    localities_open_shared(&others, hub, 0, 2);
    cohort__hub_destroy(hub);
    struct cohort__board_name name = take(0), foreign, bad = name;
    foreign = cohort__boards_take(others.processes[0]);
    CHECK(foreign.hub != name.hub);
    CHECK_INT(foreign.number, name.number);
    CHECK(!cohort__boards_has(localities.processes[0], foreign));
    CHECK(!cohort__boards_has(others.processes[0], name));
    cohort__boards_leave(localities.processes[0], foreign); /* does nothing */
    CHECK(take(0).number != name.number);
    bad.number = COHORT__NUM_BOARDS;
    CHECK(!cohort__boards_has(localities.processes[0], bad));
    CHECK(!cohort__boards_has(localities.processes[0], (struct cohort__board_name){0}));
    localities_close(&others);
    localities_close(&localities);
}

/* Without shared memory there are no boards. */
static void test_alone(void)
{
    uint32_t slot = 77;
    localities_open(&localities, 0, 2, 0);
    CHECK_INT((long long)take(0).hub, 0);
    CHECK(!cohort__boards_slot_of(localities.processes[0], 0, &slot));
    CHECK(!cohort__boards_slot_of(localities.processes[0], 1, &slot));
    CHECK_INT(slot, 77);
    CHECK(!cohort__boards_has(localities.processes[0], (struct cohort__board_name){5, 1, 1}));
    localities_close(&localities);
}

static void test_slots(void)
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

static const struct test_case cases[] = {
    {"all", test_all},
    {"contents", test_contents},
    {"free", test_free},
    {"leaving", test_leaving},
    {"late", test_late},
    {"dead", test_dead},
    {"dead_taker", test_dead_taker},
    {"dead_in_turn", test_dead_in_turn},
    {"foreign", test_foreign},
    {"alone", test_alone},
    {"slots", test_slots},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
