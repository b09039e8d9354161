/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/task/worker.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* Tasks that may move. The waits themselves are in test_await.c, which is built with such tasks,
 * too. */

static cohort_status run_movable(unsigned num_workers, cohort_task_function *function, void *arg)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = num_workers;
    options.tasks_move = true;
    return run_tasks_with(&options, function, arg);
}

/* A task waits, and its worker is kept busy until it has gone on. So it has to do so elsewhere. It
 * goes mostly the same way, and yet no pool of stacks grows: 3 a worker are enough. */
enum { MOST_STACKS = 16 };

struct mover {
    cohort_promise *promise;
    cohort_future *future;
    int worker; /* on which it has waited */
    bool has_moved;
    const struct cohort__fiber *stack;
    atomic_bool is_on; /* it has gone on */
};

static cohort_status keep_busy(void *arg)
{
    struct mover *mover = arg;
    cohort_promise_fulfil(mover->promise, NULL);
    /* On another worker it was stolen, and would keep that one from taking the mover. */
    while (cohort_worker_index() == mover->worker && !atomic_load(&mover->is_on))
        ;
    return COHORT_OK;
}

static cohort_status move(void *arg)
{
    struct mover *mover = arg;
    mover->worker = cohort_worker_index();
    mover->stack = cohort__worker_self->fiber;
    write_errno(mover->worker + 1000);
    cohort_fail(COHORT_ERR_FAILED, "on %d", mover->worker);
    cohort_future *busy = cohort_async(keep_busy, mover);
    CHECK_OK(cohort_await(mover->future));
    atomic_store(&mover->is_on, true);
    CHECK_INT(read_errno(), mover->worker + 1000);
    CHECK_INT(cohort__error_slot()->status, COHORT_ERR_FAILED);
    mover->has_moved = cohort_worker_index() != mover->worker;
    CHECK_OK(cohort_await(busy));
    return COHORT_OK;
}

/* The stacks on which movers have run. */
struct seen {
    const struct cohort__fiber *stacks[MOST_STACKS];
    int num;
};

static void see(struct seen *seen, const struct cohort__fiber *stack)
{
    for (int i = 0; i < seen->num; i++)
        if (seen->stacks[i] == stack)
            return;
    CHECK(seen->num < MOST_STACKS);
    seen->stacks[seen->num++] = stack;
}

static cohort_status move_often(void *arg)
{
    struct seen seen = {.num = 0};
    int num_moved = 0;
    for (int i = 0; i < 1000 || num_moved == 0; i++) {
        struct mover mover = {.worker = -1};
        mover.promise = new_promise(&mover.future);
        cohort_future *moved = cohort_async(move, &mover);
        /* So that it does not begin on top of this task, whose stack is a thread's own one. */
        YIELD_WHILE(!atomic_load(&mover.is_on));
        CHECK_OK(cohort_await(moved));
        num_moved += mover.has_moved;
        see(&seen, mover.stack);
    }
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(moves)
{
    for (unsigned num_workers = 2; num_workers <= 4; num_workers++)
        CHECK_OK(run_movable(num_workers, move_often, NULL));
}

/* A task runs another one in its place, on its stack. The stack moves only if both may move: where
 * one of them is pinned, the inner one goes on where it has waited, although that worker is kept
 * busy until all others have had the time to take it. Where both may, it is kept busy until one has
 * done so: a worker that has no core of its own takes its time. */
struct pair {
    enum cohort_task_mobility outer, inner;
    struct mover mover;
};

static bool may_move(const struct pair *pair)
{
    return pair->outer == COHORT_TASK_MOVABLE && pair->inner == COHORT_TASK_MOVABLE;
}

static cohort_status keep_busy_for_a_while(void *arg)
{
    struct pair *pair = arg;
    struct mover *mover = &pair->mover;
    cohort_promise_fulfil(mover->promise, NULL);
    uint64_t end = may_move(pair) ? UINT64_MAX : cohort__clock_now() + 200000;
    while (cohort_worker_index() == mover->worker && !atomic_load(&mover->is_on) &&
           cohort__clock_now() < end)
        ;
    return COHORT_OK;
}

static cohort_status wait_inside(void *arg)
{
    struct pair *pair = arg;
    struct mover *mover = &pair->mover;
    bool is_in_place = cohort__worker_self->fiber == mover->stack; /* else it was stolen */
    mover->worker = cohort_worker_index();
    cohort_future *busy = cohort_async(keep_busy_for_a_while, pair);
    CHECK_OK(cohort_await(mover->future));
    atomic_store(&mover->is_on, true);
    mover->has_moved = is_in_place && cohort_worker_index() != mover->worker;
    CHECK_OK(cohort_await(busy));
    return COHORT_OK;
}

static cohort_status wait_outside(void *arg)
{
    struct pair *pair = arg;
    pair->mover.stack = cohort__worker_self->fiber;
    return cohort_await(
        cohort_async_with(wait_inside, pair, &(cohort_task_options){.mobility = pair->inner}));
}

static cohort_status wait_in_pairs(void *arg)
{
    const struct pair *kind = arg;
    int num_moved = 0;
    /* One that never moves only because the other worker has always stolen what should have kept
     * this one busy is tried again. */
    for (int i = 0; i < 100 || (may_move(kind) && num_moved == 0); i++) {
        struct pair pair = *kind;
        pair.mover.promise = new_promise(&pair.mover.future);
        cohort_future *outer =
            cohort_async_with(wait_outside, &pair, &(cohort_task_options){.mobility = kind->outer});
        YIELD_WHILE(!cohort_future_ready(outer));
        CHECK_OK(cohort_await(outer));
        num_moved += pair.mover.has_moved;
    }
    CHECK_INT(num_moved > 0, may_move(kind));
    return COHORT_OK;
}

TEST(pairs)
{
    for (int outer = COHORT_TASK_PINNED; outer <= COHORT_TASK_MOVABLE; outer++)
        for (int inner = COHORT_TASK_PINNED; inner <= COHORT_TASK_MOVABLE; inner++) {
            struct pair pair = {.outer = (enum cohort_task_mobility)outer,
                                .inner = (enum cohort_task_mobility)inner};
            CHECK_OK(run_tasks(2, wait_in_pairs, &pair));
        }
}

TEST_TASK(wrong_mobility, run_on(1, 1, task, NULL))
{
    cohort_task_options options = {.mobility = (enum cohort_task_mobility)3};
    CHECK_FAILS(cohort_await(cohort_async_with(wait_inside, NULL, &options)),
                COHORT_ERR_BAD_PARAMETER, "mobility is 3, not 0 to 2");
}

/* Many tasks wait for each other's promises in a ring, and each worker goes on with any of them.
 * What comes before the switch is over is the point here: a task often fulfils the promise for
 * which its neighbour has just begun to wait. */
enum { NUM_IN_RING = 24, NUM_ROUNDS = 400 };

struct ring {
    cohort_promise *promises[NUM_IN_RING][NUM_ROUNDS];
    cohort_future *futures[NUM_IN_RING][NUM_ROUNDS];
    _Atomic long sum;
};

struct place {
    struct ring *ring;
    int number;
};

static cohort_status go_round(void *arg)
{
    const struct place *place = arg;
    struct ring *ring = place->ring;
    int next = (place->number + 1) % NUM_IN_RING;
    for (int round = 0; round < NUM_ROUNDS; round++) {
        void *value = NULL;
        write_errno(round);
        CHECK_OK(cohort_await_value(ring->futures[place->number][round], &value));
        CHECK(value == ring);
        CHECK_INT(read_errno(), round);
        atomic_fetch_add(&ring->sum, 1);
        if (round + 1 < NUM_ROUNDS || next != 0)
            cohort_promise_fulfil(ring->promises[next][next == 0 ? round + 1 : round], ring);
    }
    return COHORT_OK;
}

static cohort_status go_round_all(void *arg)
{
    static struct ring ring;
    struct place places[NUM_IN_RING];
    cohort_future *ended[NUM_IN_RING];
    atomic_store(&ring.sum, 0);
    for (int i = 0; i < NUM_IN_RING; i++)
        for (int round = 0; round < NUM_ROUNDS; round++)
            ring.promises[i][round] = new_promise(&ring.futures[i][round]);
    for (int i = 0; i < NUM_IN_RING; i++) {
        places[i] = (struct place){&ring, i};
        ended[i] = cohort_async(go_round, &places[i]);
    }
    cohort_promise_fulfil(ring.promises[0][0], &ring);
    CHECK_OK(cohort_await(cohort_when_all(ended, NUM_IN_RING)));
    CHECK_INT(atomic_load(&ring.sum), NUM_IN_RING * NUM_ROUNDS);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(ring)
{
    for (unsigned num_workers = 1; num_workers <= 8; num_workers *= 2)
        CHECK_OK(run_movable(num_workers, go_round_all, NULL));
}
