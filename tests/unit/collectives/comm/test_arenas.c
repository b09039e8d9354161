/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/arenas.h"

#include "runtime/base/container.h"
#include "tests/support/test.h"

enum { NUM = 6, QUARTER = COHORT__ARENAS_MOST / 4 };

struct board {
    struct cohort__arena arena;
    bool is_in_use;
    int num_asked;
};

static bool give_back(struct cohort__arena *arena)
{
    struct board *board = COHORT_CONTAINER_OF(arena, struct board, arena);
    board->num_asked++;
    if (board->is_in_use)
        return false;
    arena->bytes = 0;
    return true;
}

static struct board boards[NUM];
static struct cohort__arenas arenas;

static void begin(void)
{
    cohort__arenas_init(&arenas);
    for (int i = 0; i < NUM; i++)
        boards[i] = (struct board){.arena.give_back = give_back};
}

static void check_bytes(const size_t *quarters)
{
    size_t all = 0;
    for (int i = 0; i < NUM; i++) {
        size_t bytes, all_bytes;
        cohort__arenas_look(&arenas, &boards[i].arena, &bytes, &all_bytes);
        CHECK_INT(bytes, (long long)(quarters[i] * QUARTER));
        CHECK_INT(all_bytes, (long long)arenas.bytes);
        all += bytes;
    }
    CHECK_INT(arenas.bytes, (long long)all);
}

static void grow(int number, size_t quarters)
{
    cohort__arenas_grow(&arenas, &boards[number].arena, quarters * QUARTER);
}

static void end(void)
{
    for (int i = 0; i < NUM; i++)
        cohort__arenas_remove(&arenas, &boards[i].arena);
    CHECK_INT(arenas.bytes, 0);
    CHECK(cohort__list_is_empty(&arenas.list));
    cohort__arenas_fini(&arenas);
}

/* What has grown least recently is given back first, and no more than has to be. */
TEST(least_recent)
{
    begin();
    for (int i = 0; i < 3; i++)
        grow(i, 1);
    grow(0, 2);
    check_bytes((size_t[NUM]){2, 1, 1});
    for (int i = 0; i < NUM; i++)
        CHECK_INT(boards[i].num_asked, 0);
    grow(3, 1);
    check_bytes((size_t[NUM]){2, 0, 1, 1});
    grow(4, 1);
    check_bytes((size_t[NUM]){2, 0, 0, 1, 1});
    grow(5, 1);
    check_bytes((size_t[NUM]){0, 0, 0, 1, 1, 1});
    grow(1, 1);
    check_bytes((size_t[NUM]){0, 1, 0, 1, 1, 1});
    end();
}

/* What is in use stays, and is asked again after all others. */
TEST(in_use)
{
    begin();
    boards[0].is_in_use = boards[1].is_in_use = true;
    for (int i = 0; i < 4; i++)
        grow(i, 1);
    grow(4, 1);
    check_bytes((size_t[NUM]){1, 1, 0, 1, 1});
    boards[3].is_in_use = true;
    grow(5, 4);
    check_bytes((size_t[NUM]){1, 1, 0, 1, 0, 4});
    grow(2, 1);
    check_bytes((size_t[NUM]){1, 1, 1, 1, 0, 0});
    end();
}

/* The one that grows is never asked, even if it is larger than all may be. */
TEST(large)
{
    begin();
    grow(0, 1);
    grow(1, 5);
    check_bytes((size_t[NUM]){0, 5});
    CHECK_INT(boards[1].num_asked, 0);
    cohort__arenas_remove(&arenas, &boards[1].arena);
    check_bytes((size_t[NUM]){0, 0});
    end();
}
