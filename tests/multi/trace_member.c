/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cohort/cohort.h>

#include "tests/support/test.h"

/* Programs of which the trace is looked at: `straggle_barrier` and so on. */

#define NOT_INLINE __attribute__((noinline))

enum { STRAGGLER = 2, DELAY_MS = 200 };

static uint64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

NOT_INLINE static void compute(void)
{
    uint64_t end = now() + DELAY_MS * UINT64_C(1000000);
    while (now() < end)
        ;
}

static cohort_comm *join(const char *algorithms)
{
    cohort_comm *comm = NULL;
    const cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                         .this_site = cohort_locality(),
                                         .algorithms = algorithms};
    CHECK_OK(cohort_await(cohort_comm_create(&comm, "halo", &options)));
    return comm;
}

NOT_INLINE static void meet(cohort_comm *comm, uint64_t generation)
{
    CHECK_OK(cohort_await(cohort_barrier(comm, generation)));
}

/* How long the straggler took, by its own clock. */
static void print_delay(uint64_t begin)
{
    printf("delay %llu %llu\n", (unsigned long long)begin, (unsigned long long)now());
}

/* One comes late to a barrier, since it computes. */
static cohort_status barrier(void *arg)
{
    cohort_comm *comm = join(NULL);
    meet(comm, 1);
    if (cohort_locality() == STRAGGLER) {
        uint64_t begin = now();
        compute();
        print_delay(begin);
    }
    meet(comm, 2);
    meet(comm, 3);
    cohort_comm_unref(comm);
    return COHORT_OK;
}

/* Since it sleeps, and the collective is of messages. */
static cohort_status reduce(void *arg)
{
    cohort_comm *comm = join("all_reduce=ring");
    double in = 1, out;
    meet(comm, 1);
    if (cohort_locality() == STRAGGLER) {
        uint64_t begin = now();
        CHECK_OK(cohort_await(cohort_sleep(DELAY_MS * UINT64_C(1000000))));
        print_delay(begin);
    }
    CHECK_OK(cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 2)));
    cohort_comm_unref(comm);
    return COHORT_OK;
}

/* In phases: within hosts, and between them. */
static cohort_status levels(void *arg)
{
    cohort_comm *comm = join("all_reduce=levels");
    double in = 1, out;
    CHECK_OK(cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 1)));
    cohort_comm_unref(comm);
    return COHORT_OK;
}

/* Neighbours in a chain: one is late, so its neighbours are late a step after, and theirs. */
static cohort_status chain(void *arg)
{
    cohort_comm *comm = join(NULL);
    uint32_t me = cohort_locality(), num = cohort_num_localities();
    double out[2] = {1, 1}, in[2];
    cohort_neighbour to[2], from[2];
    size_t n = 0;
    if (me > 0)
        to[n++] = (cohort_neighbour){me - 1, 0, 1};
    if (me + 1 < num)
        to[n++] = (cohort_neighbour){me + 1, 1, 1};
    memcpy(from, to, sizeof(from));
    meet(comm, 1);
    if (me == STRAGGLER) {
        uint64_t begin = now();
        compute();
        print_delay(begin);
    }
    for (uint64_t generation = 2; generation < 6; generation++)
        CHECK_OK(cohort_await(
            cohort_exchange(comm, out, to, n, in, from, n, COHORT_DOUBLE, generation)));
    cohort_comm_unref(comm);
    return COHORT_OK;
}

/* The others wait for a message from it. */
static cohort_status channel(void *arg)
{
    cohort_comm *comm = join(NULL);
    uint32_t me = cohort_locality();
    meet(comm, 1);
    if (me == STRAGGLER) {
        uint64_t begin = now();
        compute();
        print_delay(begin);
        for (uint32_t site = 0; site < cohort_num_localities(); site++)
            if (site != me)
                CHECK_OK(cohort_await(cohort_channel_set(comm, site, 1, &me, sizeof(me))));
    } else {
        uint32_t block;
        size_t bytes;
        CHECK_OK(
            cohort_await(cohort_channel_get(comm, STRAGGLER, 1, &block, sizeof(block), &bytes)));
    }
    cohort_comm_unref(comm);
    return COHORT_OK;
}

NOT_INLINE static cohort_status slow(void *arg)
{
    return cohort_await(cohort_sleep(DELAY_MS * UINT64_C(1000000)));
}

/* A task of the same locality, which has begun when it is awaited. */
static cohort_status task(void *arg)
{
    cohort_future *future = cohort_async(slow, arg);
    CHECK_OK(cohort_await(cohort_sleep(DELAY_MS * UINT64_C(100000))));
    return cohort_await(future);
}

/* Locality 1 is killed while the others wait for it. */
static cohort_status killed(void *arg)
{
    cohort_comm *comm = join(NULL);
    meet(comm, 1);
    if (cohort_locality() == 1)
        kill(getpid(), SIGKILL);
    cohort_status status = cohort_await(cohort_barrier(comm, 2));
    cohort_comm_unref(comm);
    return status;
}

/* The daemon of locality 2 is killed: it is the parent of its guardian. */
static cohort_status lost(void *arg)
{
    char path[64], word[64];
    int parent = 0;
    cohort_comm *comm = join(NULL);
    meet(comm, 1);
    if (cohort_locality() == STRAGGLER) {
        snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
        FILE *file = fopen(path, "r");
        CHECK(file);
        while (fscanf(file, "%63s", word) == 1 && strcmp(word, "PPid:") != 0)
            ;
        CHECK_INT(fscanf(file, "%d", &parent), 1);
        fclose(file);
        kill(parent, SIGKILL);
    }
    cohort_status status = cohort_await(cohort_barrier(comm, 2));
    cohort_comm_unref(comm);
    return status;
}

static cohort_status nothing(void *arg)
{
    return COHORT_OK;
}

/* Many tasks: more than COHORT_TRACE_MIB=1 has room for. */
static cohort_status many(void *arg)
{
    for (int i = 0; i < 100000; i++)
        CHECK_OK(cohort_await(cohort_async(nothing, arg)));
    return COHORT_OK;
}

/* A child does not write into the trace, and a program that is started does not, either. */
static cohort_status forks(void *arg)
{
    CHECK(!getenv("COHORT_TRACE"));
    return many(arg);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        cohort_task_function *function;
    } programs[] = {{"barrier", barrier}, {"reduce", reduce}, {"levels", levels}, {"chain", chain},
                    {"channel", channel}, {"task", task},     {"killed", killed}, {"lost", lost},
                    {"many", many},       {"forks", forks}};
    for (size_t i = 0; argc == 2 && i < NUM_OF(programs); i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            return cohort_main(argc, argv, programs[i].function, NULL);
    return 2;
}
