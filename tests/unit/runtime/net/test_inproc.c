/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/inproc.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/net/station.h"

enum { NUM_ENDS = 3 };

static struct cohort__inproc_hub *hub;
static struct station stations[NUM_ENDS];

/* All ends know each other by their ranks. */
static void open_hub(uint64_t seed)
{
    memset(stations, 0, sizeof stations);
    CHECK_OK(cohort__inproc_hub_create(seed, NUM_ENDS, &hub));
    for (uint32_t i = 0; i < NUM_ENDS; i++) {
        struct cohort__net_handlers handlers = station_handlers(&stations[i]);
        CHECK_OK(cohort__inproc_create(hub, i, &handlers, &stations[i].net));
    }
    for (uint32_t i = 0; i < NUM_ENDS; i++)
        for (uint32_t k = 0; k < NUM_ENDS; k++)
            CHECK_OK(cohort__net_add_peer(stations[i].net, k, stations[k].net->address,
                                          stations[k].net->address_bytes));
}

static void close_hub(void)
{
    for (uint32_t i = 0; i < NUM_ENDS; i++)
        cohort__net_destroy(stations[i].net);
    cohort__inproc_hub_destroy(hub);
}

enum { NUM_ORDERED = 100 };
struct order {
    unsigned num;
    unsigned char values[NUM_ORDERED];
};

static void record(struct station *station, const struct cohort__net_message *message)
{
    struct order *order = station->data;
    CHECK_INT(message->bytes, 100);
    CHECK(message->capacity >= message->bytes);
    CHECK(order->num < NUM_ORDERED);
    for (size_t i = 0; i < message->bytes; i++)
        CHECK(message->data[i] == message->data[0]);
    order->values[order->num++] = message->data[0];
}

static struct order order_of(uint64_t seed)
{
    struct order order = {0};
    open_hub(seed);
    stations[1].on_message = record;
    stations[1].data = &order;
    stations[0].peer = &stations[1];
    for (unsigned i = 0; i < NUM_ORDERED; i++) {
        unsigned char data[100];
        memset(data, (int)i, sizeof data);
        CHECK_INT(station_send(&stations[0], 1, data, sizeof data), COHORT__NET_SENT);
    }
    station_until(&stations[0], &stations[1].num_messages, NUM_ORDERED);
    close_hub();
    return order;
}

TEST(order)
{
    struct order fifo = order_of(0);
    unsigned num_moved = 0;
    for (unsigned i = 0; i < NUM_ORDERED; i++)
        CHECK_INT(fifo.values[i], i);
    struct order one = order_of(1);
    struct order same = order_of(1);
    struct order other = order_of(2);
    unsigned char seen[NUM_ORDERED] = {0};
    for (unsigned i = 0; i < NUM_ORDERED; i++) {
        seen[one.values[i]]++;
        num_moved += one.values[i] != i;
    }
    for (unsigned i = 0; i < NUM_ORDERED; i++)
        CHECK_INT(seen[i], 1);
    CHECK(num_moved > NUM_ORDERED / 4);
    CHECK(memcmp(&one, &same, sizeof one) == 0);
    CHECK(memcmp(&one, &other, sizeof one) != 0);
}

TEST(again)
{
    open_hub(7);
    unsigned num_again = 0;
    char byte = 1;
    struct iovec part = {&byte, 1};
    for (int i = 0; i < 400; i++)
        num_again += cohort__net_send(stations[0].net, 1, &part, 1) == COHORT__NET_AGAIN;
    CHECK(num_again > 10 && num_again < 200);
    /* Nothing was done for those sends. Each AGAIN is followed by `writable`. */
    stations[0].peer = &stations[1];
    station_until(&stations[0], &stations[1].num_messages, 400 - num_again);
    for (int i = 0; i < 100; i++)
        station_turn(&stations[0]);
    CHECK_INT(stations[1].num_messages, 400 - num_again);
    CHECK_INT(stations[0].num_writable[1], num_again);
    close_hub();
}

TEST(fetch)
{
    static unsigned char source[100000];
    static unsigned char target[100000];
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(i * 7);
    for (uint64_t seed = 0; seed < 4; seed++) {
        void *region;
        struct cohort__net_token token;
        open_hub(seed);
        memset(target, 0, sizeof target);
        CHECK_OK(cohort__net_expose(stations[0].net, 1, source, sizeof source, &region, &token));
        for (size_t at = 0; at < sizeof source; at += 1000)
            CHECK_INT(station_fetch(&stations[1], 0, &token, at, target + at, 1000),
                      COHORT__NET_SENT);
        station_until(&stations[1], &stations[1].num_fetched, 100);
        CHECK_INT(stations[1].num_failed, 0);
        CHECK(memcmp(source, target, sizeof source) == 0);
        /* Beyond the end, of another end's block, and after the block is withdrawn. */
        CHECK_INT(station_fetch(&stations[1], 0, &token, 99999, target, 2), COHORT__NET_SENT);
        CHECK_INT(station_fetch(&stations[1], 2, &token, 0, target, 1), COHORT__NET_SENT);
        station_until(&stations[1], &stations[1].num_failed, 2);
        CHECK_INT(stations[1].fetch_status, COHORT_ERR_PROTOCOL);
        cohort__net_withdraw(stations[0].net, 1, region);
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, 1), COHORT__NET_SENT);
        station_until(&stations[1], &stations[1].num_failed, 3);
        close_hub();
    }
}

TEST(cut)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        unsigned char byte = 1;
        struct iovec part = {&byte, 1};
        void *region;
        struct cohort__net_token token;
        open_hub(seed);
        CHECK_OK(cohort__net_expose(stations[1].net, 0, &byte, 1, &region, &token));
        unsigned char target = 0;
        CHECK_INT(station_fetch(&stations[0], 1, &token, 0, &target, 1), COHORT__NET_SENT);
        cohort__inproc_cut(hub, 1);
        CHECK_INT(cohort__net_send(stations[0].net, 1, &part, 1), COHORT__NET_DEAD);
        CHECK_INT(cohort__net_send(stations[1].net, 0, &part, 1), COHORT__NET_DEAD);
        station_until_unreachable(&stations[0], 1);
        station_until_unreachable(&stations[2], 1);
        station_until(&stations[0], &stations[0].num_fetched, 1);
        CHECK_INT(stations[0].num_failed + target, 1);
        for (int i = 0; i < 50; i++)
            station_turn(&stations[0]);
        CHECK_INT(stations[0].num_unreachable[1], 1);
        CHECK_INT(station_send(&stations[0], 2, &byte, 1), COHORT__NET_SENT);
        close_hub();
    }
}

TEST(remove)
{
    char byte = 1;
    struct iovec part = {&byte, 1};
    open_hub(0);
    CHECK_INT(cohort__net_send(stations[0].net, 9, &part, 1), COHORT__NET_DEAD);
    cohort__net_remove_peer(stations[0].net, 1);
    cohort__net_remove_peer(stations[0].net, 1);
    CHECK_INT(cohort__net_send(stations[0].net, 1, &part, 1), COHORT__NET_DEAD);
    cohort__inproc_cut(hub, 1);
    station_turn(&stations[0]);
    CHECK_INT(stations[0].num_unreachable[1], 0);
    close_hub();
}

TEST(addresses)
{
    open_hub(0);
    struct cohort__net *net = stations[0].net;
    CHECK_FAILS(cohort__net_add_peer(net, 5, "shm\0xyz", 7), COHORT_ERR_BAD_PARAMETER, "shm");
    CHECK_CONTAINS(cohort_error_message(), "inproc");
    CHECK_INT(cohort__net_add_peer(net, 5, net->address, net->address_bytes - 1),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort__net_add_peer(net, 5, net->address, 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort__net_add_peer(net, 1, net->address, net->address_bytes),
                COHORT_ERR_BAD_PARAMETER, "already");
    struct cohort__net_handlers handlers = station_handlers(&stations[0]);
    struct cohort__net *again = NULL;
    CHECK_INT(cohort__inproc_create(hub, 0, &handlers, &again), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort__inproc_create(hub, NUM_ENDS, &handlers, &again), COHORT_ERR_BAD_PARAMETER);
    CHECK(again == NULL);
    close_hub();
}

/* Destroyed with everything still in use. The address sanitizer detects leaks. */
TEST(destroy)
{
    static unsigned char data[1000];
    void *region;
    struct cohort__net_token token;
    open_hub(3);
    stations[1].keep = true;
    stations[0].peer = &stations[1];
    CHECK_INT(station_send(&stations[0], 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&stations[0], &stations[1].num_messages, 1);
    CHECK_INT(station_send(&stations[0], 1, data, sizeof data), COHORT__NET_SENT);
    CHECK_OK(cohort__net_expose(stations[0].net, 1, data, sizeof data, &region, &token));
    CHECK_INT(station_fetch(&stations[1], 0, &token, 0, data + 500, 10), COHORT__NET_SENT);
    unsigned long num_fetched = stations[1].num_fetched;
    close_hub();
    CHECK_INT(stations[1].num_fetched, num_fetched + 1);
    CHECK_INT(stations[1].fetch_status, COHORT_ERR_CANCELLED);
}

static void *send_later(void *arg)
{
    struct station *station = arg;
    char byte = 1;
    struct iovec part = {&byte, 1};
    CHECK_INT(cohort__net_send(station->net, 1, &part, 1), COHORT__NET_SENT);
    return NULL;
}

TEST(arm)
{
    open_hub(0);
    for (int i = 0; i < 200; i++) {
        CHECK(!station_block(&stations[1], 0)); /* idle, so it would block */
        pthread_t thread = new_thread(send_later, &stations[0]);
        while (stations[1].num_messages <= (unsigned long)i) {
            CHECK(station_block(&stations[1], 10000));
            station_turn(&stations[1]);
        }
        end_thread(thread);
    }
    close_hub();
}

enum { NUM_EACH = 20000 };

static void *send_many(void *arg)
{
    struct station *station = arg;
    unsigned char data[50] = {0};
    for (int i = 0; i < NUM_EACH; i++) {
        struct iovec part = {data, sizeof data};
        while (cohort__net_send(station->net, 1, &part, 1) == COHORT__NET_AGAIN)
            ; /* its own end is driven by another thread */
    }
    return NULL;
}

TEST(threads)
{
    pthread_t threads[3];
    open_hub(5);
    threads[0] = new_thread(send_many, &stations[0]);
    threads[1] = new_thread(send_many, &stations[0]);
    threads[2] = new_thread(send_many, &stations[2]);
    station_until(&stations[1], &stations[1].num_messages, 3 * NUM_EACH);
    for (int i = 0; i < 3; i++)
        end_thread(threads[i]);
    close_hub();
}
