/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cohort/cohort.h>

/* Locality 0 makes its part of a collective and then computes on all of its workers, until it is
 * told that all other sites have their results. It has a progress thread (COHORT_PROGRESS), without
 * which that would never be.
 *
 * usage: progress_member COLLECTIVE COUNT [ALGORITHMS [ROUNDS]]
 *
 * COLLECTIVE is one of those in `calls`, or "split", or "users", an all_reduce by an operation of
 * the user's, which has to run on workers, so that nobody computes meanwhile. There are as many
 * sites in each locality as workers, and COUNT elements in a block. Site 0 is the root.
 *
 * With ROUNDS, locality 0 computes for 10 ms in each of them instead, on core 0, which is meant to
 * be outside of the job's cores. Each other site, which calls 1 ms after it, prints how long it has
 * waited, in us: the median and the longest. */

enum { TAG_DONE = 1 };

struct site {
    cohort_comm *comm;
    uint32_t me;
    uint32_t num;
    uint64_t generation;
    uint64_t *in;
    uint64_t *out;
};

static const char *collective;
static size_t count;
static const char *algorithms;
static atomic_uint num_ready;
static size_t rounds;

static uint64_t value(uint32_t from, uint32_t to, size_t i)
{
    return from * UINT64_C(1000003) + to * UINT64_C(10007) + i;
}

static cohort_status set_up(struct site *site)
{
    size_t total = site->num * count;
    site->in = malloc(total * sizeof(*site->in));
    site->out = calloc(total, sizeof(*site->out));
    if (!site->in || !site->out)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu elements", total);
    for (uint32_t to = 0; to < site->num; to++)
        for (size_t i = 0; i < count; i++)
            site->in[to * count + i] = value(site->me, to, i);
    return COHORT_OK;
}

/* The calls, and what has to be at place I of OUT then. ------------------------------------- */

static cohort_future *call_broadcast(struct site *s)
{
    return s->me == 0 ? cohort_broadcast_to(s->comm, s->in, count, COHORT_UINT64, s->generation)
                      : cohort_broadcast_from(s->comm, s->out, count, COHORT_UINT64, s->generation);
}

static uint64_t want_broadcast(const struct site *s, size_t i)
{
    return s->me == 0 ? 0 : value(0, 0, i);
}

static cohort_future *call_all_reduce(struct site *s)
{
    return cohort_all_reduce(s->comm, s->in, s->out, count, COHORT_UINT64, COHORT_SUM,
                             s->generation);
}

static uint64_t want_all_reduce(const struct site *s, size_t i)
{
    uint64_t sum = 0;
    for (uint32_t from = 0; from < s->num; from++)
        sum += value(from, 0, i);
    return sum;
}

static cohort_future *call_all_to_all(struct site *s)
{
    return cohort_all_to_all(s->comm, s->in, s->out, count, COHORT_UINT64, s->generation);
}

static uint64_t want_all_to_all(const struct site *s, size_t i)
{
    return value((uint32_t)(i / count), s->me, i % count);
}

static cohort_future *call_scan(struct site *s)
{
    return cohort_scan(s->comm, s->in, s->out, count, COHORT_UINT64, COHORT_SUM, s->generation);
}

static uint64_t want_scan(const struct site *s, size_t i)
{
    uint64_t sum = 0;
    for (uint32_t from = 0; from <= s->me; from++)
        sum += value(from, 0, i);
    return sum;
}

static cohort_future *call_barrier(struct site *s)
{
    return cohort_barrier(s->comm, s->generation);
}

static const struct {
    const char *name;
    cohort_future *(*call)(struct site *site);
    uint64_t (*want)(const struct site *site, size_t i); /* NULL: nothing */
    bool has_blocks;                                     /* OUT is one for each site */
} calls[] = {
    {"broadcast", call_broadcast, want_broadcast, false},
    {"all_reduce", call_all_reduce, want_all_reduce, false},
    {"all_to_all", call_all_to_all, want_all_to_all, true},
    {"scan", call_scan, want_scan, false},
    {"barrier", call_barrier, NULL, false},
};
enum { NUM_CALLS = sizeof(calls) / sizeof(calls[0]) };

static cohort_status check(const struct site *site, size_t which)
{
    size_t num = !calls[which].want ? 0 : calls[which].has_blocks ? site->num * count : count;
    for (size_t i = 0; i < num; i++)
        if (site->out[i] != calls[which].want(site, i))
            return cohort_fail(COHORT_ERR_STATE,
                               "site %" PRIu32 ": element %zu is %" PRIu64 ", not %" PRIu64,
                               site->me, i, site->out[i], calls[which].want(site, i));
    return COHORT_OK;
}

/* What the two kinds of localities do ------------------------------------------------------- */

static void compute_until_ready(cohort_future *const *futures, uint32_t num)
{
    for (uint32_t i = 0; i < num; i++)
        while (!cohort_future_ready(futures[i]))
            sched_yield();
}

/* All sites of the other localities say so when they have their results. */
static cohort_status compute(struct site *site, cohort_future *done)
{
    uint32_t own = cohort_num_workers(), num = site->num - own;
    cohort_status status = COHORT_OK;
    cohort_future **told = malloc((num + 1) * sizeof(cohort_future *));
    if (!told)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %" PRIu32 " futures", num);
    for (uint32_t i = 0; i < num; i++)
        told[i] = cohort_channel_get(site->comm, own + i, TAG_DONE, NULL, 0, NULL);
    told[num] = done;
    compute_until_ready(told, num + 1);
    for (uint32_t i = 0; i <= num; i++) {
        cohort_status here = cohort_await(told[i]);
        status = status ? status : here;
    }
    free(told);
    return status;
}

static cohort_status await_and_tell(struct site *site, cohort_future *done)
{
    cohort_status status = cohort_await(done);
    for (uint32_t i = 0; !status && i < cohort_num_workers(); i++)
        status = cohort_await(cohort_channel_set(site->comm, i, TAG_DONE, NULL, 0));
    return status;
}

static cohort_status take_part(struct site *site, cohort_future *done)
{
    return cohort_locality() == 0 ? compute(site, done) : await_and_tell(site, done);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static cohort_status compute_beside(struct site *site, size_t which)
{
    uint64_t end = now() + 10000000;
    cohort_future *done = calls[which].call(site);
    while (now() < end)
        ;
    return cohort_await(done);
}

static cohort_status wait_for_it(struct site *site, size_t which, double *ret_us)
{
    cohort_status status = cohort_await(cohort_sleep(1000000));
    uint64_t begin = now();
    if (!status)
        status = cohort_await(calls[which].call(site));
    *ret_us = (double)(now() - begin) / 1000;
    return status;
}

/* Where the kernel wakes a thread on a core where another one computes, it waits for milliseconds.
 * That would be measured, too. */
static void leave_cores(void)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof(first), &first);
}

static cohort_status measure(struct site *site, size_t which)
{
    bool computes = cohort_locality() == 0;
    if (computes)
        leave_cores();
    double *waits = calloc(rounds, sizeof(double));
    cohort_status status = waits ? COHORT_OK : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory");
    for (size_t i = 0; !status && i < rounds; i++) {
        status = cohort_await(cohort_barrier(site->comm, site->generation++));
        if (!status)
            status = computes ? compute_beside(site, which) : wait_for_it(site, which, &waits[i]);
        site->generation++;
    }
    if (!status && !computes) {
        qsort(waits, rounds, sizeof(double), compare);
        printf("site %" PRIu32 " has waited %.1f %.1f\n", site->me, waits[rounds / 2],
               waits[rounds - 1]);
    }
    free(waits);
    return status;
}

static cohort_status run_call(struct site *site, size_t which)
{
    cohort_status status = set_up(site);
    if (!status)
        status = rounds ? measure(site, which) : take_part(site, calls[which].call(site));
    if (!status)
        status = check(site, which);
    free(site->in);
    free(site->out);
    return status;
}

/* Two halves. */
static cohort_status run_split(struct site *site)
{
    cohort_comm *half = NULL;
    uint64_t one = 1, sum = 0;
    cohort_status status = take_part(
        site, cohort_comm_split(&half, site->comm, (int32_t)(site->me % 2), (int32_t)site->me, 1));
    if (!status)
        status = cohort_await(cohort_all_reduce(half, &one, &sum, 1, COHORT_UINT64, COHORT_SUM, 1));
    if (!status && sum != (site->num + 1 - site->me % 2) / 2)
        status = cohort_fail(COHORT_ERR_STATE, "a half has %" PRIu64 " sites", sum);
    cohort_comm_unref(half);
    return status;
}

static cohort_status add(void *result, const void *left, const void *right, size_t num,
                         cohort_datatype datatype, void *arg)
{
    uint64_t *to = result;
    const uint64_t *a = left, *b = right;
    if (cohort_worker_index() < 0)
        return cohort_fail(COHORT_ERR_STATE, "an operation of the user's is not on a worker");
    for (size_t i = 0; i < num; i++)
        to[i] = a[i] + b[i];
    return COHORT_OK;
}

static cohort_status run_users(struct site *site)
{
    const struct cohort_op_options options = {.name = "add", .function = add, .commutative = true};
    cohort_op *op = NULL;
    cohort_status status = set_up(site);
    if (!status)
        status = cohort_op_create(&op, &options);
    for (uint64_t generation = 1; !status && generation <= 20; generation++)
        status = cohort_await(cohort_all_reduce(site->comm, site->in, site->out, count,
                                                COHORT_UINT64, op, generation));
    if (!status)
        status = check(site, 1);
    cohort_op_unref(op);
    free(site->in);
    free(site->out);
    return status;
}

static cohort_status run(struct site *site)
{
    for (size_t i = 0; i < NUM_CALLS; i++)
        if (strcmp(calls[i].name, collective) == 0)
            return run_call(site, i);
    if (strcmp(collective, "split") == 0)
        return run_split(site);
    if (strcmp(collective, "users") == 0)
        return run_users(site);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "no collective %s", collective);
}

/* Each site is on a worker of its own, as none goes on before all have begun. */
static cohort_status site_main(void *arg)
{
    uint32_t own = cohort_num_workers();
    struct site site = {.me = cohort_locality() * own + (uint32_t)(uintptr_t)arg,
                        .num = cohort_num_localities() * own,
                        .generation = 1};
    const cohort_comm_options options = {
        .num_sites = site.num, .this_site = site.me, .algorithms = algorithms};
    atomic_fetch_add(&num_ready, 1);
    while (atomic_load(&num_ready) < own)
        sched_yield();
    cohort_status status = cohort_await(cohort_comm_create(&site.comm, "progress", &options));
    if (!status)
        status = run(&site);
    cohort_comm_unref(site.comm);
    return status;
}

static cohort_status program(void *arg)
{
    uint32_t num = cohort_num_workers();
    cohort_future **sites = malloc(num * sizeof(cohort_future *));
    if (!sites)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %" PRIu32 " futures", num);
    for (uint32_t i = 0; i < num; i++)
        sites[i] = cohort_async(site_main, (void *)(uintptr_t)i);
    cohort_status status = cohort_await(cohort_when_all(sites, num));
    free(sites);
    if (!status)
        printf("locality %" PRIu32 " is done\n", cohort_locality());
    return status;
}

int main(int argc, char **argv)
{
    collective = argc > 1 ? argv[1] : "barrier";
    count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    algorithms = argc > 3 && argv[3][0] ? argv[3] : NULL;
    rounds = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    return cohort_main(argc, argv, program, NULL);
}
