/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/channel.h"
#include "cohort/scope.h"
#include "cohort/task.h"
#include "runtime/base/random.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Gets and sets of tasks whose scope is cancelled. */

enum { LONG = 100000, TAG = 5 };

/* Two sites played by one task, in one locality or in two. */
struct pair {
    struct cluster *cluster;
    cohort_comm *comms[2];
    unsigned char data[LONG];
};

static struct pair *pair_create(uint32_t num_localities)
{
    struct pair *pair = test_calloc(1, sizeof(*pair));
    pair->cluster = cluster_create(1, num_localities, 0);
    cluster_create_comms(pair->cluster, pair->comms, "pair", (cohort_comm_options){.num_sites = 2});
    return pair;
}

static void pair_destroy(struct pair *pair)
{
    for (int site = 0; site < 2; site++)
        cohort_comm_unref(pair->comms[site]);
    cluster_destroy(pair->cluster);
    free(pair);
}

/* What a task of a scope does: something that waits. */
enum kind { GET, GET_ANY, GET_OBJECT, PROBE, SET, NUM_KINDS };

struct waiting {
    struct pair *pair;
    enum kind kind;
    cohort_promise *begun; /* told when the call is made */
    cohort_status status;
    char message[200];
};

static cohort_future *call(struct pair *pair, enum kind kind, cohort_object *ret_object)
{
    switch (kind) {
    case GET:
        return cohort_channel_get(pair->comms[0], 1, TAG, pair->data, LONG, NULL);
    case GET_ANY:
        return cohort_channel_get_any(pair->comms[0], TAG, pair->data, LONG, NULL, NULL);
    case GET_OBJECT:
        return cohort_channel_get_object(pair->comms[0], 1, TAG, ret_object);
    case PROBE:
        return cohort_channel_probe(pair->comms[0], COHORT_ANY_SITE, TAG, NULL, NULL);
    default:
        return cohort_channel_set(pair->comms[0], 1, TAG, pair->data, LONG);
    }
}

static cohort_status wait(void *arg)
{
    struct waiting *waiting = arg;
    cohort_object object = {0};
    cohort_future *future = call(waiting->pair, waiting->kind, &object);
    cohort_promise_fulfil(waiting->begun, NULL);
    waiting->status = cohort_await(future);
    strncpy(waiting->message, waiting->status ? cohort_error_message() : "",
            sizeof(waiting->message) - 1);
    CHECK(!waiting->status || !object.data);
    cohort_object_fini(&object);
    return COHORT_OK;
}

/* It ends, and what comes later is for the next one. */
static void check_kind(uint32_t num_localities, enum kind kind)
{
    struct pair *pair = pair_create(num_localities);
    struct waiting waiting = {.pair = pair, .kind = kind};
    cohort_future *begun;
    waiting.begun = new_promise(&begun);
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, wait, &waiting));
    CHECK_OK(cohort_await(begun));
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK_INT(waiting.status, COHORT_ERR_CANCELLED);
    CHECK_CONTAINS(waiting.message, "communicator \"pair\", site 0, message with tag 5");
    CHECK_CONTAINS(waiting.message, "scope of the task");
    unsigned char *other = test_malloc(LONG);
    if (kind == SET) {
        CHECK_FAILS(cohort_await(cohort_channel_get(pair->comms[1], 0, TAG, other, LONG, NULL)),
                    COHORT_ERR_CANCELLED, "for site 1: the scope of the task that has set");
        memset(pair->data, 3, LONG);
        cohort_future *set = cohort_channel_set(pair->comms[0], 1, TAG, pair->data, LONG);
        CHECK_OK(cohort_await(cohort_channel_get(pair->comms[1], 0, TAG, other, LONG, NULL)));
        CHECK_OK(cohort_await(set));
        CHECK_INT(other[LONG - 1], 3);
    } else {
        memset(other, 4, LONG);
        cohort_future *set = cohort_channel_set(pair->comms[1], 0, TAG, other, LONG);
        CHECK_OK(cohort_await(cohort_channel_get(pair->comms[0], 1, TAG, pair->data, LONG, NULL)));
        CHECK_OK(cohort_await(set));
        CHECK_INT(pair->data[LONG - 1], 4);
    }
    CHECK_OK(cohort_await(cohort_comm_idle(pair->comms[0])));
    free(other);
    pair_destroy(pair);
}

TEST(ends)
{
    for (uint32_t num_localities = 1; num_localities <= 2; num_localities++)
        for (unsigned kind = 0; kind < NUM_KINDS; kind++)
            check_kind(num_localities, (enum kind)kind);
}

/* In a scope that is cancelled already: what need not wait is done, all else fails. */
static cohort_status call_cancelled(void *arg)
{
    const struct waiting *waiting = arg;
    struct pair *pair = waiting->pair;
    int value = 0;
    cohort_promise_fulfil(waiting->begun, NULL);
    YIELD_WHILE(!cohort_cancelled());
    CHECK_OK(cohort_await(cohort_channel_probe(pair->comms[0], 1, 1, NULL, NULL)));
    CHECK_OK(cohort_await(cohort_channel_get(pair->comms[0], 1, 1, &value, 4, NULL)));
    CHECK_INT(value, 11);
    CHECK_OK(cohort_await(cohort_channel_get_any(pair->comms[0], 2, &value, 4, NULL, NULL)));
    CHECK_INT(value, 12);
    CHECK_INT(cohort_await(cohort_channel_get(pair->comms[0], 1, 1, &value, 4, NULL)),
              COHORT_ERR_CANCELLED);
    CHECK_INT(cohort_await(cohort_channel_get_any(pair->comms[0], 1, &value, 4, NULL, NULL)),
              COHORT_ERR_CANCELLED);
    CHECK_OK(cohort_await(cohort_channel_set(pair->comms[0], 1, 2, &value, 4)));
    CHECK_INT(cohort_await(cohort_channel_set(pair->comms[0], 1, 3, pair->data, LONG)),
              COHORT_ERR_CANCELLED);
    return COHORT_OK;
}

TEST(cancelled_before)
{
    for (uint32_t num_localities = 1; num_localities <= 2; num_localities++) {
        struct pair *pair = pair_create(num_localities);
        struct waiting waiting = {.pair = pair};
        cohort_future *begun;
        waiting.begun = new_promise(&begun);
        for (unsigned tag = 1; tag <= 2; tag++) {
            int value = 10 + (int)tag;
            CHECK_OK(cohort_await(cohort_channel_set(pair->comms[1], 0, tag, &value, 4)));
            /* A set's end does not say that its message has arrived. */
            CHECK_OK(cohort_await(cohort_channel_probe(pair->comms[0], 1, tag, NULL, NULL)));
        }
        cohort_scope *scope = new_scope();
        CHECK_OK(cohort_scope_async(scope, call_cancelled, &waiting));
        CHECK_OK(cohort_await(begun));
        cohort_scope_cancel(scope);
        CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
        int value = 0;
        CHECK_OK(cohort_await(cohort_channel_get(pair->comms[1], 0, 2, &value, 4, NULL)));
        pair_destroy(pair);
    }
}

/* Whatever is first ------------------------------------------------------------------------- */

enum { NUM_MESSAGES = 12 };

struct race {
    struct pair *pair;
    uint64_t seed;
    size_t bytes;
    uint32_t num_got;
    unsigned char *data;
    bool leaves;
};

static cohort_status get_some(void *arg)
{
    struct race *race = arg;
    cohort_future *gets[NUM_MESSAGES / 2];
    uint32_t numbers[NUM_MESSAGES / 2][64] = {{0}};
    for (int i = 0; i < NUM_MESSAGES / 2; i++)
        gets[i] = race->bytes > sizeof(numbers[i])
                      ? cohort_channel_get(race->pair->comms[0], 1, TAG,
                                           race->data + (size_t)i * race->bytes, race->bytes, NULL)
                      : cohort_channel_get_any(race->pair->comms[0], TAG, numbers[i],
                                               sizeof(numbers[i]), NULL, NULL);
    for (int i = 0; i < NUM_MESSAGES / 2; i++) {
        cohort_status status = cohort_await(gets[i]);
        CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED ||
              (race->leaves && status == COHORT_ERR_GONE));
        race->num_got += status == COHORT_OK;
    }
    return COHORT_OK;
}

static cohort_status cancel_sometime(void *arg)
{
    cohort_scope *scope = arg;
    cohort_scope_cancel(scope);
    return COHORT_OK;
}

/* Gets are cancelled while messages come. None is lost: those that no get has had are there. */
static void run_race(uint64_t seed, uint32_t num_localities, size_t bytes)
{
    struct race race = {.pair = pair_create(num_localities), .seed = seed, .bytes = bytes};
    unsigned char *from = calloc(1, bytes);
    cohort_future *sets[NUM_MESSAGES];
    race.data = calloc(NUM_MESSAGES, bytes);
    CHECK(race.data && from);
    struct cohort__random random = cohort__random_seeded(seed);
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, get_some, &race));
    uint64_t when = cohort__random_below(&random, NUM_MESSAGES);
    cohort_future *canceller = NULL;
    for (uint64_t i = 0; i < NUM_MESSAGES; i++) {
        if (i == when)
            canceller = cohort_async(cancel_sometime, scope);
        sets[i] = cohort_channel_set(race.pair->comms[1], 0, TAG, from, bytes);
        if (cohort__random_below(&random, 3) == 0)
            cohort_yield();
    }
    CHECK_OK(cohort_await(canceller));
    cohort_status status = cohort_scope_await(scope);
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED);
    for (uint32_t i = race.num_got; i < NUM_MESSAGES; i++)
        CHECK_OK(
            cohort_await(cohort_channel_get(race.pair->comms[0], 1, TAG, race.data, bytes, NULL)));
    CHECK_OK(cohort_await(cohort_when_all(sets, NUM_MESSAGES)));
    CHECK_OK(cohort_await(cohort_comm_idle(race.pair->comms[0])));
    pair_destroy(race.pair);
    free(race.data);
    free(from);
}

TEST(race)
{
    static const size_t sizes[] = {8, 200, 5000, LONG};
    for (uint64_t seed = 1; seed <= 60; seed++)
        run_race(seed, 1 + seed % 2, sizes[seed / 2 % 4]);
}

/* Sets are cancelled while gets come: what one of the two says, the other says, too. */
struct sets {
    struct pair *pair;
    cohort_status status[NUM_MESSAGES];
};

static cohort_status set_some(void *arg)
{
    struct sets *sets = arg;
    cohort_future *futures[NUM_MESSAGES];
    for (int i = 0; i < NUM_MESSAGES; i++)
        futures[i] = cohort_channel_set(sets->pair->comms[1], 0, TAG, sets->pair->data, LONG);
    for (int i = 0; i < NUM_MESSAGES; i++)
        sets->status[i] = cohort_await(futures[i]);
    return COHORT_OK;
}

static void run_sets_race(uint64_t seed, uint32_t num_localities)
{
    struct sets sets = {.pair = pair_create(num_localities)};
    unsigned char *to = malloc(LONG);
    cohort_status got[NUM_MESSAGES];
    cohort_future *canceller = NULL;
    uint64_t when = seed % NUM_MESSAGES;
    CHECK(to);
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, set_some, &sets));
    /* It has begun, or it would never run, and nobody would set anything. */
    CHECK_OK(cohort_await(cohort_channel_probe(sets.pair->comms[0], 1, TAG, NULL, NULL)));
    for (uint64_t i = 0; i < NUM_MESSAGES; i++) {
        if (i == when)
            canceller = cohort_async(cancel_sometime, scope);
        got[i] = cohort_await(cohort_channel_get(sets.pair->comms[0], 1, TAG, to, LONG, NULL));
    }
    CHECK_OK(cohort_await(canceller));
    cohort_status status = cohort_scope_await(scope);
    CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED);
    for (int i = 0; i < NUM_MESSAGES; i++) {
        CHECK_INT(got[i], sets.status[i]);
        CHECK(got[i] == COHORT_OK || got[i] == COHORT_ERR_CANCELLED);
    }
    CHECK_OK(cohort_await(cohort_comm_idle(sets.pair->comms[1])));
    free(to);
    pair_destroy(sets.pair);
}

TEST(sets_race)
{
    for (uint64_t seed = 1; seed <= 48; seed++)
        run_sets_race(seed, 1 + seed % 2);
}

/* The endpoint is given back while its gets are being cancelled. */
TEST(leaving)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct race race = {.pair = pair_create(1 + seed % 2), .bytes = 8, .leaves = true};
        cohort_scope *scope = new_scope();
        CHECK_OK(cohort_scope_async(scope, get_some, &race));
        cohort_yield();
        cohort_future *canceller = cohort_async(cancel_sometime, scope);
        for (uint64_t i = 0; i < seed % 4; i++)
            cohort_yield();
        uint32_t leaver = seed / 4 % 2;
        if (leaver == 1) { /* the getter's endpoint may only be given back by its own calls' end */
            cohort_comm_unref(race.pair->comms[1]);
            race.pair->comms[1] = NULL;
        }
        CHECK_OK(cohort_await(canceller));
        cohort_status status = cohort_scope_await(scope);
        CHECK(status == COHORT_OK || status == COHORT_ERR_CANCELLED);
        pair_destroy(race.pair);
    }
}
