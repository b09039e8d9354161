/* SPDX-License-Identifier: Apache-2.0 */
/* Remote tasks of all kinds at once, among several localities and more workers than there are
 * cores: tasks call each other, back and forth, with short and long bytes; some fail; some calls go
 * to all; some futures are dropped. Each call runs once, and each result is right. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/remote.h"
#include "cohort/task.h"
#include "runtime/base/random.h"
#include "runtime/remote/private.h"
#include "tests/support/cluster.h"

enum { NUM_LOCALITIES = 4, NUM_WORKERS = 6, NUM_TASKS = 40, MAX_BYTES = 150000, MAX_DEPTH = 4 };

static struct cluster *cluster;
static _Atomic uint64_t num_called, num_run;

/* What a call is to do. It is followed by bytes that are its content. */
struct order {
    uint64_t seed;
    uint32_t locality; /* where it runs */
    uint32_t depth;    /* how many may be below it */
    bool fails;
};

static unsigned char content(uint64_t seed, size_t place)
{
    return (unsigned char)(seed * 31 + place * 7 + (place >> 8));
}

static cohort_status random_call(struct cohort__random *random, uint32_t from, uint32_t depth);

static cohort_status do_work(const cohort_object *in, cohort_object *ret_out)
{
    struct order order;
    CHECK(in->bytes >= sizeof(order));
    memcpy(&order, in->data, sizeof(order));
    for (size_t i = sizeof(order); i < in->bytes; i++)
        CHECK(((const unsigned char *)in->data)[i] == content(order.seed, i));
    struct cohort__random random = cohort__random_seeded(order.seed);
    for (uint64_t i = cohort__random_below(&random, 3); i > 0; i--)
        cohort_yield();
    if (order.depth > 0 && cohort__random_below(&random, 2))
        CHECK_OK(random_call(&random, order.locality, order.depth - 1));
    if (order.fails)
        return cohort_fail(COHORT_ERR_FAILED, "seed %" PRIu64, order.seed);
    if (cohort__random_below(&random, 2)) {
        *ret_out = *in;
        return COHORT_OK;
    }
    *ret_out = (cohort_object){malloc(in->bytes), in->bytes};
    CHECK(ret_out->data);
    memcpy(ret_out->data, in->data, in->bytes);
    return COHORT_OK;
}

/* It is counted when it has called what it calls: so as long as anything is to come, fewer have run
 * than were called. */
static cohort_status work(const cohort_object *in, cohort_object *ret_out, void *context)
{
    cohort_status status = do_work(in, ret_out);
    atomic_fetch_add(&num_run, 1);
    return status;
}

static cohort_status count(const cohort_object *in, cohort_object *ret_out, void *context)
{
    atomic_fetch_add(&num_run, 1);
    *ret_out = *in;
    return COHORT_OK;
}

static void call_all(uint32_t from)
{
    cohort_object outs[NUM_LOCALITIES];
    atomic_fetch_add(&num_called, NUM_LOCALITIES);
    CHECK_OK(cohort_await(cohort__async_everywhere_from(cluster_process(cluster, from), "count",
                                                        &(cohort_object){&from, 4}, outs)));
    for (uint32_t i = 0; i < NUM_LOCALITIES; i++)
        CHECK(outs[i].bytes == 4 && memcmp(outs[i].data, &from, 4) == 0);
    cohort_objects_fini(outs, NUM_LOCALITIES);
}

static void check_result(cohort_future *future, cohort_object *out, const cohort_object *in,
                         const struct order *order)
{
    char want[80];
    if (order->fails) {
        snprintf(want, sizeof(want), "at locality %" PRIu32 ": seed %" PRIu64, order->locality,
                 order->seed);
        CHECK_FAILS(cohort_await(future), COHORT_ERR_FAILED, want);
        CHECK(!out->data);
    } else {
        CHECK_OK(cohort_await(future));
        CHECK(out->bytes == in->bytes && memcmp(out->data, in->data, in->bytes) == 0);
        cohort_object_fini(out);
    }
}

static cohort_status random_call(struct cohort__random *random, uint32_t from, uint32_t depth)
{
    if (cohort__random_below(random, 10) == 0) {
        call_all(from);
        return COHORT_OK;
    }
    size_t more = cohort__random_below(random, cohort__random_below(random, 10) ? 400 : MAX_BYTES);
    struct order order = {
        .seed = cohort__random_below(random, UINT64_C(1) << 40),
        .locality = (uint32_t)cohort__random_below(random, NUM_LOCALITIES),
        .depth = depth,
        .fails = cohort__random_below(random, 8) == 0,
    };
    cohort_object in = {malloc(sizeof(order) + more), sizeof(order) + more}, out;
    CHECK(in.data);
    memcpy(in.data, &order, sizeof(order));
    for (size_t i = sizeof(order); i < in.bytes; i++)
        ((unsigned char *)in.data)[i] = content(order.seed, i);
    bool is_dropped =
        in.bytes <= COHORT_REMOTE_COPIED_BYTES && cohort__random_below(random, 5) == 0;
    atomic_fetch_add(&num_called, 1);
    cohort_future *future = cohort__async_at_from(cluster_process(cluster, from), order.locality,
                                                  "work", &in, is_dropped ? NULL : &out);
    if (is_dropped)
        cohort_future_unref(future);
    else
        check_result(future, &out, &in, &order);
    free(in.data);
    return COHORT_OK;
}

struct caller {
    uint64_t seed;
    uint32_t locality;
};

static cohort_status run_caller(void *arg)
{
    const struct caller *caller = arg;
    struct cohort__random random = cohort__random_seeded(caller->seed);
    for (int i = 0; i < 30; i++)
        CHECK_OK(random_call(&random, caller->locality, MAX_DEPTH));
    return COHORT_OK;
}

static void run(uint64_t seed)
{
    struct caller callers[NUM_TASKS];
    cohort_future *futures[NUM_TASKS];
    fprintf(stderr, "seed %" PRIu64 "\n", seed);
    cluster = cluster_create(seed, NUM_LOCALITIES, seed % 3 ? 0 : 2000);
    atomic_store(&num_called, 0);
    atomic_store(&num_run, 0);
    for (uint32_t i = 0; i < NUM_TASKS; i++) {
        callers[i] = (struct caller){seed * NUM_TASKS + i, i % NUM_LOCALITIES};
        futures[i] = cohort_async(run_caller, &callers[i]);
    }
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
    YIELD_WHILE(atomic_load(&num_run) < atomic_load(&num_called)); /* those that were dropped */
    cluster_num_sent(cluster);
    CHECK_INT((long long)atomic_load(&num_run), (long long)atomic_load(&num_called));
    cluster_destroy(cluster);
}

TEST(calls)
{
    for (uint64_t seed = 1; seed <= test_rounds(12, 3); seed++)
        run(seed);
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("work", work, NULL));
    CHECK_OK(cohort_remote_register("count", count, NULL));
    return cluster_test(argc, argv, NUM_WORKERS);
}
