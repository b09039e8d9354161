/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/remote.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/base/sanitizer.h"
#include "runtime/remote/private.h"
#include "tests/support/cluster.h"

/* Flow control: a locality that can't keep up keeps a bounded number of calls, and calls that wait
 * for each other get through nevertheless. */

enum {
    LARGE_BYTES = 1 << 20,                                       /* of an IN */
    NUM_LARGE = COHORT__REMOTE_ADMITTED_BYTES_MAX / LARGE_BYTES, /* that there is room for */
};

static struct cluster *cluster;
static unsigned char large[LARGE_BYTES];

static cohort_future *call(uint32_t from, uint32_t to, const char *name, const cohort_object *in)
{
    return cohort__async_at_from(cluster_process(cluster, from), to, name, in, NULL);
}

static struct cohort__remote_tasks *tasks_of(uint32_t locality)
{
    return cohort__remote_tasks_of(cluster_process(cluster, locality));
}

/* What LOCALITY has kept at most, of NUM_CALLERS. */
static void check_bounds(uint32_t locality, uint32_t num_callers)
{
    struct cohort__remote_tasks *tasks = tasks_of(locality);
    struct cohort__remote_served *all = &tasks->served;
    pthread_mutex_lock(&all->lock);
    CHECK(all->most_waiting > 0 && all->most_waiting <= num_callers * tasks->window);
    CHECK(all->most_admitted <= (uint64_t)COHORT__REMOTE_ADMITTED_MAX << all->num_more);
    CHECK_INT(all->num_waiting, 0);
    CHECK_INT(all->num_admitted, 0);
    CHECK_INT((long long)all->bytes_admitted, 0);
    pthread_mutex_unlock(&all->lock);
}

static atomic_uint num_run;

/* Slow: others run before it ends. */
static cohort_status slow(const cohort_object *in, cohort_object *ret_out, void *context)
{
    atomic_fetch_add(&num_run, 1);
    for (int i = 0; i < 3; i++)
        cohort_yield();
    return COHORT_OK;
}

/* A million calls at once, with a few bytes each, or with what has to be announced. */
static void run_many(uint32_t num_callers, uint32_t num_calls, size_t bytes)
{
    static unsigned char data[10000];
    cluster = cluster_create(num_calls, num_callers + 1, 0);
    atomic_store(&num_run, 0);
    cohort_future **futures = test_calloc(num_calls, sizeof(*futures));
    for (uint32_t i = 0; i < num_calls; i++)
        futures[i] = call(1 + i % num_callers, 0, "slow", &(cohort_object){data, bytes});
    for (uint32_t i = 0; i < num_calls; i++)
        CHECK_OK(cohort_await(futures[i]));
    free(futures);
    CHECK_INT(atomic_load(&num_run), num_calls);
    cluster_num_sent(cluster); /* what is served may be over a moment later */
    check_bounds(0, num_callers);
    if (cluster_num_workers() == 1) /* else one may be idle while the others are busy */
        CHECK(tasks_of(0)->served.most_admitted <= 2 * COHORT__REMOTE_BUSY_MAX);
    cluster_destroy(cluster);
}

TEST_CALL(million, run_many(1, (uint32_t)test_rounds(1000000, 3000), 8))

TEST(callers)
{
    run_many(3, (uint32_t)test_rounds(60000, 3000), 8);
    run_many(3, (uint32_t)test_rounds(30000, 3000), 0);
    run_many(3, (uint32_t)test_rounds(6000, 2000), 1000);
    run_many(2, (uint32_t)test_rounds(3000, 1000), sizeof((unsigned char[10000]){0}));
}

static cohort_promise *gate_promise;
static cohort_future *gate;

static cohort_status wait_at_gate(const cohort_object *in, cohort_object *ret_out, void *context)
{
    atomic_fetch_add(&num_run, 1);
    return cohort_await(cohort_future_ref(gate));
}

enum { NUM_AT_GATE = 3 * COHORT__REMOTE_BUSY_MAX };
static cohort_future *at_gate[NUM_AT_GATE];

/* NUM calls, until NUM_BEGUN of them have begun. */
static void crowd_gate(uint32_t num, uint32_t num_begun, size_t bytes)
{
    cluster = cluster_create(7, 2, 0);
    atomic_store(&num_run, 0);
    gate_promise = new_promise(&gate);
    for (uint32_t i = 0; i < num; i++)
        at_gate[i] = call(0, 1, "wait_at_gate", &(cohort_object){large, bytes});
    YIELD_WHILE(atomic_load(&num_run) < num_begun);
}

static void open_gate(uint32_t num)
{
    cohort_promise_fulfil(gate_promise, NULL);
    for (uint32_t i = 0; i < num; i++)
        CHECK_OK(cohort_await(at_gate[i]));
    cohort_future_unref(gate);
    cluster_num_sent(cluster);
    check_bounds(1, 1);
    cluster_destroy(cluster);
}

/* Functions that wait keep no others from beginning, and no tick is needed for that. */
TEST(gate)
{
    crowd_gate(NUM_AT_GATE, NUM_AT_GATE, 8);
    CHECK_OK(cohort_await(call(0, 1, "slow", NULL)));
    CHECK_INT(tasks_of(1)->served.num_more, 0);
    open_gate(NUM_AT_GATE);
}

/* While nothing ends, no more are admitted than there is room for, and the callers keep the rest:
 * but the room is doubled each time that nothing has ended between two ticks. So nothing waits for
 * ever. */
TEST(room)
{
    enum { NUM = 4 * NUM_LARGE + 50 };
    crowd_gate(NUM, 3 * NUM_LARGE, LARGE_BYTES);
    struct cohort__remote_served *all = &tasks_of(1)->served;
    pthread_mutex_lock(&all->lock);
    CHECK(all->num_more >= 2);
    CHECK(all->num_doubled == all->num_more);
    CHECK(all->num_admitted <= (uint64_t)NUM_LARGE << all->num_doubled);
    CHECK(all->num_waiting <= tasks_of(1)->window);
    pthread_mutex_unlock(&all->lock);
    open_gate(NUM);
}

/* Calls that wait for calls below them, back and forth: more at once than there is room for, and
 * more than a window has. */
static cohort_status chain(const cohort_object *in, cohort_object *ret_out, void *context)
{
    uint32_t place[2]; /* where this is; how many are below */
    CHECK_INT((long long)in->bytes, sizeof(place));
    memcpy(place, in->data, sizeof(place));
    atomic_fetch_add(&num_run, 1);
    if (place[1] == 0)
        return COHORT_OK;
    uint32_t next[2] = {1 - place[0], place[1] - 1};
    return cohort_await(call(place[0], next[0], "chain", &(cohort_object){next, sizeof(next)}));
}

static void run_chains(uint32_t num, uint32_t depth)
{
    cluster = cluster_create(num, 2, 0);
    cohort_future **futures = test_calloc(num, sizeof(*futures));
    atomic_store(&num_run, 0);
    for (uint32_t i = 0; i < num; i++) {
        uint32_t first[2] = {1, depth - 1};
        futures[i] = call(0, 1, "chain", &(cohort_object){first, sizeof(first)});
    }
    for (uint32_t i = 0; i < num; i++)
        CHECK_OK(cohort_await(futures[i]));
    CHECK_INT(atomic_load(&num_run), num * depth);
    free(futures);
    cluster_num_sent(cluster);
    check_bounds(1, 1);
    for (uint32_t locality = 0; locality < 2; locality++)
        CHECK_INT(tasks_of(locality)->served.num_more, 0);
    cluster_destroy(cluster);
}

TEST(chains)
{
    run_chains(10, 50);
    run_chains(600, 6);
    run_chains(COHORT__TSAN ? 1200 : (uint32_t)test_rounds(3000, 1200), 5);
}

/* However deep one is: nobody waits for a tick. */
TEST_CALL(deep, run_chains(1, COHORT__TSAN ? 3000 : (uint32_t)test_rounds_of(100000, 10000, 3000)))

/* What is announced has a bound in bytes, too. */
TEST(bytes)
{
    enum { NUM = 5 * NUM_LARGE };
    static cohort_future *futures[NUM];
    cluster = cluster_create(9, 2, 0);
    for (uint32_t i = 0; i < NUM; i++)
        futures[i] = call(0, 1, "slow", &(cohort_object){large, LARGE_BYTES});
    for (uint32_t i = 0; i < NUM; i++)
        CHECK_OK(cohort_await(futures[i]));
    cluster_num_sent(cluster);
    struct cohort__remote_served *all = &tasks_of(1)->served;
    pthread_mutex_lock(&all->lock);
    CHECK(all->most_bytes <= (size_t)COHORT__REMOTE_ADMITTED_BYTES_MAX << all->num_more);
    pthread_mutex_unlock(&all->lock);
    check_bounds(1, 1);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("slow", slow, NULL));
    CHECK_OK(cohort_remote_register("wait_at_gate", wait_at_gate, NULL));
    CHECK_OK(cohort_remote_register("chain", chain, NULL));
    return cluster_test(argc, argv, 1);
}
