/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of remote tasks among three localities, many at once, on more workers than there are
 * cores: their tasks start others everywhere, in the scope or for a result, with short and long
 * bytes. Some fail, and scopes are cancelled from outside and by limits, at any moment. When the
 * await of a scope has returned, nothing of it runs anywhere, nothing of it begins any more, and
 * its bytes are the caller's. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/remote.h"
#include "cohort/scope.h"
#include "cohort/task.h"
#include "runtime/base/random.h"
#include "runtime/base/sanitizer.h"
#include "runtime/remote/private.h"
#include "tests/support/cluster.h"

enum {
    NUM_LOCALITIES = 3,
    NUM_WORKERS = 5,
    NUM_OWNERS = 12,                                    /* of scopes, at a time */
    NUM_SCOPES = COHORT__TSAN || COHORT__ASAN ? 3 : 10, /* of an owner, one after the other */
    NUM_ROOTS = 3,
    MAX_DEPTH = 4,
    LONG_BYTES = 3000,
    MAX_YIELDS = 100,
};

static struct cluster *cluster;

/* Of one scope. The localities are in one process, so all its tasks find it. */
struct owner {
    uint64_t seed;
    bool is_to_fail;
    _Atomic uint64_t num_started, num_run;
    _Atomic int num_running;
    atomic_bool is_over, has_failed;
};

static struct owner owners[NUM_OWNERS];

/* What a call is to do. It is followed by bytes that are its content. */
struct order {
    uint64_t seed;
    uint32_t owner;
    uint32_t rank; /* where it runs */
    uint32_t depth;
};

static unsigned char content(uint64_t seed, size_t place)
{
    return (unsigned char)(seed * 31 + place * 7 + (place >> 8));
}

/* Allocated. */
static cohort_object order_create(struct cohort__random *random, uint32_t owner, uint32_t depth)
{
    size_t more = cohort__random_below(random, cohort__random_below(random, 4) ? 100 : LONG_BYTES);
    struct order order = {
        .seed = cohort__random_next(random),
        .owner = owner,
        .rank = (uint32_t)cohort__random_below(random, NUM_LOCALITIES),
        .depth = depth,
    };
    cohort_object in = {malloc(sizeof(order) + more), sizeof(order) + more};
    CHECK(in.data);
    memcpy(in.data, &order, sizeof(order));
    for (size_t i = sizeof(order); i < in.bytes; i++)
        ((unsigned char *)in.data)[i] = content(order.seed, i);
    return in;
}

/* Whoever uses them now would notice. */
static void order_destroy(cohort_object *in)
{
    memset(in->data, 0, in->bytes);
    cohort_object_fini(in);
}

static void order_check(const struct order *order, const cohort_object *in)
{
    for (size_t i = sizeof(*order); i < in->bytes; i++)
        CHECK(((const unsigned char *)in->data)[i] == content(order->seed, i));
}

static uint32_t rank_of(const cohort_object *in)
{
    return ((const struct order *)in->data)->rank;
}

static bool is_success(cohort_status status)
{
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED || status == COHORT_ERR_FAILED);
    return status == COHORT_OK;
}

static void yield_for_a_while(struct cohort__random *random)
{
    for (uint64_t i = cohort__random_below(random, MAX_YIELDS); i > 0; i--)
        cohort_yield();
}

/* In the scope, without a future. The bytes of a child of a task have to be short, as they belong
 * to the call until the scope ends. */
static void start_in_scope(struct owner *owner, cohort_scope *scope, uint32_t from,
                           const cohort_object *in)
{
    atomic_fetch_add(&owner->num_started, 1);
    if (!is_success(cohort__scope_async_at_from(cluster_process(cluster, from), scope, rank_of(in),
                                                "grow", in)))
        atomic_fetch_sub(&owner->num_started, 1);
}

/* For a result, which is the bytes that were given. */
static void call(struct owner *owner, uint32_t from, const cohort_object *in)
{
    cohort_object out;
    atomic_fetch_add(&owner->num_started, 1);
    if (is_success(cohort_await(cohort__async_at_from(cluster_process(cluster, from), rank_of(in),
                                                      "grow", in, &out)))) {
        CHECK(out.bytes == in->bytes && memcmp(out.data, in->data, in->bytes) == 0);
        cohort_object_fini(&out);
    } else {
        CHECK(!out.data);
    }
}

static void start_child(const struct order *order, struct cohort__random *random)
{
    struct owner *owner = &owners[order->owner];
    cohort_object in = order_create(random, order->owner, order->depth - 1);
    if (in.bytes <= COHORT_REMOTE_COPIED_BYTES && cohort__random_below(random, 3) > 0)
        start_in_scope(owner, cohort_scope_current(), order->rank, &in);
    else
        call(owner, order->rank, &in);
    order_destroy(&in);
}

static cohort_status grow(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct order order;
    CHECK(in->bytes >= sizeof(order));
    memcpy(&order, in->data, sizeof(order));
    struct owner *owner = &owners[order.owner];
    struct cohort__random random = cohort__random_seeded(order.seed);
    atomic_fetch_add(&owner->num_running, 1);
    atomic_fetch_add(&owner->num_run, 1);
    CHECK(!atomic_load(&owner->is_over));
    for (uint64_t i = order.depth > 0 ? cohort__random_below(&random, 4) : 0; i > 0; i--)
        start_child(&order, &random);
    yield_for_a_while(&random);
    order_check(&order, in);
    bool fails = owner->is_to_fail && cohort__random_below(&random, 10) == 0;
    if (fails)
        atomic_store(&owner->has_failed, true);
    CHECK(!atomic_load(&owner->is_over));
    atomic_fetch_sub(&owner->num_running, 1);
    if (fails)
        return cohort_fail(COHORT_ERR_FAILED, "seed %" PRIu64, order.seed);
    *ret_out = *in;
    return COHORT_OK;
}

/* An error of a call whose result went to another task is not the scope's. */
static void check_end(const struct owner *owner, cohort_status status, bool is_cancelled,
                      bool is_limited)
{
    CHECK_INT(atomic_load(&owner->num_running), 0);
    CHECK(status == COHORT_OK || (is_cancelled && status == COHORT_ERR_CANCELLED) ||
          (is_limited && status == COHORT_ERR_TIMEOUT) ||
          (atomic_load(&owner->has_failed) && status == COHORT_ERR_FAILED));
    CHECK(!is_cancelled || status != COHORT_OK);
    if (status == COHORT_OK)
        CHECK_INT((long long)atomic_load(&owner->num_run),
                  (long long)atomic_load(&owner->num_started));
}

static void run_scope(uint32_t index, struct cohort__random *random)
{
    struct owner *owner = &owners[index];
    cohort_scope *scope;
    cohort_object roots[NUM_ROOTS];
    uint64_t how = cohort__random_below(random, 4); /* to end: 0 by itself, 1 by an error, ... */
    uint64_t limit = how == 3 ? 1 + cohort__random_below(random, 3000000) : 0;
    uint32_t rank = (uint32_t)cohort__random_below(random, NUM_LOCALITIES);
    owner->is_to_fail = how == 1;
    atomic_store(&owner->is_over, false);
    atomic_store(&owner->has_failed, false);
    atomic_store(&owner->num_started, 0);
    atomic_store(&owner->num_run, 0);
    CHECK_OK(cohort_scope_create(&(cohort_scope_options){.limit_nanoseconds = limit}, &scope));
    for (int i = 0; i < NUM_ROOTS; i++) {
        roots[i] = order_create(random, index, MAX_DEPTH);
        start_in_scope(owner, scope, rank, &roots[i]);
    }
    if (how == 2) {
        yield_for_a_while(random);
        cohort_scope_cancel(scope);
    }
    cohort_status status = cohort_scope_await(scope);
    atomic_store(&owner->is_over, true);
    check_end(owner, status, how == 2, how == 3);
    for (int i = 0; i < NUM_ROOTS; i++)
        order_destroy(&roots[i]);
}

static cohort_status run_owner(void *arg)
{
    struct owner *owner = arg;
    struct cohort__random random = cohort__random_seeded(owner->seed);
    for (int i = 0; i < NUM_SCOPES; i++)
        run_scope((uint32_t)(owner - owners), &random);
    return COHORT_OK;
}

static void run(uint64_t seed)
{
    cohort_future *futures[NUM_OWNERS];
    fprintf(stderr, "seed %" PRIu64 "\n", seed);
    cluster = cluster_create(seed, NUM_LOCALITIES, seed % 3 ? 0 : 2000);
    for (uint32_t i = 0; i < NUM_OWNERS; i++) {
        owners[i].seed = seed * NUM_OWNERS + i;
        futures[i] = cohort_async(run_owner, &owners[i]);
    }
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_OWNERS)));
    cluster_destroy(cluster);
}

TEST(scopes)
{
    for (uint64_t seed = 1; seed <= test_rounds(12, 1); seed++)
        run(seed);
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("grow", grow, NULL));
    return cluster_test(argc, argv, NUM_WORKERS);
}
