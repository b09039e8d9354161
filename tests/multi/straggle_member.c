/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cohort/cohort.h>

#include "tests/support/test.h"

/* One locality is late for what the others wait for, and prints from when to when. Usage:
 * straggle_member [HOW WHAT]... as `compute barrier=levels sleep channel`: how it passes the time,
 * what the others wait for, and the row, if that is a collective. */

enum { STRAGGLER = 2, DELAY_MS = 200 };

struct late {
    const char *how;      /* compute, sleep */
    uint32_t number;      /* of the case */
    cohort_comm *control; /* by which the others tell the straggler that they wait for it */
};

struct words {
    int num;
    char **words;
};

static uint64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

/* Until each has told that it has come so far. */
static void get_from_others(const struct late *late, uint64_t tag)
{
    for (uint32_t site = 0; site < cohort_num_localities(); site++) {
        char none;
        size_t bytes;
        if (site != STRAGGLER)
            CHECK_OK(cohort_await(cohort_channel_get(late->control, site, tag, &none, 0, &bytes)));
    }
}

/* Begins when all others have called: so what they wait then is for this one, and no longer for
 * what was before, which takes its time where there are more threads than cores. */
static void be_late(const struct late *late)
{
    get_from_others(late, late->number + 1);
    uint64_t begin = now(), ns = DELAY_MS * UINT64_C(1000000);
    if (strcmp(late->how, "sleep") == 0)
        CHECK_OK(cohort_await(cohort_sleep(ns)));
    else
        while (now() < begin + ns)
            ;
    printf("delay %u %llu %llu\n", (unsigned)late->number, (unsigned long long)begin,
           (unsigned long long)now());
}

static cohort_comm *join(const char *name, const char *algorithms)
{
    cohort_comm *comm = NULL;
    const cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                         .this_site = cohort_locality(),
                                         .algorithms = algorithms};
    CHECK_OK(cohort_await(cohort_comm_create(&comm, name, &options)));
    return comm;
}

static bool is_straggler(void)
{
    return cohort_locality() == STRAGGLER;
}

/* FUTURE is that of a call for which the straggler will be late. */
static void wait_for_late(const struct late *late, cohort_future *future)
{
    cohort_future *set = cohort_channel_set(late->control, STRAGGLER, late->number + 1, NULL, 0);
    CHECK_OK(cohort_await(future));
    CHECK_OK(cohort_await(set));
}

static void meet(cohort_comm *comm, uint64_t generation)
{
    CHECK_OK(cohort_await(cohort_barrier(comm, generation)));
}

/* Collectives. Generation 1 was a barrier, so that all begin together; all are called again, as
 * later calls take other ways than the first one. */

static void barrier(cohort_comm *comm, const struct late *late)
{
    meet(comm, 2);
    if (!is_straggler()) {
        wait_for_late(late, cohort_barrier(comm, 3));
        return;
    }
    be_late(late);
    meet(comm, 3);
}

static void all_reduce(cohort_comm *comm, const struct late *late)
{
    for (uint64_t generation = 2; generation < 4; generation++) {
        double in[64] = {1}, out[64];
        if (generation == 3 && is_straggler())
            be_late(late);
        cohort_future *future =
            cohort_all_reduce(comm, in, out, 64, COHORT_DOUBLE, COHORT_SUM, generation);
        if (generation == 3 && !is_straggler())
            wait_for_late(late, future);
        else
            CHECK_OK(cohort_await(future));
        CHECK(out[0] == cohort_num_localities());
    }
}

/* Down a chain of sites: only the last one waits for the straggler, who passes on what it gets. */
static void broadcast(cohort_comm *comm, const struct late *late)
{
    double block[64] = {0};
    if (is_straggler())
        be_late(late);
    cohort_future *future = cohort_locality() == 0
                                ? cohort_broadcast_to(comm, block, 64, COHORT_DOUBLE, 2)
                                : cohort_broadcast_from(comm, block, 64, COHORT_DOUBLE, 2);
    if (is_straggler())
        CHECK_OK(cohort_await(future));
    else
        wait_for_late(late, future);
}

/* Neighbours in a chain: one is late, so its neighbours are late a step after, and theirs. */
static void chain(cohort_comm *comm, const struct late *late)
{
    uint32_t me = cohort_locality(), num = cohort_num_localities();
    double out[2] = {1, 1}, in[2];
    cohort_neighbour to[2], from[2];
    size_t n = 0;
    if (me > 0)
        to[n++] = (cohort_neighbour){me - 1, 0, 1};
    if (me + 1 < num)
        to[n++] = (cohort_neighbour){me + 1, 1, 1};
    memcpy(from, to, sizeof(from));
    if (is_straggler())
        be_late(late);
    uint32_t distance = me > STRAGGLER ? me - STRAGGLER : STRAGGLER - me;
    for (uint64_t generation = 2; generation < 6; generation++) {
        cohort_future *future =
            cohort_exchange(comm, out, to, n, in, from, n, COHORT_DOUBLE, generation);
        if (generation == distance + 1)
            wait_for_late(late, future);
        else
            CHECK_OK(cohort_await(future));
    }
}

/* The others wait for a message from it. */
static void channel(cohort_comm *comm, const struct late *late)
{
    uint32_t me = cohort_locality(), block = 0;
    size_t bytes;
    if (is_straggler()) {
        be_late(late);
        for (uint32_t site = 0; site < cohort_num_localities(); site++)
            if (site != me)
                CHECK_OK(cohort_await(cohort_channel_set(comm, site, 1, &me, sizeof(me))));
    } else {
        wait_for_late(late, cohort_channel_get(comm, STRAGGLER, 1, &block, sizeof(block), &bytes));
        CHECK_INT(block, STRAGGLER);
    }
}

/* Within a locality: it waits for a task that it has started, and which runs. */
struct own {
    const struct late *late;
    cohort_mutex *mutex;
    atomic_bool has_begun, is_waiting;
};

static cohort_status slow_task(void *arg)
{
    struct own *own = arg;
    if (own->mutex)
        CHECK_OK(cohort_mutex_lock(own->mutex, UINT64_MAX));
    atomic_store(&own->has_begun, true);
    YIELD_WHILE(!atomic_load(&own->is_waiting));
    be_late(own->late);
    if (own->mutex)
        CHECK_OK(cohort_mutex_unlock(own->mutex));
    return COHORT_OK;
}

static void wait_for_own(cohort_comm *comm, struct own *own)
{
    if (is_straggler()) {
        cohort_future *future = cohort_async(slow_task, own);
        YIELD_WHILE(!atomic_load(&own->has_begun));
        atomic_store(&own->is_waiting, true);
        if (own->mutex) {
            CHECK_OK(cohort_mutex_lock(own->mutex, UINT64_MAX));
            CHECK_OK(cohort_mutex_unlock(own->mutex));
        }
        CHECK_OK(cohort_await(future));
        meet(comm, 2);
    } else {
        wait_for_late(own->late, cohort_barrier(comm, 2));
    }
}

static void task(cohort_comm *comm, const struct late *late)
{
    wait_for_own(comm, &(struct own){.late = late});
}

static void mutex(cohort_comm *comm, const struct late *late)
{
    struct own own = {.late = late};
    CHECK_OK(cohort_mutex_create(&own.mutex));
    wait_for_own(comm, &own);
    cohort_mutex_unref(own.mutex);
}

static void tell_late(const struct late *late, uint64_t tag)
{
    cohort_future *set = cohort_channel_set(late->control, STRAGGLER, tag, NULL, 0);
    CHECK_OK(cohort_await(set));
}

/* The straggler calls when the others have given up, and have said so. */
static void deadline(cohort_comm *comm, const struct late *late)
{
    const uint64_t given_up = late->number + 2; /* the case is the last one */
    const cohort_call_options options = {.deadline = 1000000000};
    if (is_straggler()) {
        be_late(late);
        get_from_others(late, given_up);
        CHECK(cohort_await(cohort_barrier(comm, 2)) != COHORT_OK);
        return;
    }
    CHECK_OK(cohort_comm_next_call(comm, &options));
    cohort_future *future = cohort_barrier(comm, 2);
    tell_late(late, late->number + 1);
    CHECK_INT(cohort_await(future), COHORT_ERR_TIMEOUT);
    tell_late(late, given_up);
}

/* The straggler dies instead of calling. */
static void death(cohort_comm *comm, const struct late *late)
{
    if (is_straggler()) {
        be_late(late);
        fflush(stdout);
        kill(getpid(), SIGKILL);
    }
    cohort_future *future = cohort_barrier(comm, 2);
    tell_late(late, late->number + 1);
    CHECK_INT(cohort_await(future), COHORT_ERR_PEER_DIED);
}

/* What has which row is said by `barrier=levels`, and its name is in front. */
static void run_case(cohort_comm *control, uint32_t number, const char *how, const char *what)
{
    static const struct {
        const char *name;
        void (*function)(cohort_comm *comm, const struct late *late);
    } cases[] = {{"barrier", barrier}, {"broadcast", broadcast}, {"all_reduce", all_reduce},
                 {"chain", chain},     {"channel", channel},     {"task", task},
                 {"mutex", mutex},     {"deadline", deadline},   {"death", death}};
    const struct late late = {how, number, control};
    cohort_comm *comm = join(what, strchr(what, '=') ? what : NULL);
    meet(comm, 1);
    for (size_t i = 0; i < NUM_OF(cases); i++)
        if (strncmp(what, cases[i].name, strcspn(what, "=")) == 0)
            cases[i].function(comm, &late);
    cohort_comm_unref(comm);
}

static cohort_status run(void *arg)
{
    const struct words *words = arg;
    cohort_comm *control = join("control", NULL);
    for (int i = 0; i + 1 < words->num; i += 2)
        run_case(control, (uint32_t)i / 2, words->words[i], words->words[i + 1]);
    cohort_comm_unref(control);
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    struct words words = {argc - 1, argv + 1};
    return cohort_main(argc, argv, run, &words);
}
