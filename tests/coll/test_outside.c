/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "runtime/base/random.h"
#include "runtime/proc/process.h"
#include "runtime/task/worker.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

/* Threads outside of tasks call collectives while the runtime ends. */

enum { SITES = 2, MOST_SITES = 6, NUM_CALLS = 6, NUM_ROUNDS = 300, MANY = 20000 };
static atomic_bool has_called, is_inside, has_waited, has_stopped;
static cohort_future *_Atomic awaited; /* the task's */

void __real_cohort__foreign_leave(void);
void __real_cohort__process_stop(struct cohort__process *process);

/* The call has completed the task's future. It goes on as late as it may. */
void __wrap_cohort__foreign_leave(void)
{
    __real_cohort__foreign_leave();
    if (!is_inside || !cohort_future_ready(awaited) || atomic_exchange(&has_waited, true))
        return;
    while (cohort__scheduler.is_up)
        sched_yield();
    while (!cohort__scheduler.num_foreign && !has_stopped)
        sched_yield();
}

void __wrap_cohort__process_stop(struct cohort__process *process)
{
    has_stopped = true;
    CHECK(!is_inside);
    __real_cohort__process_stop(process);
}

static cohort_comm *create(uint32_t num_sites, uint32_t site)
{
    cohort_comm *comm;
    const cohort_comm_options options = {.num_sites = num_sites, .this_site = site};
    CHECK_OK(cohort_await(cohort_comm_create(&comm, "outside", &options)));
    return comm;
}

static cohort_status inside(void *arg)
{
    cohort_comm *comm = create(SITES, 0);
    cohort_future *future = cohort_barrier(comm, 1);
    awaited = future;
    has_called = true;
    CHECK_OK(cohort_await(cohort_future_ref(future)));
    cohort_comm_unref(comm);
    return COHORT_OK;
}

static void *outside(void *arg)
{
    cohort_comm *comm = create(SITES, 1);
    while (!has_called)
        sched_yield();
    is_inside = true;
    cohort_future *future = cohort_barrier(comm, 1);
    is_inside = false;
    CHECK_OK(cohort_await(future));
    cohort_comm_unref(comm);
    return NULL;
}

/* The call ends what the last task waits for, so the runtime has no reason to go on before the call
 * has returned. */
TEST(last_call)
{
    CHECK_OK(cohort_start(&(cohort_start_options){.workers = 2}));
    cohort_future *future = cohort_async(inside, NULL);
    pthread_t thread = new_thread(outside, NULL);
    CHECK_OK(cohort_await(future));
    CHECK_OK(cohort_stop(COHORT_OK));
    end_thread(thread);
    CHECK(has_waited);
    cohort_future_unref(awaited);
}

struct player {
    uint64_t seed;
    uint32_t num_sites, site;
    pthread_t thread;
    cohort_future *task; /* NULL: it is a thread */
};

static void call(cohort_comm *comm, const struct player *player, uint64_t kind)
{
    static uint64_t room[MOST_SITES][2][MANY];
    const uint32_t next = (player->site + 1) % player->num_sites;
    const uint32_t last = (player->site + player->num_sites - 1) % player->num_sites;
    uint64_t *in = room[player->site][0], *out = room[player->site][1];
    uint64_t generation = COHORT_AUTO_GENERATION;
    cohort_future *future;
    cohort_comm *other;
    switch (kind) {
    case 0:
        CHECK_OK(cohort_await(cohort_barrier(comm, generation)));
        break;
    case 1:
        CHECK_OK(cohort_await(
            cohort_all_reduce(comm, in, out, MANY, COHORT_UINT64, COHORT_SUM, generation)));
        break;
    case 2:
        future = cohort_channel_set(comm, next, 1, in, MANY);
        CHECK_OK(cohort_await(cohort_channel_get(comm, last, 1, out, MANY, NULL)));
        CHECK_OK(cohort_await(future));
        break;
    default:
        CHECK_OK(cohort_await(cohort_comm_dup(&other, comm, generation)));
        CHECK_OK(cohort_await(cohort_barrier(other, generation)));
        cohort_comm_unref(other);
    }
}

/* In the last call all wait for all. With it the tasks end, and so may the runtime, while the
 * threads are still in it, or give their endpoints back. */
static void play(const struct player *player)
{
    struct cohort__random random = cohort__random_seeded(player->seed);
    cohort_comm *comm;
    const cohort_comm_options options = {
        .num_sites = player->num_sites, .this_site = player->site, .auto_generation = true};
    CHECK_OK(cohort_await(cohort_comm_create(&comm, "random", &options)));
    for (uint64_t left = cohort__random_below(&random, NUM_CALLS); left > 0; left--)
        call(comm, player, cohort__random_below(&random, 4));
    call(comm, player, cohort__random_below(&random, 2));
    cohort_comm_unref(comm);
}

static cohort_status play_inside(void *arg)
{
    play(arg);
    return COHORT_OK;
}

static void *play_outside(void *arg)
{
    play(arg);
    return NULL;
}

TEST(random)
{
    for (uint64_t seed = 1; seed <= test_rounds(NUM_ROUNDS, 60); seed++) {
        struct player players[MOST_SITES];
        struct cohort__random random = cohort__random_seeded(seed + NUM_ROUNDS);
        const uint32_t num_sites = 2 + (uint32_t)cohort__random_below(&random, MOST_SITES - 1);
        CHECK_OK(cohort_start(&(cohort_start_options){.workers = 2}));
        for (uint32_t i = 0; i < num_sites; i++) {
            players[i] = (struct player){.seed = seed, .num_sites = num_sites, .site = i};
            if (i == 0 || cohort__random_below(&random, 2))
                players[i].task = cohort_async(play_inside, &players[i]);
            else
                players[i].thread = new_thread(play_outside, &players[i]);
        }
        CHECK_OK(cohort_stop(COHORT_OK));
        for (uint32_t i = 0; i < num_sites; i++)
            if (players[i].task)
                CHECK_OK(cohort_await(players[i].task));
            else
                end_thread(players[i].thread);
    }
}
