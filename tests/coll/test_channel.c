/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/channel.h"
#include "cohort/collectives.h"
#include "cohort/task.h"
#include "collectives/comm/channel_private.h"
#include "collectives/comm/endpoint.h"
#include "runtime/base/random.h"
#include "runtime/proc/send.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Messages between sites, separate from the collectives: their order, their sizes, and everything
 * that can end them. */

static unsigned char content(uint64_t message, size_t place)
{
    return (unsigned char)((message + 1) * 131 + place * 7 + (place >> 8));
}

static void fill(unsigned char *data, size_t bytes, uint64_t message)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = content(message, i);
}

static void check_content(const unsigned char *data, size_t bytes, uint64_t message)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != content(message, i))
            FAIL("message %" PRIu64 " differs at %zu", message, i);
}

/* Each size is transferred in another way: in the message, copied, lent or announced. */
static const size_t sizes[] = {0, 1, 64, 65, 4096, 4097, 100000};
enum { NUM_SIZES = NUM_OF(sizes) };

/* Random traffic ----------------------------------------------------------------------------- */

enum { MAX_MESSAGES = 600 };

struct traffic {
    uint64_t seed;
    uint32_t num_messages;
    uint64_t num_tags;
    size_t max_bytes;
    bool with_collectives;
};

struct transfer {
    uint32_t from, to;
    uint64_t tag;
    size_t bytes;
    bool as_object;
};

/* All sites draw the same transfers. */
static void draw(const struct traffic *traffic, uint32_t num_sites, struct transfer *transfers)
{
    struct cohort__random random = cohort__random_seeded(traffic->seed);
    for (uint32_t i = 0; i < traffic->num_messages; i++) {
        size_t limit = cohort__random_below(&random, 8) == 0 ? traffic->max_bytes : 200;
        transfers[i].from = (uint32_t)cohort__random_below(&random, num_sites);
        transfers[i].to = (uint32_t)cohort__random_below(&random, num_sites);
        transfers[i].tag = cohort__random_below(&random, traffic->num_tags) * UINT64_C(0x100000001);
        transfers[i].bytes = cohort__random_below(&random, limit + 1);
        transfers[i].as_object = cohort__random_below(&random, 2);
    }
}

struct running {
    cohort_future *set, *get;
    unsigned char *data;
    unsigned char *buffer;
    size_t bytes;
    cohort_object object;
};

static void begin_set(cohort_comm *comm, const struct transfer *transfer, struct running *running,
                      uint32_t index)
{
    running->data = test_malloc(transfer->bytes + 1);
    fill(running->data, transfer->bytes, index);
    running->set =
        cohort_channel_set(comm, transfer->to, transfer->tag, running->data, transfer->bytes);
}

static void begin_get(cohort_comm *comm, const struct transfer *transfer, struct running *running)
{
    if (transfer->as_object) {
        running->get =
            cohort_channel_get_object(comm, transfer->from, transfer->tag, &running->object);
        return;
    }
    running->buffer = test_malloc(transfer->bytes + 1);
    running->get = cohort_channel_get(comm, transfer->from, transfer->tag, running->buffer,
                                      transfer->bytes, &running->bytes);
}

static void end_one(const struct transfer *transfer, struct running *running, uint32_t index)
{
    if (running->get) {
        CHECK_OK(cohort_await(running->get));
        const unsigned char *got = transfer->as_object ? running->object.data : running->buffer;
        size_t bytes = transfer->as_object ? running->object.bytes : running->bytes;
        CHECK_INT((long long)bytes, (long long)transfer->bytes);
        check_content(got, bytes, index);
        cohort_object_fini(&running->object);
        free(running->buffer);
    }
    if (running->set) {
        CHECK_OK(cohort_await(running->set));
        free(running->data);
    }
}

/* Sets and gets, mixed at random. Each kind is in the order of the transfers. */
static void begin_all(cohort_comm *comm, const struct traffic *traffic,
                      const struct transfer *transfers, struct running *running)
{
    uint32_t me = cohort_comm_this_site(comm), next_set = 0, next_get = 0;
    uint32_t num = traffic->num_messages;
    struct cohort__random random = cohort__random_seeded(traffic->seed * 1000 + me);
    while (next_set < num || next_get < num) {
        bool sets = next_get == num || (next_set < num && cohort__random_below(&random, 2));
        for (uint64_t i = 1 + cohort__random_below(&random, 20); sets && i && next_set < num; i--) {
            if (transfers[next_set].from == me)
                begin_set(comm, &transfers[next_set], &running[next_set], next_set);
            next_set++;
        }
        for (uint64_t i = 1 + cohort__random_below(&random, 20); !sets && i && next_get < num;
             i--) {
            if (transfers[next_get].to == me)
                begin_get(comm, &transfers[next_get], &running[next_get]);
            next_get++;
        }
    }
}

static cohort_status exchange(cohort_comm *comm, void *arg)
{
    const struct traffic *traffic = arg;
    struct transfer *transfers = test_calloc(MAX_MESSAGES, sizeof(*transfers));
    struct running *running = test_calloc(MAX_MESSAGES, sizeof(*running));
    draw(traffic, cohort_comm_num_sites(comm), transfers);
    begin_all(comm, traffic, transfers, running);
    uint64_t one = 1, sum = 0;
    cohort_future *reduced =
        traffic->with_collectives
            ? cohort_all_reduce(comm, &one, &sum, 1, COHORT_UINT64, COHORT_SUM, 1)
            : cohort_future_of_value(NULL);
    for (uint32_t i = 0; i < traffic->num_messages; i++)
        end_one(&transfers[i], &running[i], i);
    CHECK_OK(cohort_await(reduced));
    CHECK_INT((long long)sum, traffic->with_collectives ? cohort_comm_num_sites(comm) : 0);
    CHECK_OK(cohort_await(cohort_comm_idle(comm)));
    free(transfers);
    free(running);
    return COHORT_OK;
}

static void run_traffic(uint32_t num_localities, uint32_t num_sites, size_t budget,
                        struct traffic traffic)
{
    struct cluster *cluster = cluster_create(traffic.seed, num_localities, budget);
    cohort_status status = cluster_sites(cluster, (struct sites){
                                                      .name = "channels",
                                                      .options = {.num_sites = num_sites},
                                                      .run = exchange,
                                                      .arg = &traffic,
                                                  });
    if (status)
        FAIL("seed %" PRIu64 ": %s", traffic.seed, cohort_error_message());
    cluster_destroy(cluster);
}

TEST(any_order)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        run_traffic(1, 3, 0, (struct traffic){seed, 300, 3, 20000, false});
        run_traffic(3, 3, 0, (struct traffic){seed, 300, 3, 20000, false});
        run_traffic(2, 5, 4096, (struct traffic){seed, 300, 2, 20000, true});
    }
}

TEST(many_tags)
{
    run_traffic(2, 2, 0, (struct traffic){1, MAX_MESSAGES, 1000000, 300, false});
    run_traffic(1, 1, 0, (struct traffic){2, MAX_MESSAGES, 10, 5000, false});
}

/* Pairs --------------------------------------------------------------------------------------- */

/* Two sites played by one task, in one locality or in two. */
struct pair {
    struct cluster *cluster;
    cohort_comm *comms[2];
};

static struct pair pair_create(uint64_t seed, uint32_t num_localities)
{
    struct pair pair = {.cluster = cluster_create(seed, num_localities, 0)};
    cluster_create_comms(pair.cluster, pair.comms, "pair",
                         (cohort_comm_options){.num_sites = 2, .stall_after = 20000000});
    return pair;
}

static void pair_destroy(struct pair *pair)
{
    for (int site = 0; site < 2; site++)
        cohort_comm_unref(pair->comms[site]);
    cluster_destroy(pair->cluster);
}

static unsigned char *filled(size_t bytes, uint64_t message)
{
    unsigned char *data = test_malloc(bytes + 1);
    fill(data, bytes, message);
    return data;
}

TEST(self)
{
    struct pair pair = pair_create(1, 1);
    for (int i = 0; i < NUM_SIZES; i++) {
        unsigned char *data = filled(sizes[i], 3);
        cohort_object object;
        cohort_future *set = cohort_channel_set(pair.comms[1], 1, 7, data, sizes[i]);
        CHECK_OK(cohort_await(cohort_channel_get_object(pair.comms[1], 1, 7, &object)));
        CHECK_OK(cohort_await(set));
        CHECK_INT((long long)object.bytes, (long long)sizes[i]);
        check_content(object.data, object.bytes, 3);
        cohort_object_fini(&object);
        free(data);
    }
    pair_destroy(&pair);
}

/* Only the getter gets the error. The next message is received, and the setter notices nothing. */
TEST(too_small)
{
    for (uint32_t num_localities = 1; num_localities <= 2; num_localities++)
        for (int i = 1; i < NUM_SIZES; i++) {
            struct pair pair = pair_create(1, num_localities);
            unsigned char *data = filled(sizes[i], 1);
            unsigned char *buffer = malloc(sizes[i]);
            size_t bytes = 42;
            cohort_future *sets[2];
            for (int k = 0; k < 2; k++)
                sets[k] = cohort_channel_set(pair.comms[0], 1, 5, data, sizes[i]);
            CHECK_INT(
                cohort_await(cohort_channel_get(pair.comms[1], 0, 5, buffer, sizes[i] - 1, &bytes)),
                COHORT_ERR_MISMATCH);
            char text[64];
            snprintf(text, sizeof(text), "it has %zu bytes, the buffer %zu", sizes[i],
                     sizes[i] - 1);
            CHECK_CONTAINS(cohort_error_message(), text);
            CHECK_CONTAINS(cohort_error_message(), "tag 5 from site 0");
            CHECK_INT((long long)bytes, 42);
            CHECK_OK(
                cohort_await(cohort_channel_get(pair.comms[1], 0, 5, buffer, sizes[i], &bytes)));
            CHECK_INT((long long)bytes, (long long)sizes[i]);
            check_content(buffer, bytes, 1);
            CHECK_OK(cohort_await(cohort_when_all(sets, 2)));
            free(data);
            free(buffer);
            pair_destroy(&pair);
        }
}

TEST(bad_parameters)
{
    struct pair pair = pair_create(1, 1);
    cohort_object object;
    CHECK_INT(cohort_await(cohort_channel_set(NULL, 0, 0, NULL, 0)), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_await(cohort_channel_set(pair.comms[0], 2, 0, NULL, 0)),
                COHORT_ERR_BAD_PARAMETER, "num_sites is 2");
    CHECK_INT(cohort_await(cohort_channel_set(pair.comms[0], 1, 0, NULL, 1)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_await(cohort_channel_set(pair.comms[0], 1, 0, "abc", SIZE_MAX)),
                COHORT_ERR_BAD_PARAMETER, "that many bytes are more than memory");
    CHECK_INT(cohort_await(cohort_channel_get(NULL, 0, 0, NULL, 0, NULL)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_channel_get(pair.comms[0], 2, 0, NULL, 0, NULL)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_channel_get(pair.comms[0], 1, 0, NULL, 1, NULL)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_channel_get_object(pair.comms[0], 3, 0, &object)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_channel_get_object(pair.comms[0], 1, 0, NULL)),
              COHORT_ERR_BAD_PARAMETER);
    pair_destroy(&pair);
}

/* The roll-call names the transfers that are not over, and idle waits for them. */
TEST(told)
{
    for (uint32_t num_localities = 1; num_localities <= 2; num_localities++) {
        struct pair pair = pair_create(1, num_localities);
        unsigned char *data = filled(100000, 1);
        cohort_object object;
        cohort_future *set = cohort_channel_set(pair.comms[0], 1, 9, data, 100000);
        cohort_future *get = cohort_channel_get_object(pair.comms[0], 1, 8, &object);
        void *text;
        CHECK_OK(cohort_await_value(cohort_comm_roll_call(pair.comms[0]), &text));
        CHECK_CONTAINS(text, "waits for a message with tag 8 from site 1");
        CHECK_CONTAINS(text, "waits for site 1 (locality");
        CHECK_CONTAINS(text, "get a message with tag 9, 100000 bytes");
        free(text);
        cohort_future *idle = cohort_comm_idle(pair.comms[0]);
        CHECK(!cohort_future_ready(idle));
        CHECK_OK(cohort_await(cohort_channel_set(pair.comms[1], 0, 8, NULL, 0)));
        CHECK_OK(cohort_await(get));
        CHECK_INT((long long)object.bytes, 0);
        CHECK(!cohort_future_ready(idle));
        CHECK_OK(cohort_await(cohort_channel_get_object(pair.comms[1], 0, 9, &object)));
        CHECK_OK(cohort_await(set));
        CHECK_OK(cohort_await(idle));
        check_content(object.data, object.bytes, 1);
        cohort_object_fini(&object);
        free(data);
        pair_destroy(&pair);
    }
}

/* Ends ---------------------------------------------------------------------------------------- */

/* The getter receives what was set before the setter leaves. After that nothing can arrive. */
TEST(setter_leaves)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct pair pair = pair_create(seed, 1 + seed % 2);
        unsigned char *data = filled(100000, 1);
        cohort_object objects[5];
        cohort_future *gets[5];
        for (int i = 0; i < 2; i++)
            gets[i] = cohort_channel_get_object(pair.comms[1], 0, 1, &objects[i]);
        for (int i = 0; i < 3; i++)
            CHECK_OK(cohort_await(cohort_channel_set(pair.comms[0], 1, 1, data, 30)));
        cohort_future *large = cohort_channel_set(pair.comms[0], 1, 1, data, 100000);
        cohort_comm_unref(pair.comms[0]);
        pair.comms[0] = NULL;
        CHECK_FAILS(cohort_await(large), COHORT_ERR_CANCELLED,
                    "site 0, message with tag 1 for site 1");
        free(data);
        for (int i = 2; i < 5; i++)
            gets[i] = cohort_channel_get_object(pair.comms[1], 0, 1, &objects[i]);
        for (int i = 0; i < 3; i++) {
            CHECK_OK(cohort_await(gets[i]));
            CHECK_INT((long long)objects[i].bytes, 30);
            cohort_object_fini(&objects[i]);
        }
        for (int i = 3; i < 5; i++) {
            CHECK_FAILS(cohort_await(gets[i]), COHORT_ERR_GONE, "site 0");
            CHECK(!objects[i].data);
        }
        pair_destroy(&pair);
    }
}

TEST(getter_leaves)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct pair pair = pair_create(seed, 1 + seed % 2);
        unsigned char *data = filled(100000, 1);
        cohort_object object;
        cohort_future *get = cohort_channel_get_object(pair.comms[1], 0, 2, &object);
        cohort_future *early = cohort_channel_set(pair.comms[0], 1, 1, data, 100000);
        CHECK_OK(cohort_await(cohort_channel_set(pair.comms[0], 1, 1, data, 3000)));
        cohort_comm_unref(pair.comms[1]);
        pair.comms[1] = NULL;
        CHECK_FAILS(cohort_await(get), COHORT_ERR_CANCELLED, "tag 2 from site 0");
        CHECK_FAILS(cohort_await(early), COHORT_ERR_GONE, "message with tag 1 for site 1");
        cohort_future *late = cohort_channel_set(pair.comms[0], 1, 1, data, 100000);
        CHECK_INT(cohort_await(late), COHORT_ERR_GONE);
        free(data);
        pair_destroy(&pair);
    }
}

/* Some messages come before their turn, and before there is an endpoint, which then leaves. */
TEST(early_getter_leaves)
{
    enum { NUM_EARLY = 20 };
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct pair pair = pair_create(seed, 2);
        cohort_comm *dups[2];
        cohort_future *made[2], *sets[NUM_EARLY];
        for (int i = 0; i < 2; i++)
            made[i] = cohort_comm_dup(&dups[i], pair.comms[i], 1);
        CHECK_OK(cohort_await(made[0]));
        for (int i = 0; i < NUM_EARLY; i++)
            sets[i] = cohort_channel_set(dups[0], 1, 1, &seed, sizeof(seed));
        CHECK_OK(cohort_await(made[1]));
        cohort_comm_unref(dups[1]);
        for (int i = 0; i < NUM_EARLY; i++)
            CHECK_OK(cohort_await(sets[i]));
        cohort_comm_unref(dups[0]);
        pair_destroy(&pair);
    }
}

/* A get that is reading ends when one of the two sites leaves, with success or with an error. */
TEST(leaving_meanwhile)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct pair pair = pair_create(seed, 1 + seed % 2);
        unsigned char *data = filled(3000000, 1);
        cohort_object object;
        cohort_future *get = cohort_channel_get_object(pair.comms[1], 0, 1, &object);
        cohort_future *set = cohort_channel_set(pair.comms[0], 1, 1, data, 3000000);
        for (uint64_t i = 0; i < seed * 3; i++)
            cohort_yield();
        int leaver = seed / 2 % 2;
        cohort_comm_unref(pair.comms[leaver]);
        pair.comms[leaver] = NULL;
        cohort_status got = cohort_await(get);
        cohort_status was_set = cohort_await(set);
        free(data);
        CHECK(got == COHORT_OK || got == COHORT_ERR_GONE || got == COHORT_ERR_CANCELLED);
        CHECK(was_set == COHORT_OK || was_set == COHORT_ERR_GONE ||
              was_set == COHORT_ERR_CANCELLED);
        if (!got)
            check_content(object.data, object.bytes, 1);
        cohort_object_fini(&object);
        pair_destroy(&pair);
    }
}

TEST(death)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct pair pair = pair_create(seed, 2);
        unsigned char *data = filled(100000, 1);
        cohort_object object, late;
        cohort_future *get = cohort_channel_get_object(pair.comms[1], 0, 2, &object);
        cohort_future *set = cohort_channel_set(pair.comms[1], 0, 2, data, 100000);
        cluster_kill(pair.cluster, 0);
        CHECK_FAILS(cohort_await(get), COHORT_ERR_PEER_DIED, "locality 0");
        CHECK_FAILS(cohort_await(set), COHORT_ERR_PEER_DIED, "locality 0");
        CHECK_INT(cohort_await(cohort_channel_get_object(pair.comms[1], 0, 3, &late)),
                  COHORT_ERR_PEER_DIED);
        CHECK_INT(cohort_await(cohort_channel_set(pair.comms[1], 0, 3, data, 8)),
                  COHORT_ERR_PEER_DIED);
        cohort_comm_unref(pair.comms[0]);
        cohort_comm_unref(pair.comms[1]);
        free(data);
        cluster_abandon(pair.cluster);
    }
}

/* Gets that fail with a death, some in each turn of the event loop, which has other things to do.
 */
enum { DOOMED = 6 * COHORT__ENDS_OF_A_TURN };
static cohort_future *doomed[DOOMED];
static atomic_uint num_failed, most_failed; /* so far; in a turn */

static void count_failed(bool any)
{
    unsigned num = atomic_load(&num_failed), before = num;
    for (unsigned i = num; i < DOOMED && cohort_future_ready(doomed[i]); i++)
        num++;
    atomic_store(&num_failed, num);
    if (num - before > atomic_load(&most_failed))
        atomic_store(&most_failed, num - before);
}

TEST(death_of_many)
{
    enum { KINDS = 3 }; /* all gets with one tag, each with its own, from any site */
    for (uint64_t kind = 0; kind < KINDS; kind++) {
        struct pair pair = pair_create(kind, 2);
        cohort_object object;
        for (uint64_t i = 0; i < DOOMED; i++)
            doomed[i] = kind == 2
                            ? cohort_channel_get_any_object(pair.comms[1], 7, &object, NULL)
                            : cohort_channel_get_object(pair.comms[1], 0, kind ? i : 7, &object);
        atomic_store(&num_failed, 0);
        atomic_store(&most_failed, 0);
        cluster_watch(count_failed);
        cluster_kill(pair.cluster, 0);
        YIELD_WHILE(atomic_load(&num_failed) < DOOMED);
        cohort_future *late = cohort_channel_get_object(pair.comms[1], 0, 7, &object);
        CHECK_INT(cohort_await(late), COHORT_ERR_PEER_DIED);
        for (uint64_t i = 0; i < DOOMED; i++)
            CHECK_INT(cohort_await(doomed[i]), COHORT_ERR_PEER_DIED);
        CHECK(atomic_load(&most_failed) <= 2 * COHORT__ENDS_OF_A_TURN);
        cohort_comm_unref(pair.comms[0]);
        cohort_comm_unref(pair.comms[1]);
        cluster_abandon(pair.cluster);
    }
}

/* And sets of what is revoked, which are taken back. */
TEST(revocation_of_many)
{
    struct pair pair = pair_create(0, 1);
    static unsigned char data[5000];
    for (uint64_t i = 0; i < DOOMED; i++)
        doomed[i] = cohort_channel_set(pair.comms[0], 1, 7, data, sizeof(data));
    atomic_store(&num_failed, 0);
    atomic_store(&most_failed, 0);
    cluster_watch(count_failed);
    CHECK_OK(cohort_await(cohort_comm_revoke(pair.comms[1])));
    YIELD_WHILE(atomic_load(&num_failed) < DOOMED);
    for (uint64_t i = 0; i < DOOMED; i++)
        CHECK_INT(cohort_await(doomed[i]), COHORT_ERR_REVOKED);
    CHECK(atomic_load(&most_failed) <= 2 * COHORT__ENDS_OF_A_TURN);
    cluster_watch(NULL);
    pair_destroy(&pair);
}

/* And sets whose getter leaves without having got them. */
TEST(leaving_with_many)
{
    struct pair pair = pair_create(0, 1);
    static unsigned char data[5000];
    for (uint64_t i = 0; i < DOOMED; i++)
        doomed[i] = cohort_channel_set(pair.comms[0], 1, 7, data, sizeof(data));
    atomic_store(&num_failed, 0);
    atomic_store(&most_failed, 0);
    cluster_watch(count_failed);
    cohort_comm_unref(pair.comms[1]);
    YIELD_WHILE(atomic_load(&num_failed) < DOOMED);
    cluster_watch(NULL);
    for (uint64_t i = 0; i < DOOMED; i++)
        CHECK_INT(cohort_await(doomed[i]), COHORT_ERR_GONE);
    CHECK(atomic_load(&most_failed) <= 2 * COHORT__ENDS_OF_A_TURN);
    cohort_comm_unref(pair.comms[0]);
    cluster_destroy(pair.cluster);
}

/* Flow control ------------------------------------------------------------------------------- */

enum { FLOOD = 3000, FLOOD_BUDGET = 8192 };

static uint32_t count_ready(cohort_future *const *sets)
{
    uint32_t num = 0;
    for (uint32_t i = 0; i < FLOOD; i++)
        num += cohort_future_ready(sets[i]);
    return num;
}

/* Messages of few bytes, or none: so many are kept by a locality whose site gets nothing. */
static cohort_status flood(cohort_comm *comm, void *arg)
{
    const size_t bytes = *(const size_t *)arg;
    const uint32_t most =
        (uint32_t)(FLOOD_BUDGET / (bytes < COHORT__EAGER_LEAST ? COHORT__EAGER_LEAST : bytes));
    static unsigned char data[FLOOD][16];
    static cohort_future *sets[FLOOD]; /* of the one setter */
    bool is_setter = cohort_comm_this_site(comm) == 0;
    for (uint32_t i = 0; is_setter && i < FLOOD; i++) {
        memcpy(data[i], &i, sizeof(i));
        sets[i] = cohort_channel_set(comm, 1, 7, data[i], bytes);
    }
    YIELD_WHILE(is_setter && count_ready(sets) < most);
    CHECK_OK(cohort_await(cohort_barrier(comm, 1)));
    if (is_setter) {
        CHECK_INT(count_ready(sets), most);
        return cohort_await(cohort_when_all(sets, FLOOD));
    }
    for (uint32_t i = 0; i < FLOOD; i++) {
        uint32_t number = i;
        size_t got = 16;
        unsigned char message[16];
        memcpy(message, &number, sizeof(number));
        CHECK_OK(cohort_await(cohort_channel_get(comm, 0, 7, message, sizeof(message), &got)));
        memcpy(&number, message, sizeof(number));
        CHECK_INT(number, i);
        CHECK_INT(got, bytes);
    }
    return COHORT_OK;
}

TEST(flood)
{
    static const size_t flooded[] = {0, 4, 8, 16};
    for (size_t i = 0; i < NUM_OF(flooded); i++) {
        size_t bytes = flooded[i];
        struct cluster *cluster = cluster_create(1, 2, FLOOD_BUDGET);
        CHECK_OK(cluster_sites(cluster, (struct sites){.name = "flood",
                                                       .options = {.num_sites = 2},
                                                       .run = flood,
                                                       .arg = &bytes}));
        cluster_destroy(cluster);
    }
}
