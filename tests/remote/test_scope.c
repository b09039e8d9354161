/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/remote.h"
#include "cohort/scope.h"
#include "cohort/task.h"
#include "runtime/base/random.h"
#include "runtime/remote/private.h"
#include "tests/support/cluster.h"

/* Scopes whose tasks are in several localities. */

enum { NUM_LOCALITIES = 4 };

static struct cluster *cluster;
static atomic_int num_running, num_run, num_at[NUM_LOCALITIES];

/* What a call says to its function, which has to know in which locality it is. */
struct order {
    uint64_t seed;
    uint32_t rank;
    uint32_t depth;
    uint32_t fails_at; /* the how manyth that runs fails; 0: none */
    bool waits;        /* until it is cancelled */
};

static cohort_object in_of(const struct order *order)
{
    return (cohort_object){(void *)(uintptr_t)order, sizeof(*order)};
}

static cohort_future *call(uint32_t from, const struct order *order)
{
    cohort_object in = in_of(order);
    return cohort__async_at_from(cluster_process(cluster, from), order->rank, "grow", &in, NULL);
}

static cohort_status call_in(cohort_scope *scope, uint32_t from, const struct order *order)
{
    cohort_object in = in_of(order);
    return cohort__scope_async_at_from(cluster_process(cluster, from), scope, order->rank, "grow",
                                       &in);
}

static void enter(uint32_t rank)
{
    atomic_fetch_add(&num_running, 1);
    atomic_fetch_add(&num_at[rank], 1);
}

static void leave(uint32_t rank)
{
    atomic_fetch_sub(&num_at[rank], 1);
    atomic_fetch_sub(&num_running, 1);
}

static void reset(uint64_t seed)
{
    cluster = cluster_create(seed, NUM_LOCALITIES, 0);
    atomic_store(&num_run, 0);
    CHECK_INT(atomic_load(&num_running), 0);
}

/* Trees ------------------------------------------------------------------------------------- */

static uint32_t num_children(const struct order *order, struct cohort__random *random)
{
    return order->depth == 0 ? 0 : (uint32_t)cohort__random_below(random, 4);
}

static struct order child_of(const struct order *order, struct cohort__random *random)
{
    return (struct order){.seed = cohort__random_next(random),
                          .rank = (uint32_t)cohort__random_below(random, NUM_LOCALITIES),
                          .depth = order->depth - 1,
                          .fails_at = order->fails_at,
                          .waits = order->waits};
}

/* How many there are in the tree. */
static int size_of(const struct order *order)
{
    int size = 1;
    struct cohort__random random = cohort__random_seeded(order->seed);
    for (uint32_t i = num_children(order, &random); i > 0; i--) {
        struct order child = child_of(order, &random);
        size += size_of(&child);
    }
    return size;
}

static cohort_status run_here(void *arg);

/* A child of a function at locality FROM: with a future that is dropped, in the scope, or as a task
 * of the same locality that calls it. */
static void start_child(uint32_t from, const struct order *child, uint64_t how)
{
    cohort_status status = COHORT_OK;
    if (how == 0) {
        cohort_future_unref(call(from, child));
    } else if (how == 1) {
        status = call_in(cohort_scope_current(), from, child);
    } else {
        struct order *own = test_malloc(sizeof(*own));
        *own = *child;
        own->rank = from;
        status = cohort_scope_async(cohort_scope_current(), run_here, own);
        if (status)
            free(own);
    }
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED);
}

static cohort_status grow_at(const struct order *order)
{
    struct cohort__random random = cohort__random_seeded(order->seed);
    enter(order->rank);
    int index = atomic_fetch_add(&num_run, 1) + 1;
    for (uint32_t i = num_children(order, &random); i > 0; i--) {
        struct order child = child_of(order, &random);
        /* Tasks of a scope that is cancelled never run, and then nobody would free an order. */
        start_child(order->rank, &child, order->fails_at || order->waits ? i % 2 : i % 3);
        if (child.seed % 3 == 0)
            cohort_yield();
    }
    YIELD_WHILE(order->waits && !cohort_cancelled());
    leave(order->rank);
    return index == (int)order->fails_at
               ? cohort_fail(COHORT_ERR_MISMATCH, "number %d is wrong", index)
               : COHORT_OK;
}

static cohort_status grow(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct order order;
    CHECK(in->bytes >= sizeof(order));
    memcpy(&order, in->data, sizeof(order));
    return grow_at(&order);
}

static cohort_status run_here(void *arg)
{
    struct order order = *(struct order *)arg;
    free(arg);
    return grow_at(&order);
}

static cohort_status await_all(cohort_scope *scope)
{
    cohort_status status = cohort_scope_await(scope);
    CHECK_INT(atomic_load(&num_running), 0);
    return status;
}

/* Nothing is left when the await returns, and everything has run. */
TEST(trees)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct order root = {.seed = seed, .rank = seed % NUM_LOCALITIES, .depth = 6};
        reset(seed);
        cohort_scope *scope = new_scope();
        CHECK_OK(call_in(scope, 0, &root));
        CHECK_OK(await_all(scope));
        CHECK_INT(atomic_load(&num_run), size_of(&root));
        cluster_destroy(cluster);
    }
}

/* The first error is the scope's, and what has not begun then never runs. */
TEST(errors)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct order root = {
            .seed = seed, .rank = seed % NUM_LOCALITIES, .depth = 6, .fails_at = 1 + seed % 7};
        int size = size_of(&root);
        reset(seed);
        cohort_scope *scope = new_scope();
        CHECK_OK(call_in(scope, 0, &root));
        cohort_status status = await_all(scope);
        /* The error of a future that was dropped is nobody's. */
        CHECK(status == COHORT_ERR_MISMATCH || status == COHORT_OK);
        if (status)
            CHECK_CONTAINS(cohort_error_message(), "is wrong");
        CHECK(status || atomic_load(&num_run) == size);
        cluster_destroy(cluster);
    }
}

/* Cancelling goes everywhere, however messages overtake each other. */
TEST(cancelled)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct order root = {
            .seed = seed, .rank = seed % NUM_LOCALITIES, .depth = 5, .waits = true};
        reset(seed);
        cohort_scope *scope = new_scope();
        CHECK_OK(call_in(scope, 0, &root));
        for (uint64_t i = 0; i < seed * 7 % 50; i++)
            cohort_yield();
        cohort_scope_cancel(scope);
        CHECK_INT(call_in(scope, 0, &root), COHORT_ERR_CANCELLED);
        CHECK_INT(await_all(scope), COHORT_ERR_CANCELLED);
        cluster_destroy(cluster);
    }
}

#define TEST_WITH_SEED_1(name) TEST_BETWEEN(name, reset(1), cluster_destroy(cluster))

/* More calls than the window lets go, and than are admitted at once. */
TEST_WITH_SEED_1(many)
{
    enum { NUM = 4000 };
    struct order order = {.seed = 1, .rank = 1, .waits = true};
    cohort_scope *scope = new_scope();
    for (int i = 0; i < NUM; i++)
        CHECK_OK(call_in(scope, 0, &order));
    YIELD_WHILE(atomic_load(&num_running) < 8);
    cohort_scope_cancel(scope);
    CHECK_INT(await_all(scope), COHORT_ERR_CANCELLED);
    CHECK(atomic_load(&num_run) <= NUM);
}

/* Calls whose IN is being fetched when they are cancelled. */
TEST(large)
{
    enum { NUM = 12, BYTES = 300000 };
    struct order *order = test_calloc(1, BYTES);
    *order = (struct order){.seed = 1, .rank = 1, .waits = true};
    for (uint64_t seed = 1; seed <= test_rounds(40, 12); seed++) {
        cohort_object in = {order, BYTES};
        reset(seed);
        cohort_scope *scope = new_scope();
        for (int i = 0; i < NUM; i++)
            CHECK_OK(
                cohort__scope_async_at_from(cluster_process(cluster, 0), scope, 1, "grow", &in));
        for (uint64_t i = 0; i < seed; i++)
            cohort_yield();
        cohort_scope_cancel(scope);
        CHECK_INT(await_all(scope), COHORT_ERR_CANCELLED);
        cluster_destroy(cluster);
    }
    free(order);
}

/* Calls that have returned, and wait for what they have started, keep no others from running: a
 * chain has more bytes than there is room for at once. */
enum {
    LINK_BYTES = 1 << 20,
    CHAIN_LENGTH = 2 * NUM_LOCALITIES * (COHORT__REMOTE_ADMITTED_BYTES_MAX / LINK_BYTES),
};
static _Alignas(struct order) unsigned char links[NUM_LOCALITIES][LINK_BYTES]; /* IN of a link */

static cohort_status call_link(cohort_scope *scope, uint32_t from, uint32_t to)
{
    cohort_object in = {links[to], LINK_BYTES};
    return cohort__scope_async_at_from(cluster_process(cluster, from), scope, to, "chain", &in);
}

TEST_WITH_SEED_1(chain)
{
    for (uint32_t rank = 0; rank < NUM_LOCALITIES; rank++)
        memcpy(links[rank], &(struct order){.seed = 5, .rank = rank}, sizeof(struct order));
    cohort_scope *scope = new_scope();
    CHECK_OK(call_link(scope, 0, 1));
    CHECK_OK(await_all(scope));
    CHECK_INT(atomic_load(&num_run), CHAIN_LENGTH);
    for (uint32_t rank = 0; rank < NUM_LOCALITIES; rank++) {
        struct cohort__remote_served *served =
            &cohort__remote_tasks_of(cluster_process(cluster, rank))->served;
        pthread_mutex_lock(&served->lock); /* ticks go on */
        CHECK_INT(served->num_more, 0);
        pthread_mutex_unlock(&served->lock);
    }
}

static cohort_status chain(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct order order;
    memcpy(&order, in->data, sizeof(order));
    return atomic_fetch_add(&num_run, 1) + 1 == CHAIN_LENGTH
               ? COHORT_OK
               : call_link(cohort_scope_current(), order.rank, (order.rank + 1) % NUM_LOCALITIES);
}

/* In a scope a result comes when all has ended that its function has started. */
static cohort_status slow(void *arg)
{
    for (int i = 0; i < 20; i++)
        cohort_yield();
    leave(1);
    return COHORT_OK;
}

static cohort_status start_slow(const cohort_object *in, cohort_object *ret_out, void *context)
{
    enter(1);
    cohort_future_unref(cohort_async(slow, NULL));
    return COHORT_OK;
}

static cohort_status call_slow(void *arg)
{
    cohort_object out;
    CHECK_OK(cohort_await(
        cohort__async_at_from(cluster_process(cluster, 0), 1, "start_slow", NULL, &out)));
    CHECK_INT(atomic_load(&num_running), 0);
    return COHORT_OK;
}

TEST_WITH_SEED_1(results)
{
    CHECK(!cohort_scope_current());
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, call_slow, NULL));
    CHECK_OK(await_all(scope));
}

TEST_WITH_SEED_1(wrong)
{
    struct order order = {.seed = 1, .rank = 9};
    struct cohort__process *process;
    process = cluster_process(cluster, 0);
    cohort_scope *scope = new_scope();
    CHECK_INT(call_in(NULL, 0, &order), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(call_in(scope, 0, &order), COHORT_ERR_BAD_PARAMETER,
                "cohort_scope_async_at: remote task \"grow\" at locality "
                "9: there is no such locality: there are 4");
    CHECK_INT(cohort__scope_async_at_from(process, scope, 0, NULL, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort__scope_async_at_from(process, scope, 0, "x", &(cohort_object){NULL, 3}),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort__scope_async_at_from(process, scope, 0, "nobody", NULL),
                COHORT_ERR_BAD_PARAMETER, "no function of that name");
    CHECK_OK(await_all(scope));
    scope = new_scope();
    CHECK_OK(cohort__scope_async_at_from(process, scope, 2, "nobody", NULL));
    CHECK_FAILS(await_all(scope), COHORT_ERR_BAD_PARAMETER,
                "remote task \"nobody\" at locality 2: no function");
}

/* A locality dies in the middle. What it had started elsewhere is cancelled there. */
TEST(death)
{
    for (uint64_t seed = 1; seed <= 10 && !cluster_is_shared(); seed++) {
        struct order order = {.seed = seed, .rank = 1, .waits = true};
        reset(seed);
        cohort_scope *scope = new_scope();
        cohort_object in = in_of(&order);
        CHECK_OK(cohort__scope_async_at_from(cluster_process(cluster, 0), scope, 1, "relay", &in));
        YIELD_WHILE(atomic_load(&num_at[2]) < 2);
        cluster_kill(cluster, 1);
        CHECK_FAILS(cohort_scope_await(scope), COHORT_ERR_PEER_DIED, "locality 1");
        YIELD_WHILE(atomic_load(&num_at[2]) > 0); /* it ends, though nobody awaits it */
        /* A process that dies has no tasks left. This one, which is in the same process as the
         * others, would wait for theirs. */
        cluster_tell_death(cluster, 1, 2, 1, "is cut off");
        cluster_abandon(cluster);
        atomic_store(&num_running, 0);
        for (uint32_t rank = 0; rank < NUM_LOCALITIES; rank++)
            atomic_store(&num_at[rank], 0);
    }
}

/* At locality 1: two at locality 2 that wait. */
static cohort_status relay(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct order order;
    memcpy(&order, in->data, sizeof(order));
    order.rank = 2;
    for (int i = 0; i < 2; i++)
        cohort_future_unref(call(1, &order));
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("grow", grow, NULL));
    CHECK_OK(cohort_remote_register("chain", chain, NULL));
    CHECK_OK(cohort_remote_register("start_slow", start_slow, NULL));
    CHECK_OK(cohort_remote_register("relay", relay, NULL));
    return cluster_test(argc, argv, 1);
}
