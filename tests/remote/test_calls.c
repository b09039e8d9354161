/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/remote.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/sync.h"
#include "cohort/task.h"
#include "runtime/base/random.h"
#include "runtime/remote/tasks.h"
#include "tests/support/cluster.h"

/* Calls there and back, of all sizes, among all localities. */

enum { NUM_LOCALITIES = 4 };

static unsigned char content(uint64_t seed, size_t place)
{
    return (unsigned char)((seed + 1) * 131 + place * 7 + (place >> 8));
}

static void check_content(const cohort_object *object, uint64_t seed, size_t bytes)
{
    CHECK_INT((long long)object->bytes, (long long)bytes);
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)object->data)[i] != content(seed, i))
            FAIL("result %llu differs at %zu", (unsigned long long)seed, i);
}

/* Gives back another copy of what it gets, with each byte changed. */
static cohort_status invert(const cohort_object *in, cohort_object *ret_out, void *context)
{
    CHECK_TEXT(context, "the context");
    CHECK(((uintptr_t)in->data & 15) == 0 || in->bytes == 0);
    unsigned char *data = test_malloc(in->bytes + 1);
    for (size_t i = 0; i < in->bytes; i++)
        data[i] = ((const unsigned char *)in->data)[i] ^ 0xff;
    *ret_out = (cohort_object){data, in->bytes};
    return COHORT_OK;
}

static cohort_status echo(const cohort_object *in, cohort_object *ret_out, void *context)
{
    cohort_yield(); /* suspends: IN has to stay */
    *ret_out = *in;
    return COHORT_OK;
}

struct one {
    uint32_t from, to;
    bool is_echo;
    size_t bytes;
    unsigned char *data;
    cohort_object out;
    cohort_future *future;
};

static void begin(struct cluster *cluster, struct one *one, uint64_t seed)
{
    one->data = test_malloc(one->bytes + 1);
    for (size_t i = 0; i < one->bytes; i++)
        one->data[i] = content(seed, i) ^ (one->is_echo ? 0 : 0xff);
    cohort_object in = {one->data, one->bytes};
    one->future = cohort__async_at_from(cluster_process(cluster, one->from), one->to,
                                        one->is_echo ? "echo" : "invert", &in, &one->out);
    memset(&in, 'x', sizeof(in)); /* the struct is read by now, and short data as well */
    if (one->bytes <= COHORT_REMOTE_COPIED_BYTES)
        memset(one->data, 'x', one->bytes);
}

static void end(struct one *one, uint64_t seed)
{
    CHECK_OK(cohort_await(one->future));
    check_content(&one->out, seed, one->bytes);
    cohort_object_fini(&one->out);
    free(one->data);
}

/* Each size travels in another way. */
static const size_t sizes[] = {0,     1,      8,       255,  256,   257,    4096,   4097,    10000,
                               65536, 100000, 1 << 20, 5000, 16300, 200000, 300000, 3 << 20, 12};
enum { NUM_SIZES = NUM_OF(sizes) };

TEST(sizes)
{
    for (uint32_t to = 0; to < 2; to++) {
        struct cluster *cluster = cluster_create(1, 2, 0);
        for (size_t i = 0; i < 2 * NUM_SIZES; i++) {
            struct one one = {.to = to, .bytes = sizes[i / 2], .is_echo = i % 2};
            begin(cluster, &one, i);
            end(&one, i);
        }
        cluster_destroy(cluster);
    }
}

enum { NUM_AT_ONCE = 400 };

static void run_many(uint64_t seed, size_t budget)
{
    static struct one ones[NUM_AT_ONCE];
    struct cohort__random random = cohort__random_seeded(seed);
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    struct cluster *cluster = cluster_create(seed, NUM_LOCALITIES, budget);
    for (uint64_t i = 0; i < NUM_AT_ONCE; i++) {
        size_t limit = cohort__random_below(&random, 8) == 0 ? 200000 : 600;
        ones[i] = (struct one){
            .from = (uint32_t)cohort__random_below(&random, NUM_LOCALITIES),
            .to = (uint32_t)cohort__random_below(&random, NUM_LOCALITIES),
            .is_echo = cohort__random_below(&random, 2),
            .bytes = cohort__random_below(&random, limit),
        };
        begin(cluster, &ones[i], i);
    }
    for (uint64_t i = 0; i < NUM_AT_ONCE; i++)
        end(&ones[i], i);
    cluster_destroy(cluster);
}

TEST(many)
{
    for (uint64_t seed = 1; seed <= test_rounds(20, 5); seed++)
        run_many(seed, 0);
}

/* Hardly anything goes eagerly. */
TEST(small_budget)
{
    for (uint64_t seed = 101; seed <= 100 + test_rounds(10, 3); seed++)
        run_many(seed, 300);
}

/* Without a name's result, and with futures that nobody awaits: the calls go on. */
static _Atomic uint32_t num_counted;

static cohort_status count(const cohort_object *in, cohort_object *ret_out, void *context)
{
    *ret_out = *in;
    num_counted++;
    return COHORT_OK;
}

TEST(dropped)
{
    struct cluster *cluster = cluster_create(3, 2, 0);
    num_counted = 0;
    for (uint32_t i = 0; i < 700; i++)
        cohort_future_unref(cohort__async_at_from(cluster_process(cluster, 0), i % 2, "count",
                                                  &(cohort_object){&i, sizeof(i)}, NULL));
    CHECK_OK(
        cohort_await(cohort__async_at_from(cluster_process(cluster, 0), 1, "count", NULL, NULL)));
    YIELD_WHILE(num_counted < 701);
    cluster_destroy(cluster);
}

/* A call of the own locality sends nothing. */
TEST(own)
{
    struct cluster *cluster = cluster_create(4, 2, 0);
    for (uint64_t i = 0; i < NUM_SIZES; i++) {
        struct one one = {.from = 1, .to = 1, .bytes = sizes[i]};
        begin(cluster, &one, i);
        end(&one, i);
    }
    CHECK_INT((long long)cluster_num_sent(cluster), 0);
    cluster_destroy(cluster);
}

/* A farm gives its own locality a job, and the task that is to give the others theirs could go on:
 * that comes first, and not after a job, or after one job behind the other. Now and then it is an
 * older job's turn. Both tasks are worker 0's, from which other workers may steal the jobs. */
static cohort_promise *is_to_go_on;
static bool is_waiting, has_gone_on;
static int num_late;

static cohort_status deal_to_others(void *future)
{
    is_waiting = true;
    CHECK_OK(cohort_await(future));
    has_gone_on = true;
    return COHORT_OK;
}

static cohort_status job(const cohort_object *in, cohort_object *ret_out, void *context)
{
    num_late += cohort_worker_index() == 0 && !has_gone_on;
    return COHORT_OK;
}

static cohort_status deal_to_own(void *process)
{
    YIELD_WHILE(!is_waiting);
    cohort_promise_fulfil(is_to_go_on, NULL);
    return cohort_await(cohort__async_at_from(process, 1, "job", NULL, NULL));
}

TEST(own_gives_way)
{
    const cohort_task_options options = {.worker = 1};
    struct cluster *cluster = cluster_create(4, 2, 0);
    num_late = 0;
    for (int i = 0; i < 100; i++) {
        cohort_future *goes_on;
        is_waiting = has_gone_on = false;
        is_to_go_on = new_promise(&goes_on);
        cohort_future *both[] = {
            cohort_async_with(deal_to_others, goes_on, &options),
            cohort_async_with(deal_to_own, cluster_process(cluster, 1), &options),
        };
        CHECK_OK(cohort_await(cohort_when_all(both, 2)));
    }
    CHECK(num_late < 50);
    cluster_destroy(cluster);
}

/* Tasks that always wake each other don't keep own calls from their turns, of which each has one
 * after some. */
static cohort_semaphore *semaphores[2];
static atomic_int num_called;
static atomic_long num_woken;
enum { NUM_CALLERS = 100, MOST_WOKEN = 1000000 };

static cohort_status count_called(const cohort_object *in, cohort_object *ret_out, void *context)
{
    atomic_fetch_add(&num_called, 1);
    return COHORT_OK;
}

static cohort_status call_own(void *process)
{
    return cohort_await(cohort__async_at_from(process, 1, "count_called", NULL, NULL));
}

static cohort_status wake_other(void *arg)
{
    const uintptr_t self = (uintptr_t)arg;
    while (atomic_load(&num_called) < NUM_CALLERS && atomic_load(&num_woken) < MOST_WOKEN) {
        atomic_fetch_add(&num_woken, 1);
        CHECK_OK(cohort_semaphore_release(semaphores[1 - self], 1));
        CHECK_OK(cohort_semaphore_acquire(semaphores[self], COHORT_NO_LIMIT));
    }
    return cohort_semaphore_release(semaphores[1 - self], 1);
}

TEST(own_has_its_turn)
{
    struct cluster *cluster = cluster_create(4, 2, 0);
    cohort_future *all[NUM_CALLERS + 2];
    for (int i = 0; i < NUM_CALLERS; i++)
        all[i] = cohort_async(call_own, cluster_process(cluster, 1));
    for (uintptr_t i = 0; i < 2; i++)
        CHECK_OK(cohort_semaphore_create(0, &semaphores[i]));
    for (uintptr_t i = 0; i < 2; i++)
        all[NUM_CALLERS + i] = cohort_async(wake_other, (void *)i);
    CHECK_OK(cohort_await(cohort_when_all(all, NUM_CALLERS + 2)));
    CHECK(atomic_load(&num_woken) < MOST_WOKEN);
    for (int i = 0; i < 2; i++)
        cohort_semaphore_unref(semaphores[i]);
    cluster_destroy(cluster);
}

/* Two messages a call, and nothing else, if the last results can tell what was admitted. */
TEST(num_messages)
{
    struct cluster *cluster = cluster_create(5, 2, 0);
    for (uint64_t i = 0; i < 50; i++) {
        struct one one = {.to = 1, .bytes = 8};
        begin(cluster, &one, i);
        end(&one, i);
    }
    CHECK_INT((long long)cluster_num_sent(cluster), 100);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("invert", invert, "the context"));
    CHECK_OK(cohort_remote_register("echo", echo, NULL));
    CHECK_OK(cohort_remote_register("count_called", count_called, NULL));
    CHECK_OK(cohort_remote_register("job", job, NULL));
    CHECK_OK(cohort_remote_register("count", count, NULL));
    return cluster_test(argc, argv, 1);
}
