/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/shm.h"

#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/random.h"
#include "runtime/net/shm_end.h"
#include "tests/support/hub_copy.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/net/shm_ends.h"

enum { MIB = 1 << 20 };

/* Messages ------------------------------------------------------------------------------------ */

/* Counts the bytes in station->data. */
static void check_size(struct station *station, const struct cohort__net_message *message)
{
    size_t *next = station->data;
    CHECK_INT(message->bytes, (long long)*next);
    CHECK(message->is_passing);
    CHECK(shm_ends_is_pattern(message->data, 0, message->bytes));
    ++*next;
}

#define TEST_THREE(name) TEST_BETWEEN(name, shm_ends_open(3, COHORT__SHM_STREAM), shm_ends_close())
#define TEST_TWO(name) TEST_BETWEEN(name, shm_ends_open(2, COHORT__SHM_STREAM), shm_ends_close())

TEST_TWO(sizes)
{
    size_t next = 0;
    size_t max = shm_stations[0].net->max_message;
    unsigned char *data = shm_ends_block(max);
    shm_stations[1].on_message = check_size;
    shm_stations[1].data = &next;
    shm_stations[0].peer = &shm_stations[1];
    for (size_t bytes = 0; bytes <= max; bytes++)
        CHECK_INT(station_send(&shm_stations[0], 1, data, bytes), COHORT__NET_SENT);
    station_until(&shm_stations[0], &shm_stations[1].num_messages, max + 1);
    CHECK_INT(next, max + 1);
    free(data);
}

/* Each message has its sender and its number. Messages from one sender arrive in order. */
struct header {
    uint32_t from;
    uint32_t number;
};

static void check_source(struct station *station, const struct cohort__net_message *message)
{
    uint32_t *next = station->data;
    struct header header;
    memcpy(&header, message->data, sizeof header);
    CHECK(header.from < shm_num_ends);
    CHECK_INT(header.number, next[header.from]++);
    CHECK(shm_ends_is_pattern(message->data + sizeof header, header.number,
                              message->bytes - sizeof header));
}

TEST(five)
{
    enum { NUM = 300 };
    static uint32_t next[SHM_MAX_ENDS][SHM_MAX_ENDS];
    unsigned char data[COHORT__SHM_MAX_MESSAGE];
    memset(next, 0, sizeof next);
    struct cohort__random random = cohort__random_seeded(5);
    shm_ends_open(5, COHORT__SHM_STREAM);
    for (uint32_t i = 0; i < 5; i++) {
        shm_stations[i].on_message = check_source;
        shm_stations[i].data = next[i];
    }
    for (uint32_t n = 0; n < NUM * 20; n++) {
        uint32_t from = n % 5, to = (from + 1 + n / 5 % 4) % 5;
        struct header header = {from, n / 20};
        size_t bytes = (size_t)cohort__random_below(&random, sizeof data - sizeof header + 1);
        memcpy(data, &header, sizeof header);
        for (size_t i = 0; i < bytes; i++)
            data[sizeof header + i] = shm_ends_pattern(header.number + i);
        shm_stations[from].peer = &shm_stations[to];
        CHECK_INT(station_send(&shm_stations[from], to, data, sizeof header + bytes),
                  COHORT__NET_SENT);
        if (cohort__random_below(&random, 50) == 0)
            shm_ends_settle();
    }
    shm_ends_settle();
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(shm_stations[i].num_messages, 4 * NUM);
    shm_ends_close();
}

TEST_THREE(again)
{
    for (size_t bytes = 0; bytes <= COHORT__SHM_MAX_MESSAGE; bytes += 520) {
        unsigned before = shm_stations[0].num_writable[1];
        unsigned long received = shm_stations[1].num_messages;
        unsigned long num = shm_ends_fill(0, 1, bytes);
        CHECK(num >= COHORT__SHM_RING_BYTES / (bytes + 128) - 1);
        for (int i = 0; i < 10; i++)
            station_turn(&shm_stations[0]);
        CHECK_INT(shm_stations[0].num_writable[1], before); /* nothing has changed */
        CHECK(!station_block(&shm_stations[0], 0));
        shm_ends_settle();
        CHECK_INT(shm_stations[0].num_writable[1], before + 1);
        CHECK_INT(shm_stations[1].num_messages, (long long)(received + num));
    }
    CHECK_INT(shm_stations[0].num_writable[2], 0);
}

enum { NUM_ROUNDS = 20000 };

/* Answers each message until all rounds are over. */
static void *ping_pong(void *arg)
{
    struct station *station = arg;
    uint32_t other = station == &shm_stations[0];
    char byte = 1;
    struct iovec part = {&byte, 1};
    for (unsigned long round = 0; round < NUM_ROUNDS; round++) {
        if (station == &shm_stations[0])
            CHECK_INT(cohort__net_send(station->net, other, &part, 1), COHORT__NET_SENT);
        while (station->num_messages <= round) {
            CHECK(station_block(station, 20000));
            station->net->poller.progress(station->net->poller.context);
        }
        if (station == &shm_stations[1])
            CHECK_INT(cohort__net_send(station->net, other, &part, 1), COHORT__NET_SENT);
    }
    return NULL;
}

TEST_TWO(ping_pong)
{
    pthread_t thread = new_thread(ping_pong, &shm_stations[1]);
    ping_pong(&shm_stations[0]);
    end_thread(thread);
}

/* Sleeping ------------------------------------------------------------------------------------ */

/* One thread sleeps while another finds the ring full. The end that reads the ring wakes the first
 * thread. */
TEST_TWO(again_asleep)
{
    struct shm_sleeper sleeper = {.station = &shm_stations[0]};
    pthread_t thread = new_thread(shm_ends_sleep_and_turn, &sleeper);
    for (unsigned round = 1; round <= 200; round++) {
        shm_ends_wait_until_asleep(0);
        shm_ends_fill(0, 1, 4000);
        uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
        while (shm_stations[0].num_writable[1] < round) {
            station_turn(&shm_stations[1]);
            CHECK(cohort__clock_now() < deadline);
        }
    }
    shm_ends_wait_until_asleep(0);
    atomic_store(&sleeper.is_done, true);
    cohort__net_remove_peer(shm_stations[0].net, 1); /* also wakes it */
    end_thread(thread);
}

/* A writer's request for room is seen only when everything has been read. Its two stores may arrive
 * late, so the test makes them by hand. */
TEST_TWO(room_seen_late)
{
    shm_ends_fill(0, 1, 4000);
    shm_ends_settle();
    struct cohort__shm *writer = shm_ends_shm(0);
    atomic_store(&writer->own->sleeping, 1);
    atomic_store(&writer->by_number[1]->writer.ring->writer_waits, 1);
    CHECK(!station_turn(&shm_stations[1]));
    struct pollfd entry = {.fd = writer->net.poller.fd, .events = POLLIN};
    CHECK_INT(poll(&entry, 1, 0), 1);
    CHECK_INT(atomic_load(&writer->own->sleeping), 0);
    cohort__shm_disarm(writer);
}

/* Peers ---------------------------------------------------------------------------------------- */

TEST_THREE(remove)
{
    char byte = 1;
    struct iovec part = {&byte, 1};
    CHECK_INT(cohort__net_send(shm_stations[0].net, 7, &part, 1), COHORT__NET_DEAD);
    CHECK_INT(cohort__net_send(shm_stations[0].net, 0, &part, 1), COHORT__NET_DEAD);
    CHECK_INT(cohort__net_send(shm_stations[1].net, 0, &part, 1), COHORT__NET_SENT);
    shm_ends_fill(0, 1, 1000);
    cohort__net_remove_peer(shm_stations[0].net, 1);
    cohort__net_remove_peer(shm_stations[0].net, 1);
    cohort__net_remove_peer(shm_stations[0].net, 70);
    CHECK_INT(cohort__net_send(shm_stations[0].net, 1, &part, 1), COHORT__NET_DEAD);
    shm_ends_settle();
    CHECK_INT(shm_stations[0].num_messages, 0); /* nothing comes from there either */
    CHECK_INT(shm_stations[0].num_writable[1], 0);
    CHECK_INT(shm_stations[0].num_unreachable[1], 0);
    CHECK_INT(station_send(&shm_stations[1], 0, &byte, 1), COHORT__NET_SENT);
    (void)station_block(&shm_stations[0], 0);
    shm_ends_settle();
    CHECK(!station_block(&shm_stations[0], 0)); /* data left in its ring keeps no end awake */
    CHECK_INT(station_send(&shm_stations[0], 2, &byte, 1), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK_INT(shm_stations[2].num_messages, 1);
}

static void expect_bad(const void *address, size_t bytes, const char *why)
{
    CHECK_FAILS(cohort__net_add_peer(shm_stations[0].net, 5, address, bytes),
                COHORT_ERR_BAD_PARAMETER, "peer 5");
    CHECK_CONTAINS(cohort_error_message(), why);
}

TEST_TWO(addresses)
{
    struct cohort__hub *first = shm_hub;
    const struct cohort__net *net = shm_stations[0].net;
    unsigned char address[sizeof net->address];
    memcpy(address, shm_stations[1].net->address, sizeof address);
    expect_bad("inproc\0xyz", 10, "uses transport inproc");
    expect_bad("inp", 3, "uses transport inp,");
    expect_bad(address, 0, "shm");
    expect_bad(address, net->address_bytes - 1, "truncated");
    expect_bad(net->address, net->address_bytes, "slot 0 of 2"); /* itself */
    CHECK_FAILS(cohort__net_add_peer(shm_stations[0].net, 1, address, net->address_bytes),
                COHORT_ERR_BAD_PARAMETER, "already");
    expect_bad(address, net->address_bytes, "already");
    uint32_t slot = 2;
    memcpy(address + 4, &slot, sizeof slot);
    expect_bad(address, net->address_bytes, "slot 2 of 2");
    CHECK(cohort__shm_shares(net, shm_stations[1].net->address, net->address_bytes));
    CHECK(!cohort__shm_shares(net, shm_stations[1].net->address, net->address_bytes - 1));
    CHECK(!cohort__shm_shares(net, "ofi", 4));
    /* Of another hub. */
    CHECK_OK(cohort__hub_create(&shm_hub, 3));
    shm_ends_open_one(2, 2, COHORT__SHM_STREAM);
    expect_bad(shm_stations[2].net->address, net->address_bytes, "does not share memory");
    CHECK(!cohort__shm_shares(net, shm_stations[2].net->address, net->address_bytes));
    struct cohort__net_handlers handlers = station_handlers(&shm_stations[2]);
    struct cohort__net *none = NULL;
    CHECK_FAILS(cohort__shm_create(&handlers, hub_copy(shm_hub), 3, COHORT__SHM_STREAM, &none),
                COHORT_ERR_BAD_PARAMETER, "slot 3 of 3");
    CHECK(!none);
    cohort__net_destroy(shm_stations[2].net);
    cohort__hub_destroy(shm_hub);
    shm_hub = first;
}

/* An end that is called by a slot that it does not know yet gets the message when that peer is
 * added. */
TEST(early_call)
{
    char byte = 1;
    CHECK_OK(cohort__hub_create(&shm_hub, 2));
    shm_num_ends = 2;
    for (uint32_t i = 0; i < 2; i++)
        shm_ends_open_one(i, i, COHORT__SHM_STREAM);
    CHECK_OK(cohort__net_add_peer(shm_stations[0].net, 1, shm_stations[1].net->address,
                                  shm_stations[1].net->address_bytes));
    CHECK_INT(station_send(&shm_stations[0], 1, &byte, 1), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_messages, 0);
    CHECK_OK(cohort__net_add_peer(shm_stations[1].net, 0, shm_stations[0].net->address,
                                  shm_stations[0].net->address_bytes));
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_messages, 1);
    shm_ends_close();
}

/* Nothing of the previous owners of the slots is visible. */
TEST_TWO(epochs)
{
    static unsigned char source[MIB], target[MIB];
    void *region;
    for (unsigned epoch = 0; epoch < 20; epoch++) {
        shm_ends_settle();
        for (uint32_t i = 0; i < 2; i++) {
            CHECK_INT(shm_stations[i].num_messages + shm_stations[i].num_fetched, 0);
            CHECK(!station_block(&shm_stations[i], 0) || !station_block(&shm_stations[i], 0));
        }
        CHECK_INT(station_send(&shm_stations[0], 1, source, 1 + epoch), COHORT__NET_SENT);
        shm_ends_settle();
        CHECK_INT(shm_stations[1].num_messages, 1);
        memset(source, (int)epoch + 1, MIB);
        struct cohort__net_token token = shm_ends_expose(1, source, MIB, &region);
        CHECK_INT(station_fetch(&shm_stations[0], 1, &token, 0, target, MIB), COHORT__NET_SENT);
        shm_ends_settle();
        CHECK_INT(shm_stations[0].num_fetched, 1);
        CHECK_INT(shm_stations[0].num_failed, 0);
        CHECK_INT(memcmp(source, target, MIB), 0);
        /* Left behind: full rings, ends that wait for room in them, requests, a doorbell that was
         * rung. */
        for (int i = 0; i < 3; i++)
            CHECK_INT(station_fetch(&shm_stations[0], 1, &token, 0, target, MIB), COHORT__NET_SENT);
        while (station_turn(&shm_stations[1]))
            ;
        (void)station_block(&shm_stations[1], 0);
        CHECK_INT(station_fetch(&shm_stations[0], 1, &token, 0, target, MIB), COHORT__NET_SENT);
        station_turn(&shm_stations[1]);
        shm_ends_fill(0, 1, 100 + 37 * epoch);
        (void)cohort__shm_arm(shm_ends_shm(epoch % 2));
        shm_ends_fill(1, 0, 1000);
        shm_ends_close_on_hub();
        shm_ends_open_again(2, COHORT__SHM_STREAM);
    }
}

static void write_garbage(unsigned kind, const void *data, size_t bytes, uint32_t lines)
{
    shm_ends_write_garbage(&cohort__shm_peer_get(shm_ends_shm(0), 1)->writer, kind, data, bytes,
                           lines);
}

static void expect_lost(unsigned kind, const void *data, size_t bytes, uint32_t lines,
                        const char *why)
{
    char byte = 1;
    shm_ends_open(3, COHORT__SHM_STREAM);
    CHECK_INT(station_send(&shm_stations[0], 1, &byte, 1), COHORT__NET_SENT);
    write_garbage(kind, data, bytes, lines);
    CHECK_INT(station_send(&shm_stations[0], 1, &byte, 1), COHORT__NET_SENT);
    CHECK_INT(station_send(&shm_stations[2], 1, &byte, 1), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_unreachable[0], 1);
    CHECK_CONTAINS(shm_stations[1].why, why);
    CHECK_INT(shm_stations[1].num_unreachable[2], 0);
    CHECK_INT(shm_stations[1].num_messages, 2);
    CHECK_INT(station_send(&shm_stations[1], 0, &byte, 1), COHORT__NET_DEAD);
    CHECK_INT(station_send(&shm_stations[1], 2, &byte, 1), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK_INT(shm_stations[2].num_messages, 1);
    CHECK_INT(shm_stations[1].num_unreachable[0], 1);
    CHECK(!station_block(&shm_stations[1], 0) || !station_block(&shm_stations[1], 0));
    shm_ends_close();
}

/* Messages whose heads differ in some words or in none, mixed with messages without a head. */
enum { NUM_HEADS = 2000, HEAD_BYTES = COHORT__ENVELOPE_BYTES };

struct headed {
    unsigned char bytes[HEAD_BYTES + 300];
    size_t num_bytes;
};

static struct headed heads[NUM_HEADS];

static void draw_heads(void)
{
    struct cohort__random random = cohort__random_seeded(1);
    for (size_t i = 0; i < NUM_HEADS; i++) {
        struct headed *headed = &heads[i];
        memset(headed->bytes, 0, HEAD_BYTES);
        if (i > 0)
            memcpy(headed->bytes, heads[i - 1].bytes, HEAD_BYTES);
        for (uint64_t changes = cohort__random_below(&random, 12); changes > 0; changes--)
            headed->bytes[cohort__random_below(&random, HEAD_BYTES)] =
                (unsigned char)cohort__random_below(&random, 4);
        headed->num_bytes = cohort__random_below(&random, 8)
                                ? HEAD_BYTES + cohort__random_below(&random, 300)
                                : cohort__random_below(&random, HEAD_BYTES);
        memset(headed->bytes + HEAD_BYTES, (int)i, sizeof(headed->bytes) - HEAD_BYTES);
    }
}

static void check_head(struct station *station, const struct cohort__net_message *message)
{
    const struct headed *headed = &heads[station->num_messages];
    CHECK_INT(message->bytes, (long long)headed->num_bytes);
    CHECK(memcmp(message->data, headed->bytes, headed->num_bytes) == 0);
}

TEST(heads)
{
    draw_heads();
    shm_ends_open(2, COHORT__SHM_STREAM);
    shm_stations[1].on_message = check_head;
    shm_stations[0].peer = &shm_stations[1];
    for (size_t i = 0; i < NUM_HEADS; i++)
        CHECK_INT(station_send(&shm_stations[0], 1, heads[i].bytes, heads[i].num_bytes),
                  COHORT__NET_SENT);
    station_until(&shm_stations[0], &shm_stations[1].num_messages, NUM_HEADS);
    shm_ends_close();
}

/* A message that differs from the previous one only in its number takes one line of the ring. */
TEST(one_line)
{
    unsigned char message[HEAD_BYTES + 48] = {1};
    memset(message + COHORT__ENVELOPE_NUMBER_AT, 0xff, 4); /* the next number is 0 */
    message[COHORT__ENVELOPE_NUMBER_AT + 4] = 5;
    shm_ends_open(2, COHORT__SHM_STREAM);
    CHECK_INT(station_send(&shm_stations[0], 1, message, sizeof(message)), COHORT__NET_SENT);
    const struct cohort__ring_writer *writer = &cohort__shm_peer_get(shm_ends_shm(0), 1)->writer;
    for (int i = 0; i < 10; i++) {
        uint64_t used = writer->used;
        memset(message + COHORT__ENVELOPE_NUMBER_AT, 0, 4);
        message[COHORT__ENVELOPE_NUMBER_AT] = (unsigned char)i;
        CHECK_INT(station_send(&shm_stations[0], 1, message, sizeof(message)), COHORT__NET_SENT);
        CHECK_INT((long long)(writer->used - used), 1);
    }
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_messages, 11);
    shm_ends_close();
}

TEST(garbage)
{
    static const unsigned char noise[COHORT__SHM_CHUNK] = {7};
    expect_lost(COHORT__SHM_MESSAGE, noise, 10, 100000, "makes no sense");
    expect_lost(COHORT__SHM_ABRIDGED, noise, 10, 0, "makes no sense");
    expect_lost(COHORT__SHM_REFUSAL + 1, noise, 10, 0, "something unknown");
    expect_lost(UINT32_MAX, noise, 0, 0, "something unknown");
    /* Unknown in this ring. */
    expect_lost(COHORT__SHM_PIECE, noise, sizeof noise, 0, "something unknown");
    expect_lost(COHORT__SHM_REFUSAL, noise, 0, 0, "something unknown");
}

/* Threads -------------------------------------------------------------------------------------- */

enum { NUM_EACH = 5000 };

static void *send_many(void *arg)
{
    struct station *station = arg;
    unsigned char data[500] = {0};
    for (int i = 0; i < NUM_EACH; i++) {
        struct iovec part = {data, (size_t)i % sizeof data};
        while (cohort__net_send(station->net, 1, &part, 1) == COHORT__NET_AGAIN)
            sched_yield(); /* another thread drives the receiving end */
    }
    return NULL;
}

static void *expose_many(void *arg)
{
    struct station *station = arg;
    for (int i = 0; i < NUM_EACH; i++) {
        void *region;
        struct cohort__net_token token;
        CHECK_OK(cohort__net_expose(station->net, 1, &region, sizeof region, &region, &token));
        cohort__net_withdraw(station->net, 1, region);
    }
    return NULL;
}

/* A peer calls after it was removed, without any message sent to it before. The call has no effect,
 * and progress does not keep looking for it. */
TEST_THREE(removed_calls)
{
    char byte = 1;
    struct iovec part = {&byte, 1};
    cohort__net_remove_peer(shm_stations[0].net, 1);
    CHECK_INT(cohort__net_send(shm_stations[0].net, 1, &part, 1), COHORT__NET_DEAD);
    CHECK_INT(cohort__net_send(shm_stations[1].net, 0, &part, 1), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK_INT(shm_stations[0].num_messages, 0);
    CHECK(cohort__shm_arm(shm_ends_shm(0)));
    cohort__shm_disarm(shm_ends_shm(0));
    CHECK(!shm_ends_shm(0)->by_slot[2]); /* no entry is made for a slot that was not called */
    CHECK_INT(cohort__net_send(shm_stations[2].net, 0, &part, 1), COHORT__NET_SENT);
    station_until(&shm_stations[0], &shm_stations[0].num_messages, 1);
}

/* Several threads send from one end, which a sleeper drives. Meanwhile blocks are exposed, fetched
 * and withdrawn. */
TEST(threads)
{
    struct shm_sleeper sleeper = {.station = &shm_stations[0]};
    pthread_t threads[4];
    void *region;
    unsigned char *source = shm_ends_block(MIB), *target = malloc(MIB);
    shm_ends_open(3, COHORT__SHM_STREAM);
    struct cohort__net_token token = shm_ends_expose(0, source, MIB, &region);
    threads[0] = new_thread(shm_ends_sleep_and_turn, &sleeper);
    threads[1] = new_thread(send_many, &shm_stations[0]);
    threads[2] = new_thread(send_many, &shm_stations[2]);
    threads[3] = new_thread(expose_many, &shm_stations[0]);
    for (unsigned long i = 0; i < 20; i++) {
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, i, target, MIB - i), COHORT__NET_SENT);
        station_until(&shm_stations[1], &shm_stations[1].num_fetched, i + 1);
        CHECK(shm_ends_is_pattern(target, i, MIB - i));
    }
    station_until(&shm_stations[1], &shm_stations[1].num_messages, 2 * NUM_EACH);
    for (int i = 1; i < 4; i++)
        end_thread(threads[i]);
    shm_ends_wait_until_asleep(0);
    atomic_store(&sleeper.is_done, true);
    cohort__net_remove_peer(shm_stations[0].net, 2);
    end_thread(threads[0]);
    CHECK_INT(shm_stations[1].num_failed, 0);
    free(source);
    free(target);
    shm_ends_close();
}
