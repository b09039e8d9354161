/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/deque.h"

#include "tests/support/test.h"
#include "tests/support/thread.h"

static void *item(uintptr_t number)
{
    return (void *)number;
}

static void check_ends(bool is_shared)
{
    struct cohort__deque deque;
    CHECK_OK(cohort__deque_init(&deque, 8, is_shared));
    CHECK(cohort__deque_is_empty(&deque));
    CHECK(!cohort__deque_pop(&deque));
    CHECK(!cohort__deque_steal(&deque, NULL));
    for (uintptr_t i = 1; i <= 5; i++)
        CHECK(cohort__deque_push(&deque, item(i)));
    CHECK_INT(cohort__deque_length(&deque), 5);
    CHECK(cohort__deque_pop(&deque) == item(5));
    CHECK(cohort__deque_steal(&deque, NULL) == item(1));
    CHECK(cohort__deque_steal(&deque, NULL) == item(2));
    CHECK(cohort__deque_pop(&deque) == item(4));
    CHECK(cohort__deque_pop(&deque) == item(3));
    CHECK(!cohort__deque_pop(&deque));
    CHECK(cohort__deque_push(&deque, item(6)));
    CHECK(cohort__deque_steal(&deque, NULL) == item(6));
    CHECK(!cohort__deque_pop(&deque));
    cohort__deque_fini(&deque);
    cohort__deque_fini(NULL);
}

TEST(ends)
{
    check_ends(false);
    check_ends(true);
}

TEST(take_alone)
{
    struct cohort__deque deque;
    CHECK_OK(cohort__deque_init(&deque, 32, false));
    CHECK(!cohort__deque_take(&deque, item(1)));
    for (uintptr_t i = 1; i <= 30; i++)
        CHECK(cohort__deque_push(&deque, item(i)));
    CHECK(!cohort__deque_take(&deque, item(31)));
    CHECK(!cohort__deque_take(&deque, item(14)) && cohort__deque_take(&deque, item(15)));
    CHECK(cohort__deque_take(&deque, item(1)) && !cohort__deque_take(&deque, item(1)));
    CHECK(cohort__deque_take(&deque, item(2)));
    CHECK(cohort__deque_take(&deque, item(29)) && cohort__deque_take(&deque, item(30)));
    for (uintptr_t i = 28; i >= 3; i--)
        CHECK(i == 15 || cohort__deque_pop(&deque) == item(i));
    CHECK(cohort__deque_is_empty(&deque));
    cohort__deque_fini(&deque);
}

TEST(take_beside_thieves)
{
    struct cohort__deque deque;
    CHECK_OK(cohort__deque_init(&deque, 8, true));
    for (uintptr_t i = 1; i <= 5; i++)
        CHECK(cohort__deque_push(&deque, item(i)));
    CHECK(!cohort__deque_take(&deque, item(2)) && !cohort__deque_take(&deque, item(4)));
    CHECK(cohort__deque_take(&deque, item(1)));
    CHECK(cohort__deque_steal(&deque, NULL) == item(2));
    CHECK(!cohort__deque_take(&deque, item(2)) && cohort__deque_take(&deque, item(3)));
    CHECK(cohort__deque_pop(&deque) == item(5) && cohort__deque_take(&deque, item(4)));
    CHECK(cohort__deque_is_empty(&deque));
    cohort__deque_fini(&deque);
}

TEST(full_and_grow)
{
    struct cohort__deque deque;
    CHECK_OK(cohort__deque_init(&deque, 4, true));
    uintptr_t pushed = 0, stolen = 0;
    for (int round = 0; round < 6; round++) {
        CHECK(cohort__deque_push(&deque, item(++pushed))); /* the ring wraps */
        CHECK(cohort__deque_steal(&deque, NULL) == item(++stolen));
        while (cohort__deque_push(&deque, item(pushed + 1)))
            pushed++;
        CHECK_INT(pushed - stolen, 4 << round);
        CHECK(cohort__deque_grow(&deque));
    }
    while (stolen < pushed / 2)
        CHECK(cohort__deque_steal(&deque, NULL) == item(++stolen));
    for (; pushed > stolen; pushed--)
        CHECK(cohort__deque_pop(&deque) == item(pushed));
    CHECK(cohort__deque_is_empty(&deque));
    cohort__deque_fini(&deque);
}

enum { NUM_ITEMS = 200000, NUM_THIEVES = 3 };
static struct cohort__deque shared;
static atomic_uchar taken[NUM_ITEMS + 1];
static atomic_bool is_over;

static void take(void *item)
{
    CHECK_INT(atomic_fetch_add(&taken[(uintptr_t)item], 1), 0);
}

static void *steal_all(void *arg)
{
    while (!atomic_load(&is_over) || !cohort__deque_is_empty(&shared)) {
        void *stolen = cohort__deque_steal(&shared, NULL);
        if (stolen)
            take(stolen);
    }
    return arg;
}

TEST(everything_is_taken_once)
{
    CHECK_OK(cohort__deque_init(&shared, 2, true));
    pthread_t thieves[NUM_THIEVES];
    for (int i = 0; i < NUM_THIEVES; i++)
        thieves[i] = new_thread(steal_all, NULL);
    for (uintptr_t i = 1; i <= NUM_ITEMS; i++) {
        if (!cohort__deque_push(&shared, item(i))) {
            CHECK(cohort__deque_grow(&shared));
            CHECK(cohort__deque_push(&shared, item(i)));
        }
        if (i % 3 == 0) {
            void *popped = cohort__deque_pop(&shared);
            if (popped)
                take(popped);
        }
        /* Most of them are the oldest if the thieves keep up. */
        if (i % 3 == 1 && cohort__deque_take(&shared, item(i)))
            take(item(i));
    }
    void *popped;
    while ((popped = cohort__deque_pop(&shared)))
        take(popped);
    atomic_store(&is_over, true);
    for (int i = 0; i < NUM_THIEVES; i++)
        end_thread(thieves[i]);
    for (int i = 1; i <= NUM_ITEMS; i++)
        CHECK_INT(taken[i], 1);
    cohort__deque_fini(&shared);
}
