/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/commons.h"

#include <pthread.h>
#include <sched.h>

#include "runtime/base/container.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

/* Something to look at. */
struct board {
    struct cohort__watch watch;
    _Atomic uint32_t num_looks;
    atomic_bool is_there; /* what a call waits for, which the look takes */
};

static bool look(struct cohort__watch *watch)
{
    struct board *board = COHORT_CONTAINER_OF(watch, struct board, watch);
    atomic_fetch_add(&board->num_looks, 1);
    bool is_there = atomic_load(&board->is_there);
    if (is_there) {
        cohort__watch_end(watch);
        atomic_store(&board->is_there, false);
    }
    return is_there;
}

static void check_looks(struct board *board, uint32_t num)
{
    CHECK_INT(atomic_exchange(&board->num_looks, 0), num);
}

TEST(looks_where_calls_wait)
{
    struct board boards[2] = {{.watch.look = look}, {.watch.look = look}};
    struct cohort__watches watches;
    cohort__watches_init(&watches);
    CHECK(!cohort__watches_look(&watches));
    cohort__watch_begin(&watches, &boards[0].watch);
    cohort__watch_begin(&watches, &boards[0].watch);
    CHECK(!cohort__watches_look(&watches));
    check_looks(&boards[0], 1);
    check_looks(&boards[1], 0);
    cohort__watch_begin(&watches, &boards[1].watch);
    atomic_store(&boards[0].is_there, true);
    CHECK(cohort__watches_look(&watches));
    CHECK(!cohort__watches_look(&watches));
    check_looks(&boards[0], 2);
    check_looks(&boards[1], 2);
    cohort__watch_end(&boards[0].watch);
    cohort__watches_look(&watches);
    check_looks(&boards[0], 0);
    check_looks(&boards[1], 1);
    cohort__watch_end(&boards[1].watch);
    cohort__watches_remove(&watches, &boards[0].watch);
    cohort__watches_look(&watches);
    check_looks(&boards[0], 0);
    cohort__watches_remove(&watches, &boards[1].watch);
    CHECK(cohort__list_is_empty(&watches.list));
}

/* One without calls leaves the list, and comes back with the next call. */
TEST(idle)
{
    struct board board = {.watch.look = look};
    struct cohort__watches watches;
    cohort__watches_init(&watches);
    for (int round = 0; round < 3; round++) {
        cohort__watch_begin(&watches, &board.watch);
        cohort__watches_look(&watches);
        check_looks(&board, 1);
        cohort__watch_end(&board.watch);
        for (int i = 0; i < 1000; i++)
            cohort__watches_look(&watches);
        check_looks(&board, 0);
        CHECK(cohort__list_is_empty(&watches.list));
    }
    cohort__watches_remove(&watches, &board.watch); /* is not in it */
    cohort__watch_begin(&watches, &board.watch);
    cohort__watch_end(&board.watch);
    cohort__watches_remove(&watches, &board.watch); /* is about to be in it */
    cohort__watches_look(&watches);
    CHECK(cohort__list_is_empty(&watches.list));
}

enum { NUM_ROUNDS = 20000, USUAL_ROUNDS = 4000, FEW_ROUNDS = 1000, NUM_BOARDS = 3 };

struct race {
    struct cohort__watches watches;
    struct board boards[NUM_BOARDS];
    _Atomic uint32_t num_callers;
};

/* Each call waits until a look has seen it. */
static void *call(void *arg)
{
    struct race *race = arg;
    uint32_t own = atomic_fetch_add(&race->num_callers, 1);
    struct board *board = &race->boards[own];
    uint64_t num_rounds = test_rounds_of(NUM_ROUNDS, USUAL_ROUNDS, FEW_ROUNDS);
    for (uint32_t i = 0; i < num_rounds; i++) {
        cohort__watch_begin(&race->watches, &board->watch);
        atomic_store(&board->is_there, true);
        while (atomic_load(&board->is_there))
            sched_yield();
        for (uint32_t pause = i * 7 % 4000; pause > 0; pause--)
            atomic_load(&board->is_there); /* so that the board is dropped now and then */
    }
    return arg;
}

TEST(calls_race_with_looks)
{
    static struct race race;
    pthread_t threads[NUM_BOARDS];
    cohort__watches_init(&race.watches);
    for (int i = 0; i < NUM_BOARDS; i++) {
        race.boards[i].watch.look = look;
        threads[i] = new_thread(call, &race);
    }
    for (int i = 0; i < NUM_BOARDS; i++)
        while (pthread_tryjoin_np(threads[i], NULL) != 0)
            cohort__watches_look(&race.watches);
}
