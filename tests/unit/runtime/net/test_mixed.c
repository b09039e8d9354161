/* SPDX-License-Identifier: Apache-2.0 */
/* Two hubs, as on two hosts, with two ends each. An end shares memory with one peer, and reaches
 * the two others over the loopback interface. */
#include "runtime/net/mixed.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/net/ofi.h"
#include "runtime/net/shm.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/net/station.h"

enum { NUM_ENDS = 4, PER_HOST = 2, BLOCK = 100000 };

static struct station stations[NUM_ENDS];

static struct cohort__hub *copy_hub(const struct cohort__hub *hub)
{
    struct cohort__hub *copy = NULL;
    int doorbells[PER_HOST];
    int memory = fcntl(hub->memory, F_DUPFD_CLOEXEC, 0);
    for (uint32_t slot = 0; slot < PER_HOST; slot++)
        doorbells[slot] = fcntl(hub->doorbells[slot], F_DUPFD_CLOEXEC, 0);
    CHECK_OK(cohort__hub_adopt(&copy, memory, doorbells, PER_HOST));
    return copy;
}

static void open_end(uint32_t number, const struct cohort__hub *hub)
{
    struct station *station = &stations[number];
    struct cohort__net *near = NULL, *far = NULL;
    memset(station, 0, sizeof *station);
    struct cohort__net_handlers handlers = station_handlers(station);
    CHECK_OK(
        cohort__shm_create(&handlers, copy_hub(hub), number % PER_HOST, COHORT__SHM_STREAM, &near));
    if (cohort__ofi_create(&handlers, number, NULL, &far) != COHORT_OK)
        FAIL("%s", cohort_error_message());
    CHECK_OK(cohort__mixed_create(near, far, &station->net));
}

static void open_all(void)
{
    for (uint32_t host = 0; host < NUM_ENDS / PER_HOST; host++) {
        struct cohort__hub *hub = NULL;
        CHECK_OK(cohort__hub_create(&hub, PER_HOST));
        for (uint32_t slot = 0; slot < PER_HOST; slot++)
            open_end(host * PER_HOST + slot, hub);
        cohort__hub_destroy(hub);
    }
    for (uint32_t i = 0; i < NUM_ENDS; i++)
        for (uint32_t k = 0; k < NUM_ENDS; k++)
            if (i != k)
                CHECK_OK(cohort__net_add_peer(stations[i].net, k, stations[k].net->address,
                                              stations[k].net->address_bytes));
}

static void close_all(void)
{
    for (uint32_t i = 0; i < NUM_ENDS; i++)
        cohort__net_destroy(stations[i].net);
}

static void turn_all_until(const _Atomic unsigned long *counter, unsigned long want)
{
    uint64_t deadline = station_now() + UINT64_C(30000000000);
    while (atomic_load(counter) < want) {
        bool any = false;
        for (uint32_t i = 0; i < NUM_ENDS; i++)
            any |= stations[i].net->poller.progress(stations[i].net->poller.context);
        if (!any)
            sched_yield();
        CHECK(station_now() < deadline);
    }
}

static unsigned char pattern(size_t at)
{
    return (unsigned char)(at * 13 + (at >> 12));
}

static void check_pattern(struct station *station, const struct cohort__net_message *message)
{
    for (size_t i = 0; i < message->bytes; i++)
        CHECK(message->data[i] == pattern(i));
}

#define TEST_OPEN(name) TEST_BETWEEN(name, open_all(), close_all())

TEST_OPEN(messages)
{
    enum { NUM = 50 };
    size_t max = stations[0].net->max_message;
    unsigned char *data = test_malloc(max);
    for (size_t i = 0; i < max; i++)
        data[i] = pattern(i);
    for (uint32_t i = 0; i < NUM_ENDS; i++)
        stations[i].on_message = check_pattern;
    for (size_t n = 0; n < NUM; n++)
        for (uint32_t i = 0; i < NUM_ENDS; i++)
            for (uint32_t k = 0; k < NUM_ENDS; k++)
                if (i != k) {
                    size_t most = cohort__net_max_message(stations[i].net, k);
                    CHECK(most > 1000 && most <= max);
                    stations[i].peer = &stations[k];
                    CHECK_INT(station_send(&stations[i], k, data, 1 + n * (most - 1) / (NUM - 1)),
                              COHORT__NET_SENT);
                    CHECK_INT(
                        cohort__net_send(stations[i].net, k, &(struct iovec){data, most + 1}, 1),
                        COHORT__NET_DEAD);
                    stations[i].peer = NULL;
                }
    for (uint32_t i = 0; i < NUM_ENDS; i++)
        turn_all_until(&stations[i].num_messages, NUM * (NUM_ENDS - 1));
    free(data);
}

TEST(fetch)
{
    static unsigned char source[BLOCK], target[NUM_ENDS][BLOCK];
    for (size_t i = 0; i < BLOCK; i++)
        source[i] = pattern(i);
    open_all();
    for (uint32_t owner = 0; owner < NUM_ENDS; owner++) {
        void *regions[NUM_ENDS];
        memset(target, 0, sizeof target);
        for (uint32_t i = 0; i < NUM_ENDS; i++) {
            struct cohort__net_token token;
            if (i == owner)
                continue;
            CHECK_OK(
                cohort__net_expose(stations[owner].net, i, source, BLOCK, &regions[i], &token));
            stations[i].peer = &stations[owner]; /* which may have to connect first */
            CHECK_INT(station_fetch(&stations[i], owner, &token, 0, target[i], BLOCK),
                      COHORT__NET_SENT);
        }
        for (uint32_t i = 0; i < NUM_ENDS; i++) {
            if (i == owner)
                continue;
            turn_all_until(&stations[i].num_fetched, owner + (i > owner));
            CHECK(memcmp(source, target[i], BLOCK) == 0);
            cohort__net_withdraw(stations[owner].net, i, regions[i]);
        }
    }
    for (uint32_t i = 0; i < NUM_ENDS; i++)
        CHECK_INT(stations[i].num_failed, 0);
    close_all();
}

TEST_OPEN(unknown)
{
    char byte = 1;
    struct iovec part = {&byte, 1};
    struct cohort__net_token token = {{0}};
    void *region;
    struct cohort__net *net = stations[0].net;
    static const uint32_t unknown[] = {0, 5, 1000};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(cohort__net_send(net, unknown[i], &part, 1), COHORT__NET_DEAD);
        CHECK_INT(cohort__net_fetch(net, unknown[i], &token, 0, &byte, 1, NULL), COHORT__NET_DEAD);
        CHECK_INT(cohort__net_expose(net, unknown[i], &byte, 1, &region, &token),
                  COHORT_ERR_BAD_PARAMETER);
        cohort__net_remove_peer(net, unknown[i]);
    }
    for (uint32_t k = 1; k < NUM_ENDS; k++) {
        cohort__net_remove_peer(net, k);
        CHECK_INT(cohort__net_send(net, k, &part, 1), COHORT__NET_DEAD);
    }
    /* The others can still reach each other. */
    stations[1].peer = &stations[2];
    CHECK_INT(station_send(&stations[1], 2, &byte, 1), COHORT__NET_SENT);
    turn_all_until(&stations[2].num_messages, 1);
}

static void expect_bad(const void *address, size_t bytes, const char *why)
{
    CHECK_FAILS(cohort__net_add_peer(stations[0].net, 5, address, bytes), COHORT_ERR_BAD_PARAMETER,
                "peer 5");
    CHECK_CONTAINS(cohort_error_message(), why);
    CHECK_INT(cohort__net_send(stations[0].net, 5, &(struct iovec){(void *)"", 1}, 1),
              COHORT__NET_DEAD);
}

TEST_OPEN(addresses)
{
    const struct cohort__net *near = stations[1].net, *far = stations[2].net;
    unsigned char address[sizeof near->address];
    expect_bad("", 0, "mixed");
    expect_bad("shm", 4, "uses transport shm, this locality uses mixed");
    expect_bad(near->address, 6, "mixed"); /* no length */
    expect_bad(near->address, 7, "truncated");
    expect_bad(near->address, 7 + near->address[6] - 1u, "truncated");
    memcpy(address, near->address, sizeof address);
    address[6] = 255;
    expect_bad(address, near->address_bytes, "truncated");
    address[6] = 0; /* the near half is empty, and the far half is nonsense */
    expect_bad(address, near->address_bytes, "transport");
    expect_bad(far->address, 7u + far->address[6], ""); /* the far half is empty */
    expect_bad(near->address, near->address_bytes, "already");
    CHECK_FAILS(cohort__net_add_peer(stations[0].net, 1, near->address, near->address_bytes),
                COHORT_ERR_BAD_PARAMETER, "already");
}

/* Messages from its near and far peers in turn. */
struct sender {
    struct station *from;
    unsigned long number; /* of its message */
    pthread_t thread;
};

static void *send_one(void *arg)
{
    struct sender *sender = arg;
    char byte = 1;
    CHECK_INT(station_send(sender->from, 0, &byte, 1), COHORT__NET_SENT);
    /* Over the network the message is sent only when the end is driven. */
    while (atomic_load(&stations[0].num_messages) < sender->number)
        station_turn(sender->from);
    return NULL;
}

TEST_OPEN(sleep)
{
    for (unsigned long round = 0; round < 100; round++) {
        struct sender sender = {.from = &stations[1 + round % 2], .number = round + 1};
        while (station_turn(&stations[0]))
            ;
        sender.thread = new_thread(send_one, &sender);
        while (stations[0].num_messages <= round) {
            CHECK(station_block(&stations[0], 20000));
            station_turn(&stations[0]);
        }
        end_thread(sender.thread);
    }
}

/* A handler of the far half that uses the near half, which no longer exists. */
struct attempt {
    struct cohort__net_token token;
    void *regions[NUM_ENDS];
};

static void try_near(struct station *station, cohort_status status)
{
    struct attempt *attempt = station->data;
    char byte = 1;
    struct iovec part = {&byte, 1};
    CHECK_INT(status, COHORT_ERR_CANCELLED);
    CHECK_INT(cohort__net_send(station->net, 1, &part, 1), COHORT__NET_DEAD);
    cohort__net_remove_peer(station->net, 1);
    if (attempt->regions[1]) /* withdrawn when that was destroyed */
        cohort__net_withdraw(station->net, 1, attempt->regions[1]);
    attempt->regions[1] = NULL;
}

TEST(destroy)
{
    static unsigned char source[BLOCK], target[BLOCK];
    void *region;
    static struct attempt attempt;
    open_all();
    struct cohort__net_token token;
    CHECK_OK(cohort__net_expose(stations[0].net, 1, source, BLOCK, &attempt.regions[1], &token));
    CHECK_OK(cohort__net_expose(stations[2].net, 0, source, BLOCK, &region, &token));
    stations[0].peer = &stations[2];
    CHECK_INT(station_fetch(&stations[0], 2, &token, 0, target, BLOCK), COHORT__NET_SENT);
    stations[0].on_fetched = try_near;
    stations[0].data = &attempt;
    close_all();
    CHECK_INT(stations[0].num_fetched, 1);
    CHECK_INT(stations[0].fetch_status, COHORT_ERR_CANCELLED);
    CHECK(!attempt.regions[1]);
}

/* What was sent to another host leaves with the next progress, after however many that found
 * nothing there. */
TEST_OPEN(after_long)
{
    enum { ROUNDS = 8, NUM = 10, LONG = 300 };
    static const unsigned char byte = 1;
    struct station *a = &stations[0], *b = &stations[2];
    a->peer = b;
    CHECK_INT(station_send(a, 2, &byte, 1), COHORT__NET_SENT);
    station_until(a, &b->num_messages, 1);
    a->peer = NULL;
    for (unsigned long round = 0; round < ROUNDS; round++) {
        for (unsigned long i = 0; i < LONG + round; i++)
            station_turn(a);
        for (unsigned i = 0; i < NUM; i++)
            CHECK_INT(station_send(a, 2, &byte, 1), COHORT__NET_SENT);
        station_turn(a);
        station_until(b, &b->num_messages, 1 + (round + 1) * NUM);
    }
}
