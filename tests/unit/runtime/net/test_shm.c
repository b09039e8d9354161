/* SPDX-License-Identifier: Apache-2.0 */
/* Ends in this process, each with descriptors of its own of one hub; and where a process has to die
 * or to be forbidden something, one in a child. */
#include "runtime/net/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/random.h"
#include "runtime/net/shm_end.h"
#include "tests/support/hub_copy.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/net/station.h"

enum { MAX_ENDS = 5, MAX_SLOTS = 200, MIB = 1 << 20 };

static struct cohort__hub *hub;
static struct station stations[MAX_ENDS];
static uint32_t num_ends;

static void open_end(uint32_t number, uint32_t slot, enum cohort__shm_copy copy)
{
    struct station *station = &stations[number];
    memset(station, 0, sizeof *station);
    struct cohort__net_handlers handlers = station_handlers(station);
    CHECK_INT(cohort__shm_create(&handlers, hub_copy(hub), slot, copy, &station->net), COHORT_OK);
}

static void know_each_other(void)
{
    for (uint32_t i = 0; i < num_ends; i++)
        for (uint32_t k = 0; k < num_ends; k++)
            if (i != k)
                CHECK_INT(cohort__net_add_peer(stations[i].net, k, stations[k].net->address,
                                               stations[k].net->address_bytes),
                          COHORT_OK);
}

/* The ends again, on the hub that is there. */
static void open_ends(uint32_t num, enum cohort__shm_copy copy)
{
    num_ends = num;
    for (uint32_t i = 0; i < num; i++)
        open_end(i, i, copy);
    know_each_other();
}

static void open_all(uint32_t num, enum cohort__shm_copy copy)
{
    CHECK_INT(cohort__hub_create(&hub, num), COHORT_OK);
    open_ends(num, copy);
}

static void close_ends(void)
{
    for (uint32_t i = 0; i < num_ends; i++)
        cohort__net_destroy(stations[i].net);
}

static void close_all(void)
{
    close_ends();
    cohort__hub_destroy(hub);
}

static struct cohort__shm *shm_of(uint32_t number)
{
    return (struct cohort__shm *)stations[number].net;
}

/* Turns all until nothing more happens. */
static void settle(void)
{
    bool any;
    do {
        any = false;
        for (uint32_t i = 0; i < num_ends; i++)
            any |= station_turn(&stations[i]);
    } while (any);
}

static unsigned char pattern(size_t at)
{
    return (unsigned char)(at * 13 + (at >> 12) + (at >> 20));
}

static unsigned char *new_block(size_t bytes)
{
    unsigned char *block = malloc(bytes);
    CHECK(block);
    for (size_t i = 0; i < bytes; i++)
        block[i] = pattern(i);
    return block;
}

static bool is_pattern(const unsigned char *data, size_t offset, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != pattern(offset + i))
            return false;
    return true;
}

static struct cohort__net_token expose(uint32_t number, const void *base, size_t bytes,
                                       void **ret_region)
{
    struct cohort__net_token token;
    CHECK_INT(cohort__net_expose(stations[number].net, 0, base, bytes, ret_region, &token),
              COHORT_OK);
    return token;
}

/* Messages ------------------------------------------------------------------------------------ */

/* The bytes that station->data counts. */
static void check_size(struct station *station, const struct cohort__net_message *message)
{
    size_t *next = station->data;
    CHECK_INT(message->bytes, (long long)*next);
    CHECK(message->capacity >= message->bytes);
    CHECK(is_pattern(message->data, 0, message->bytes));
    ++*next;
}

static void test_sizes(void)
{
    size_t next = 0;
    open_all(2, COHORT__SHM_STREAM);
    size_t max = stations[0].net->max_message;
    unsigned char *data = new_block(max);
    stations[1].on_message = check_size;
    stations[1].data = &next;
    stations[0].peer = &stations[1];
    for (size_t bytes = 0; bytes <= max; bytes++)
        CHECK_INT(station_send(&stations[0], 1, data, bytes), COHORT__NET_SENT);
    station_until(&stations[0], &stations[1].num_messages, max + 1);
    CHECK_INT(next, max + 1);
    free(data);
    close_all();
}

/* Each message says who sent it as the how manyth; from one sender they come in order. */
struct header {
    uint32_t from;
    uint32_t number;
};

static void check_source(struct station *station, const struct cohort__net_message *message)
{
    uint32_t *next = station->data;
    struct header header;
    memcpy(&header, message->data, sizeof header);
    CHECK(header.from < num_ends);
    CHECK_INT(header.number, next[header.from]++);
    CHECK(is_pattern(message->data + sizeof header, header.number, message->bytes - sizeof header));
}

static void test_five(void)
{
    enum { NUM = 300 };
    static uint32_t next[MAX_ENDS][MAX_ENDS];
    struct cohort__random random;
    unsigned char data[COHORT__SHM_MAX_MESSAGE];
    memset(next, 0, sizeof next);
    cohort__random_init(&random, 5);
    open_all(5, COHORT__SHM_STREAM);
    for (uint32_t i = 0; i < 5; i++) {
        stations[i].on_message = check_source;
        stations[i].data = next[i];
    }
    for (uint32_t n = 0; n < NUM * 20; n++) {
        uint32_t from = n % 5, to = (from + 1 + n / 5 % 4) % 5;
        struct header header = {from, n / 20};
        size_t bytes = (size_t)cohort__random_below(&random, sizeof data - sizeof header + 1);
        memcpy(data, &header, sizeof header);
        for (size_t i = 0; i < bytes; i++)
            data[sizeof header + i] = pattern(header.number + i);
        stations[from].peer = &stations[to];
        CHECK_INT(station_send(&stations[from], to, data, sizeof header + bytes), COHORT__NET_SENT);
        if (cohort__random_below(&random, 50) == 0)
            settle();
    }
    settle();
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(stations[i].num_messages, 4 * NUM);
    close_all();
}

/* Until there is no room; returns how many went. */
static unsigned long fill(uint32_t from, uint32_t to, size_t bytes)
{
    unsigned char data[COHORT__SHM_MAX_MESSAGE] = {0};
    struct iovec part = {data, bytes};
    enum cohort__net_sent sent;
    unsigned long num = 0;
    while ((sent = cohort__net_send(stations[from].net, to, &part, 1)) == COHORT__NET_SENT)
        num++;
    CHECK_INT(sent, COHORT__NET_AGAIN);
    return num;
}

static void test_again(void)
{
    open_all(3, COHORT__SHM_STREAM);
    for (size_t bytes = 0; bytes <= COHORT__SHM_MAX_MESSAGE; bytes += 520) {
        unsigned before = stations[0].num_writable[1];
        unsigned long received = stations[1].num_messages;
        unsigned long num = fill(0, 1, bytes);
        CHECK(num >= COHORT__SHM_RING_BYTES / (bytes + 128) - 1);
        for (int i = 0; i < 10; i++)
            station_turn(&stations[0]);
        CHECK_INT(stations[0].num_writable[1], before); /* nothing has changed */
        CHECK(!station_block(&stations[0], 0));
        settle();
        CHECK_INT(stations[0].num_writable[1], before + 1);
        CHECK_INT(stations[1].num_messages, (long long)(received + num));
    }
    CHECK_INT(stations[0].num_writable[2], 0);
    close_all();
}

/* Sleeping ------------------------------------------------------------------------------------ */

/* Turns one end, and sleeps whenever nothing happens there. */
struct sleeper {
    struct station *station;
    _Atomic bool is_done;
};

static void *sleep_and_turn(void *arg)
{
    struct sleeper *sleeper = arg;
    while (!atomic_load(&sleeper->is_done)) {
        while (station_turn(sleeper->station))
            ;
        CHECK(station_block(sleeper->station, 20000)); /* else nobody has woken us */
    }
    return NULL;
}

static void wait_until_asleep(uint32_t number)
{
    uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
    while (!atomic_load(&shm_of(number)->own->sleeping)) {
        sched_yield();
        CHECK(cohort__clock_now() < deadline);
    }
}

/* One thread sleeps while another finds the ring full; who reads it wakes the first. */
static void test_again_asleep(void)
{
    struct sleeper sleeper = {.station = &stations[0]};
    pthread_t thread;
    open_all(2, COHORT__SHM_STREAM);
    CHECK_INT(pthread_create(&thread, NULL, sleep_and_turn, &sleeper), 0);
    for (unsigned round = 1; round <= 200; round++) {
        wait_until_asleep(0);
        fill(0, 1, 4000);
        uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
        while (stations[0].num_writable[1] < round) {
            station_turn(&stations[1]);
            CHECK(cohort__clock_now() < deadline);
        }
    }
    wait_until_asleep(0);
    atomic_store(&sleeper.is_done, true);
    cohort__net_remove_peer(stations[0].net, 1); /* wakes it as well */
    CHECK_INT(pthread_join(thread, NULL), 0);
    close_all();
}

/* A writer whose wish for room is seen only when all has been read: as its two stores may come
 * late, they are made by hand. */
static void test_room_seen_late(void)
{
    open_all(2, COHORT__SHM_STREAM);
    fill(0, 1, 4000);
    settle();
    struct cohort__shm *writer = shm_of(0);
    atomic_store(&writer->own->sleeping, 1);
    atomic_store(&writer->by_number[1]->writer.ring->writer_waits, 1);
    CHECK(!station_turn(&stations[1]));
    struct pollfd entry = {.fd = writer->net.poller.fd, .events = POLLIN};
    CHECK_INT(poll(&entry, 1, 0), 1);
    CHECK_INT(atomic_load(&writer->own->sleeping), 0);
    cohort__shm_disarm(writer);
    close_all();
}

/* Pieces that fit into a ring for bulk of these ends when it is empty. */
static size_t pieces_in_ring(void)
{
    size_t lines =
        (cohort__shm_bulk_bytes(hub->size) - sizeof(struct cohort__ring) - 1) / COHORT__RING_LINE;
    return lines * COHORT__RING_LINE / (COHORT__SHM_CHUNK + sizeof(struct cohort__ring_record));
}

/* Where the peer has no time to read, its writer sleeps, whatever it is that waits: bulk, messages
 * or both. */
static void test_stream_sleeps(void)
{
    enum { NUM = 3 };
    void *region;
    unsigned char *source = new_block(MIB), *target = malloc(NUM * MIB);
    open_all(2, COHORT__SHM_STREAM);
    CHECK(NUM * MIB > cohort__shm_bulk_bytes(2));
    struct cohort__net_token token = expose(0, source, MIB, &region);
    for (size_t shift = 1; shift < 40; shift++) {
        /* So that it is full at different places. */
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, 1000 * shift),
                  COHORT__NET_SENT);
        CHECK_INT(station_send(&stations[0], 1, source, 100 * shift), COHORT__NET_SENT);
        settle();
        unsigned long fetched = stations[1].num_fetched;
        for (size_t i = 0; i < NUM; i++)
            CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target + i * MIB, MIB),
                      COHORT__NET_SENT);
        while (station_turn(&stations[0]))
            ;
        CHECK(!station_block(&stations[0], 0));
        if (shift % 2)
            fill(0, 1, 100 * shift);
        while (station_turn(&stations[0]))
            ;
        CHECK(!station_block(&stations[0], 0));
        CHECK(station_block(&stations[1], 0)); /* what has come is seen before it sleeps */
        settle();
        CHECK_INT(stations[1].num_fetched, (long long)fetched + NUM);
        for (size_t i = 0; i < NUM; i++)
            CHECK(is_pattern(target + i * MIB, 0, MIB));
        memset(target, 0, NUM * MIB);
    }
    CHECK_INT(stations[1].num_failed, 0);
    free(source);
    free(target);
    close_all();
}

/* However much of bulk waits, messages go past it. */
static void test_message_beside_bulk(void)
{
    enum { NUM = 4 };
    void *region;
    unsigned char *source = new_block(MIB), *target = malloc(MIB);
    open_all(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = expose(0, source, MIB, &region);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    while (station_turn(&stations[0]))
        ;
    CHECK_INT(station_send(&stations[0], 1, source, 100), COHORT__NET_SENT);
    station_turn(&stations[1]);
    CHECK_INT(stations[1].num_messages, 1);
    CHECK_INT(stations[1].num_fetched, 0); /* one turn takes only so much */
    settle();
    CHECK_INT(stations[1].num_fetched, NUM);
    free(source);
    free(target);
    close_all();
}

/* A turn is soon over, at both ends, however much there is to do. */
static void test_bulk_bounded(void)
{
    enum { NUM = 4, TURNS = (MIB + COHORT__SHM_SPELL - 1) / COHORT__SHM_SPELL };
    void *region;
    unsigned char *source = new_block(MIB), *target = malloc(MIB);
    open_all(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = expose(0, source, MIB, &region);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    unsigned turns = 0;
    while (station_turn(&stations[0]))
        turns++;
    CHECK(turns >= pieces_in_ring() * COHORT__SHM_CHUNK / COHORT__SHM_SPELL);
    for (int i = 0; i < TURNS - 1; i++)
        CHECK(station_turn(&stations[1]));
    CHECK_INT(stations[1].num_fetched, 0);
    settle();
    CHECK_INT(stations[1].num_fetched, NUM);
    CHECK_INT(atomic_load(&shm_of(1)->num_requested), 0); /* from now on nobody looks there */
    CHECK(is_pattern(target, 0, MIB));
    free(source);
    free(target);
    close_all();
}

/* The writer sleeps whenever the ring is full, in a thread; the reader takes a little at a time. */
static void test_bulk_writer_asleep(void)
{
    enum { NUM = 6 };
    struct sleeper sleeper = {.station = &stations[0]};
    pthread_t thread;
    void *region;
    unsigned char *source = new_block(MIB), *target = malloc(MIB);
    open_all(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = expose(0, source, MIB, &region);
    CHECK_INT(pthread_create(&thread, NULL, sleep_and_turn, &sleeper), 0);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
    while (stations[1].num_fetched < NUM) {
        wait_until_asleep(0);
        station_turn(&stations[1]);
        CHECK(cohort__clock_now() < deadline);
    }
    CHECK(is_pattern(target, 0, MIB));
    wait_until_asleep(0);
    atomic_store(&sleeper.is_done, true);
    cohort__net_remove_peer(stations[0].net, 1);
    CHECK_INT(pthread_join(thread, NULL), 0);
    free(source);
    free(target);
    close_all();
}

/* The reader sleeps, in a thread, whenever it has read what there is. */
static void test_bulk_reader_asleep(void)
{
    enum { NUM = 100 };
    struct sleeper sleeper = {.station = &stations[1]};
    pthread_t thread;
    void *region;
    unsigned char *source = new_block(MIB), *target = malloc(MIB);
    open_all(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = expose(0, source, MIB, &region);
    CHECK_INT(pthread_create(&thread, NULL, sleep_and_turn, &sleeper), 0);
    uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
    for (unsigned long i = 0; i < NUM; i++) {
        wait_until_asleep(1);
        CHECK_INT(station_fetch(&stations[1], 0, &token, i, target, MIB - i), COHORT__NET_SENT);
        while (stations[1].num_fetched <= i) {
            wait_until_asleep(1);
            station_turn(&stations[0]);
            CHECK(cohort__clock_now() < deadline);
        }
        CHECK(is_pattern(target, i, MIB - i));
    }
    wait_until_asleep(1);
    atomic_store(&sleeper.is_done, true);
    cohort__net_remove_peer(stations[1].net, 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    free(source);
    free(target);
    close_all();
}

enum { NUM_ROUNDS = 20000 };

/* Answers what came, until all rounds are over. */
static void *ping_pong(void *arg)
{
    struct station *station = arg;
    uint32_t other = station == &stations[0];
    char byte = 1;
    struct iovec part = {&byte, 1};
    for (unsigned long round = 0; round < NUM_ROUNDS; round++) {
        if (station == &stations[0])
            CHECK_INT(cohort__net_send(station->net, other, &part, 1), COHORT__NET_SENT);
        while (station->num_messages <= round) {
            CHECK(station_block(station, 20000));
            station->net->poller.progress(station->net->poller.context);
        }
        if (station == &stations[1])
            CHECK_INT(cohort__net_send(station->net, other, &part, 1), COHORT__NET_SENT);
    }
    return NULL;
}

static void test_ping_pong(void)
{
    pthread_t thread;
    open_all(2, COHORT__SHM_STREAM);
    CHECK_INT(pthread_create(&thread, NULL, ping_pong, &stations[1]), 0);
    ping_pong(&stations[0]);
    CHECK_INT(pthread_join(thread, NULL), 0);
    close_all();
}

/* Fetches ------------------------------------------------------------------------------------- */

static void fetch_all_sizes(enum cohort__shm_copy copy)
{
    static const size_t sizes[] = {1,     2,     63,     64,     65,          4095,    4096, 16367,
                                   16368, 16369, 100000, 262144, MIB / 2 + 1, MIB - 1, MIB};
    void *region;
    unsigned char *source = new_block(2 * MIB), *target = malloc(MIB + 1);
    open_all(2, copy);
    stations[1].peer = &stations[0];
    struct cohort__net_token token = expose(0, source, 2 * MIB, &region);
    unsigned long num = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t offset = 0; offset <= 2 * MIB - sizes[i]; offset += MIB / 2 - 3) {
            memset(target, 0xee, MIB + 1);
            CHECK_INT(station_fetch(&stations[1], 0, &token, offset, target, sizes[i]),
                      COHORT__NET_SENT);
            station_until(&stations[1], &stations[1].num_fetched, ++num);
            CHECK(is_pattern(target, offset, sizes[i]));
            CHECK(target[sizes[i]] == 0xee);
        }
    CHECK_INT(stations[1].num_failed, 0);
    /* Many at once. */
    memset(target, 0xee, MIB);
    for (size_t at = 0; at < MIB; at += 4096)
        CHECK_INT(station_fetch(&stations[1], 0, &token, at, target + at, 4096), COHORT__NET_SENT);
    station_until(&stations[1], &stations[1].num_fetched, num + MIB / 4096);
    CHECK(is_pattern(target, 0, MIB));
    CHECK_INT(stations[1].num_failed, 0);
    CHECK_INT(stations[0].num_messages + stations[1].num_messages, 0);
    free(source);
    free(target);
    close_all();
}

static void test_fetch(void)
{
    fetch_all_sizes(COHORT__SHM_STREAM);
    fetch_all_sizes(COHORT__SHM_DIRECT);
}

static void expect_refused(struct cohort__net_token *token, size_t offset, size_t bytes)
{
    static unsigned char target[MIB];
    unsigned long failed = stations[1].num_failed;
    stations[1].fetch_status = COHORT_OK;
    CHECK_INT(station_fetch(&stations[1], 0, token, offset, target, bytes), COHORT__NET_SENT);
    settle();
    CHECK_INT(stations[1].num_failed, (long long)failed + 1);
    CHECK_INT(stations[1].fetch_status, COHORT_ERR_PROTOCOL);
}

static void test_fetch_outside(void)
{
    unsigned char source[1000] = {0}, target[2];
    void *region, *other;
    open_all(2, COHORT__SHM_STREAM);
    CHECK_INT(
        cohort__net_expose(stations[0].net, 1, source, 0, &region, &(struct cohort__net_token){0}),
        COHORT_ERR_BAD_PARAMETER);
    struct cohort__net_token token = expose(0, source, sizeof source, &region);
    expect_refused(&token, 999, 2);
    expect_refused(&token, 1000, 1);
    expect_refused(&token, SIZE_MAX, 2);
    expect_refused(&token, 0, 0);
    /* A token that says more than is so, and one of nothing. */
    struct cohort__net_token larger = token, nothing = {{0}};
    memset(larger.bytes + 16, 0xff, 4);
    expect_refused(&larger, 0, 1001);
    expect_refused(&larger, 2000, 1);
    expect_refused(&nothing, 0, 1);
    cohort__net_withdraw(stations[0].net, 1, region);
    struct cohort__net_token next = expose(0, source, sizeof source, &other);
    expect_refused(&token, 0, 1); /* withdrawn; the other block is not taken for it */
    CHECK_INT(station_fetch(&stations[1], 0, &next, 0, target, 1), COHORT__NET_SENT);
    unsigned long failed = stations[1].num_failed;
    settle();
    CHECK_INT(stations[1].num_failed, (long long)failed);
    CHECK_INT(stations[1].num_unreachable[0] + stations[0].num_unreachable[1], 0);
    close_all();
}

/* One that is wrong is reported also while the ring is full. */
static void test_fetch_wrong_when_full(void)
{
    unsigned char source[100] = {0}, target[100];
    void *region;
    open_all(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = expose(0, source, sizeof source, &region);
    fill(1, 0, 40);
    for (int i = 0; i < 3; i++)
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, 100), COHORT__NET_SENT);
    CHECK_INT(station_fetch(&stations[1], 0, &token, 1, target, 100), COHORT__NET_SENT);
    CHECK(station_block(&stations[1], 0));
    station_turn(&stations[1]);
    CHECK_INT(stations[1].num_failed, 1);
    CHECK(!station_block(&stations[1], 0));
    settle();
    CHECK_INT(stations[1].num_fetched, 4);
    CHECK_INT(stations[1].num_failed, 1);
    close_all();
}

/* From when it is withdrawn the block may be gone: after so many TURNS of its owner. */
static void withdraw_under_way(int turns)
{
    enum { NUM = 5 };
    void *region;
    static unsigned char target[MIB];
    open_all(3, COHORT__SHM_STREAM);
    unsigned char *source =
        mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(source != MAP_FAILED);
    struct cohort__net_token token = expose(0, source, MIB, &region);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    CHECK_INT(station_fetch(&stations[2], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    station_turn(&stations[0]);
    station_turn(&stations[2]);
    for (int i = 0; i < turns; i++)
        station_turn(&stations[0]);
    station_turn(&stations[1]);
    cohort__net_withdraw(stations[0].net, 1, region);
    CHECK_INT(munmap(source, MIB), 0);
    settle();
    CHECK_INT(stations[1].num_fetched, NUM);
    CHECK_INT(stations[2].num_fetched, 1);
    unsigned long failed = stations[1].num_failed;
    CHECK(failed >= NUM - pieces_in_ring() * COHORT__SHM_CHUNK / MIB - 1);
    CHECK_INT(stations[1].fetch_status, COHORT_ERR_PROTOCOL);
    if (turns == 1) { /* none was whole by then */
        CHECK_INT(failed, NUM);
        CHECK_INT(stations[2].num_failed, 1);
    }
    /* Both go on. */
    unsigned char *other = new_block(MIB);
    token = expose(0, other, MIB, &region);
    CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    settle();
    CHECK_INT(stations[1].num_fetched, NUM + 1);
    CHECK_INT(stations[1].num_failed, (long long)failed);
    CHECK(is_pattern(target, 0, MIB));
    free(other);
    close_all();
}

static void test_withdraw_under_way(void)
{
    withdraw_under_way(1);
    withdraw_under_way(100); /* with a full ring */
}

/* Each ends once, and nothing is written any more. */
static void remove_under_way(enum cohort__shm_copy copy)
{
    enum { NUM = 8 };
    void *region;
    unsigned char *source = new_block(MIB), *target = malloc(MIB);
    open_all(2, copy);
    struct cohort__net_token token = expose(0, source, MIB, &region);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    stations[1].peer = &stations[0];
    station_until(&stations[1], &stations[1].num_fetched, 1);
    unsigned long fetched = stations[1].num_fetched;
    CHECK(fetched < NUM);
    cohort__net_remove_peer(stations[1].net, 0);
    CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, MIB), COHORT__NET_DEAD);
    CHECK(station_block(&stations[1], 0)); /* there is something to report */
    station_turn(&stations[1]);
    memset(target, 0xee, MIB);
    settle();
    CHECK_INT(stations[1].num_fetched, NUM);
    CHECK_INT(atomic_load(&shm_of(1)->num_requested), 0);
    CHECK_INT(stations[1].num_failed, (long long)(NUM - fetched));
    CHECK_INT(stations[1].fetch_status, COHORT_ERR_PEER_DIED);
    for (size_t i = 0; i < MIB; i++)
        CHECK(target[i] == 0xee);
    CHECK_INT(stations[1].num_unreachable[0], 0); /* that was our own doing */
    /* Its streams end when the owner hears of it. */
    cohort__net_remove_peer(stations[0].net, 1);
    settle();
    cohort__net_withdraw(stations[0].net, 1, region);
    free(source);
    free(target);
    CHECK(!station_block(&stations[0], 0) || !station_block(&stations[0], 0));
    close_all();
}

static void test_remove_under_way(void)
{
    remove_under_way(COHORT__SHM_STREAM);
    remove_under_way(COHORT__SHM_DIRECT);
}

/* Even one that tries again whatever happens. */
static void fetch_again(struct station *station, cohort_status status)
{
    char byte = 0;
    struct iovec part = {&byte, 1};
    CHECK_INT(status, COHORT_ERR_CANCELLED);
    for (uint32_t peer = 0; peer < 2; peer++) {
        CHECK_INT(cohort__net_fetch(station->net, peer, station->data, 0, &byte, 1, station),
                  COHORT__NET_DEAD);
        CHECK_INT(cohort__net_send(station->net, peer, &part, 1), COHORT__NET_DEAD);
        cohort__net_remove_peer(station->net, peer);
    }
}

static void destroy_under_way(enum cohort__shm_copy copy)
{
    static unsigned char source[1000], target[1000];
    void *regions[3];
    open_all(3, copy);
    stations[2].keep = true;
    CHECK_INT(station_send(&stations[0], 2, source, 100), COHORT__NET_SENT);
    settle();
    struct cohort__net_token token = expose(0, source, sizeof source, &regions[0]);
    struct cohort__net_token other = expose(1, source, sizeof source, &regions[1]);
    (void)expose(2, source, sizeof source, &regions[2]);
    CHECK_INT(station_fetch(&stations[2], 0, &token, 0, target, 1000), COHORT__NET_SENT);
    CHECK_INT(station_fetch(&stations[2], 1, &other, 0, target, 1000), COHORT__NET_SENT);
    station_turn(&stations[0]); /* a piece may be in the ring */
    fill(2, 1, 1000);           /* this request may not */
    CHECK_INT(station_fetch(&stations[2], 1, &other, 0, target, 1000), COHORT__NET_SENT);
    stations[2].on_fetched = fetch_again;
    stations[2].data = &token;
    cohort__net_release(stations[2].kept);
    cohort__net_destroy(stations[2].net);
    CHECK_INT(stations[2].num_failed, 3);
    CHECK_INT(stations[2].fetch_status, COHORT_ERR_CANCELLED);
    num_ends = 2;
    settle(); /* streams to nobody do no harm */
    close_all();
}

static void test_destroy(void)
{
    destroy_under_way(COHORT__SHM_STREAM);
    destroy_under_way(COHORT__SHM_DIRECT);
}

/* Peers ---------------------------------------------------------------------------------------- */

static void test_remove(void)
{
    char byte = 1;
    struct iovec part = {&byte, 1};
    open_all(3, COHORT__SHM_STREAM);
    CHECK_INT(cohort__net_send(stations[0].net, 7, &part, 1), COHORT__NET_DEAD);
    CHECK_INT(cohort__net_send(stations[0].net, 0, &part, 1), COHORT__NET_DEAD);
    CHECK_INT(cohort__net_send(stations[1].net, 0, &part, 1), COHORT__NET_SENT);
    fill(0, 1, 1000);
    cohort__net_remove_peer(stations[0].net, 1);
    cohort__net_remove_peer(stations[0].net, 1);
    cohort__net_remove_peer(stations[0].net, 70);
    CHECK_INT(cohort__net_send(stations[0].net, 1, &part, 1), COHORT__NET_DEAD);
    settle();
    CHECK_INT(stations[0].num_messages, 0); /* nothing comes from there either */
    CHECK_INT(stations[0].num_writable[1], 0);
    CHECK_INT(stations[0].num_unreachable[1], 0);
    CHECK_INT(station_send(&stations[1], 0, &byte, 1), COHORT__NET_SENT);
    (void)station_block(&stations[0], 0);
    settle();
    CHECK(!station_block(&stations[0], 0)); /* what lies in its ring keeps nobody awake */
    CHECK_INT(station_send(&stations[0], 2, &byte, 1), COHORT__NET_SENT);
    settle();
    CHECK_INT(stations[2].num_messages, 1);
    close_all();
}

static void expect_bad(const void *address, size_t bytes, const char *why)
{
    CHECK_INT(cohort__net_add_peer(stations[0].net, 5, address, bytes), COHORT_ERR_BAD_PARAMETER);
    CHECK_CONTAINS(cohort_error_message(), "peer 5");
    CHECK_CONTAINS(cohort_error_message(), why);
}

static void test_addresses(void)
{
    open_all(2, COHORT__SHM_STREAM);
    struct cohort__hub *first = hub;
    const struct cohort__net *net = stations[0].net;
    unsigned char address[sizeof net->address];
    memcpy(address, stations[1].net->address, sizeof address);
    expect_bad("inproc\0xyz", 10, "uses transport inproc");
    expect_bad("inp", 3, "uses transport inp,");
    expect_bad(address, 0, "shm");
    expect_bad(address, net->address_bytes - 1, "truncated");
    expect_bad(net->address, net->address_bytes, "slot 0 of 2"); /* itself */
    CHECK_INT(cohort__net_add_peer(stations[0].net, 1, address, net->address_bytes),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_CONTAINS(cohort_error_message(), "already");
    expect_bad(address, net->address_bytes, "already");
    uint32_t slot = 2;
    memcpy(address + 4, &slot, sizeof slot);
    expect_bad(address, net->address_bytes, "slot 2 of 2");
    CHECK(cohort__shm_shares(net, stations[1].net->address, net->address_bytes));
    CHECK(!cohort__shm_shares(net, stations[1].net->address, net->address_bytes - 1));
    CHECK(!cohort__shm_shares(net, "ofi", 4));
    /* Of another hub. */
    CHECK_INT(cohort__hub_create(&hub, 3), COHORT_OK);
    open_end(2, 2, COHORT__SHM_STREAM);
    expect_bad(stations[2].net->address, net->address_bytes, "does not share memory");
    CHECK(!cohort__shm_shares(net, stations[2].net->address, net->address_bytes));
    struct cohort__net_handlers handlers = station_handlers(&stations[2]);
    struct cohort__net *none = NULL;
    CHECK_INT(cohort__shm_create(&handlers, hub_copy(hub), 3, COHORT__SHM_STREAM, &none),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_CONTAINS(cohort_error_message(), "slot 3 of 3");
    CHECK(!none);
    cohort__net_destroy(stations[2].net);
    cohort__hub_destroy(hub);
    hub = first;
    close_all();
}

/* Each from all others at once, more than a ring for bulk holds. */
static void fetch_from_each_other(void)
{
    enum { BYTES = MIB / 4 };
    struct cohort__net_token tokens[MAX_ENDS];
    void *regions[MAX_ENDS];
    unsigned char *source = new_block(MIB), *targets = malloc(MAX_ENDS * MAX_ENDS * BYTES);
    CHECK(BYTES > cohort__shm_bulk_bytes(hub->size));
    for (uint32_t i = 0; i < num_ends; i++)
        tokens[i] = expose(i, source + i, BYTES, &regions[i]);
    for (uint32_t i = 0; i < num_ends; i++)
        for (uint32_t k = 0; k < num_ends; k++)
            if (k != i)
                CHECK_INT(station_fetch(&stations[i], k, &tokens[k], 0,
                                        targets + (i * MAX_ENDS + k) * BYTES, BYTES),
                          COHORT__NET_SENT);
    settle();
    for (uint32_t i = 0; i < num_ends; i++) {
        CHECK_INT(stations[i].num_fetched, num_ends - 1);
        CHECK_INT(stations[i].num_failed, 0);
        for (uint32_t k = 0; k < num_ends; k++)
            CHECK(k == i || is_pattern(targets + (i * MAX_ENDS + k) * BYTES, k, BYTES));
        cohort__net_withdraw(stations[i].net, 0, regions[i]);
    }
    free(source);
    free(targets);
}

/* The slots' bits are in several words. */
static void test_many_slots(void)
{
    static const uint32_t slots[MAX_ENDS] = {0, 63, 64, 127, MAX_SLOTS - 1};
    char byte = 1;
    CHECK_INT(cohort__hub_create(&hub, MAX_SLOTS), COHORT_OK);
    num_ends = MAX_ENDS;
    for (uint32_t i = 0; i < num_ends; i++)
        open_end(i, slots[i], COHORT__SHM_STREAM);
    know_each_other();
    for (uint32_t i = 0; i < num_ends; i++)
        CHECK(!station_block(&stations[i], 0));
    for (uint32_t i = 0; i < num_ends; i++)
        for (uint32_t k = 0; k < num_ends; k++)
            if (k != i)
                CHECK_INT(station_send(&stations[i], k, &byte, 1), COHORT__NET_SENT);
    settle();
    for (uint32_t i = 0; i < num_ends; i++)
        CHECK_INT(stations[i].num_messages, MAX_ENDS - 1);
    fetch_from_each_other();
    close_all();
}

/* Whoever is called by somebody not yet known hears it when that is added. */
static void test_early_call(void)
{
    char byte = 1;
    CHECK_INT(cohort__hub_create(&hub, 2), COHORT_OK);
    num_ends = 2;
    for (uint32_t i = 0; i < 2; i++)
        open_end(i, i, COHORT__SHM_STREAM);
    CHECK_INT(cohort__net_add_peer(stations[0].net, 1, stations[1].net->address,
                                   stations[1].net->address_bytes),
              COHORT_OK);
    CHECK_INT(station_send(&stations[0], 1, &byte, 1), COHORT__NET_SENT);
    settle();
    CHECK_INT(stations[1].num_messages, 0);
    CHECK_INT(cohort__net_add_peer(stations[1].net, 0, stations[0].net->address,
                                   stations[0].net->address_bytes),
              COHORT_OK);
    settle();
    CHECK_INT(stations[1].num_messages, 1);
    close_all();
}

/* Nothing of those who had the slots before is seen. */
static void test_epochs(void)
{
    static unsigned char source[MIB], target[MIB];
    void *region;
    open_all(2, COHORT__SHM_STREAM);
    for (unsigned epoch = 0; epoch < 20; epoch++) {
        settle();
        for (uint32_t i = 0; i < 2; i++) {
            CHECK_INT(stations[i].num_messages + stations[i].num_fetched, 0);
            CHECK(!station_block(&stations[i], 0) || !station_block(&stations[i], 0));
        }
        CHECK_INT(station_send(&stations[0], 1, source, 1 + epoch), COHORT__NET_SENT);
        settle();
        CHECK_INT(stations[1].num_messages, 1);
        memset(source, (int)epoch + 1, MIB);
        struct cohort__net_token token = expose(1, source, MIB, &region);
        CHECK_INT(station_fetch(&stations[0], 1, &token, 0, target, MIB), COHORT__NET_SENT);
        settle();
        CHECK_INT(stations[0].num_fetched, 1);
        CHECK_INT(stations[0].num_failed, 0);
        CHECK_INT(memcmp(source, target, MIB), 0);
        /* Left: full rings, who waits for room in them, requests, a doorbell that was rung. */
        for (int i = 0; i < 3; i++)
            CHECK_INT(station_fetch(&stations[0], 1, &token, 0, target, MIB), COHORT__NET_SENT);
        while (station_turn(&stations[1]))
            ;
        (void)station_block(&stations[1], 0);
        CHECK_INT(station_fetch(&stations[0], 1, &token, 0, target, MIB), COHORT__NET_SENT);
        station_turn(&stations[1]);
        fill(0, 1, 100 + 37 * epoch);
        (void)cohort__shm_arm(shm_of(epoch % 2));
        fill(1, 0, 1000);
        close_ends();
        open_ends(2, COHORT__SHM_STREAM);
    }
    close_all();
}

/* What end 0 writes into a ring to end 1. */
static void write_garbage_into(struct cohort__ring_writer *writer, unsigned kind, const void *data,
                               size_t bytes, uint32_t lines)
{
    struct cohort__ring_record *record = cohort__ring_reserve(writer, bytes);
    CHECK(record);
    record->kind = kind;
    record->bytes = (uint32_t)bytes;
    if (bytes > 0)
        memcpy(record->data, data, bytes);
    cohort__ring_publish(writer, record);
    if (lines > 0)
        atomic_store(&record->size, lines);
}

static void write_garbage(unsigned kind, const void *data, size_t bytes, uint32_t lines)
{
    write_garbage_into(&cohort__shm_peer_get(shm_of(0), 1)->writer, kind, data, bytes, lines);
}

static void expect_lost(unsigned kind, const void *data, size_t bytes, uint32_t lines,
                        const char *why)
{
    char byte = 1;
    open_all(3, COHORT__SHM_STREAM);
    CHECK_INT(station_send(&stations[0], 1, &byte, 1), COHORT__NET_SENT);
    write_garbage(kind, data, bytes, lines);
    CHECK_INT(station_send(&stations[0], 1, &byte, 1), COHORT__NET_SENT);
    CHECK_INT(station_send(&stations[2], 1, &byte, 1), COHORT__NET_SENT);
    settle();
    CHECK_INT(stations[1].num_unreachable[0], 1);
    CHECK_CONTAINS(stations[1].why, why);
    CHECK_INT(stations[1].num_unreachable[2], 0);
    CHECK_INT(stations[1].num_messages, 2);
    CHECK_INT(station_send(&stations[1], 0, &byte, 1), COHORT__NET_DEAD);
    CHECK_INT(station_send(&stations[1], 2, &byte, 1), COHORT__NET_SENT);
    settle();
    CHECK_INT(stations[2].num_messages, 1);
    CHECK_INT(stations[1].num_unreachable[0], 1);
    CHECK(!station_block(&stations[1], 0) || !station_block(&stations[1], 0));
    close_all();
}

static void test_garbage(void)
{
    static const unsigned char noise[COHORT__SHM_CHUNK] = {7};
    expect_lost(COHORT__SHM_MESSAGE, noise, 10, 100000, "makes no sense");
    expect_lost(COHORT__SHM_REFUSAL + 1, noise, 10, 0, "something unknown");
    expect_lost(UINT32_MAX, noise, 0, 0, "something unknown");
    expect_lost(COHORT__SHM_PIECE, noise, sizeof noise, 0, "something unknown"); /* here */
    expect_lost(COHORT__SHM_REFUSAL, noise, 0, 0, "something unknown");
}

/* End 0 writes it into the ring for bulk while end 1 fetches NUM from there, and another from 2. */
static void expect_lost_bulk(int num, unsigned kind, const void *data, size_t bytes, uint32_t lines,
                             const char *why)
{
    unsigned char *source = new_block(MIB), target[100] = {0}, byte = 1;
    void *regions[2];
    open_all(3, COHORT__SHM_STREAM);
    struct cohort__net_token token = expose(0, source, 100, &regions[0]);
    struct cohort__net_token other = expose(2, source, MIB, &regions[1]);
    CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, 100), COHORT__NET_SENT);
    settle();
    CHECK_INT(stations[1].num_fetched, 1);
    CHECK_INT(station_fetch(&stations[1], 2, &other, 0, target, 100), COHORT__NET_SENT);
    for (int i = 0; i < num; i++)
        CHECK_INT(station_fetch(&stations[1], 0, &token, 0, target, 100), COHORT__NET_SENT);
    write_garbage_into(&shm_of(0)->by_number[1]->bulk_writer, kind, data, bytes, lines);
    settle();
    CHECK_INT(stations[1].num_unreachable[0], 1);
    CHECK_CONTAINS(stations[1].why, why);
    CHECK_INT(stations[1].num_unreachable[2], 0);
    CHECK_INT(stations[1].num_fetched, 2 + num);
    CHECK_INT(stations[1].num_failed, num);
    if (num > 0)
        CHECK_INT(stations[1].fetch_status, COHORT_ERR_PEER_DIED);
    CHECK_INT(station_send(&stations[1], 0, &byte, 1), COHORT__NET_DEAD);
    CHECK_INT(station_send(&stations[1], 2, &byte, 1), COHORT__NET_SENT);
    settle();
    CHECK(!station_block(&stations[1], 0) || !station_block(&stations[1], 0));
    close_all();
    free(source);
}

static void test_garbage_bulk(void)
{
    static const unsigned char noise[101] = {7};
    expect_lost_bulk(1, COHORT__SHM_PIECE, noise, 10, 100000, "makes no sense");
    expect_lost_bulk(1, COHORT__SHM_PIECE, noise, sizeof noise, 0, "bytes that nobody asked for");
    expect_lost_bulk(1, COHORT__SHM_REFUSAL + 1, noise, 10, 0, "something unknown");
    expect_lost_bulk(2, COHORT__SHM_MESSAGE, noise, 10, 0, "something unknown");
    expect_lost_bulk(2, COHORT__SHM_REQUEST, noise, sizeof(struct cohort__shm_request), 0,
                     "something unknown");
    expect_lost_bulk(0, COHORT__SHM_PIECE, noise, 10, 0, "bytes that nobody asked for");
    expect_lost_bulk(0, COHORT__SHM_REFUSAL, noise, 0, 0, "refused what nobody asked for");
}

/* Requests that make no sense are refused, in their turn: who makes them takes that for the answer
 * to something else. Nobody gives up the other. */
static void test_garbage_request(void)
{
    static const size_t sizes[] = {0, 1, sizeof(struct cohort__shm_request) - 1,
                                   sizeof(struct cohort__shm_request)};
    unsigned char noise[sizeof(struct cohort__shm_request)], source[100] = {0}, target[100];
    void *region;
    memset(noise, 0xff, sizeof noise);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        open_all(2, COHORT__SHM_STREAM);
        struct cohort__net_token token = expose(1, source, sizeof source, &region);
        CHECK_INT(station_fetch(&stations[0], 1, &token, 0, target, 100), COHORT__NET_SENT);
        settle();
        write_garbage(COHORT__SHM_REQUEST, noise, sizes[i], 0);
        CHECK_INT(station_fetch(&stations[0], 1, &token, 0, target, 100), COHORT__NET_SENT);
        settle();
        CHECK_INT(stations[0].num_fetched, 2);
        CHECK_INT(stations[0].num_failed, 1);
        CHECK_INT(stations[0].fetch_status, COHORT_ERR_PROTOCOL);
        CHECK_INT(stations[1].num_unreachable[0], 0);
        close_all();
    }
}

/* Processes ------------------------------------------------------------------------------------ */

static void forbid_reading(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_INT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    char a = 1, b = 2;
    struct iovec to = {&a, 1}, from = {&b, 1};
    CHECK_INT(process_vm_readv(getpid(), &to, 1, &from, 1, 0), -1);
    CHECK_INT(errno, EPERM);
}

/* Fetches go through the ring where the kernel doesn't let us read, also those already begun. */
static void test_forbidden(void)
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        forbid_reading();
        open_all(2, COHORT__SHM_DIRECT);
        CHECK(shm_of(1)->by_number[0]->may_read);
        close_all();
        fetch_all_sizes(COHORT__SHM_DIRECT);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A process that exposes a block and serves until it is killed. */
struct offer {
    unsigned char address[128];
    size_t address_bytes;
    struct cohort__net_token token;
};

static _Noreturn void serve(int fd)
{
    struct offer offer = {.address_bytes = 0};
    void *region;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    open_end(1, 1, COHORT__SHM_DIRECT);
    CHECK_INT(cohort__net_add_peer(stations[1].net, 0, stations[0].net->address,
                                   stations[0].net->address_bytes),
              COHORT_OK);
    offer.token = expose(1, new_block(MIB), MIB, &region);
    memcpy(offer.address, stations[1].net->address, sizeof offer.address);
    offer.address_bytes = stations[1].net->address_bytes;
    CHECK_INT(write(fd, &offer, sizeof offer), sizeof offer);
    for (;;)
        if (!station_turn(&stations[1]))
            station_block(&stations[1], 1000);
}

/* In a child, as the other end of one here that knows it. */
static pid_t start_server(enum cohort__shm_copy copy, struct offer *ret_offer)
{
    int fds[2];
    CHECK_INT(pipe(fds), 0);
    CHECK_INT(cohort__hub_create(&hub, 2), COHORT_OK);
    num_ends = 1;
    open_end(0, 0, copy);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        serve(fds[1]);
    CHECK_INT(read(fds[0], ret_offer, sizeof *ret_offer), sizeof *ret_offer);
    close(fds[0]);
    close(fds[1]);
    CHECK_INT(
        cohort__net_add_peer(stations[0].net, 1, ret_offer->address, ret_offer->address_bytes),
        COHORT_OK);
    return pid;
}

static void kill_server(enum cohort__shm_copy copy)
{
    static unsigned char target[MIB];
    struct offer offer;
    pid_t pid = start_server(copy, &offer);
    CHECK_INT(station_fetch(&stations[0], 1, &offer.token, 5, target, MIB - 5), COHORT__NET_SENT);
    station_until(&stations[0], &stations[0].num_fetched, 1);
    CHECK_INT(stations[0].num_failed, 0);
    CHECK(is_pattern(target, 5, MIB - 5));
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_INT(station_fetch(&stations[0], 1, &offer.token, 0, target, MIB), COHORT__NET_SENT);
    if (copy == COHORT__SHM_DIRECT && shm_of(0)->by_number[1]->may_read) {
        station_until_unreachable(&stations[0], 1);
        CHECK_CONTAINS(stations[0].why, "its process has ended");
    } else { /* by the ring nobody notices */
        settle();
        CHECK_INT(stations[0].num_fetched, 1);
        cohort__net_remove_peer(stations[0].net, 1);
    }
    station_until(&stations[0], &stations[0].num_fetched, 2);
    CHECK_INT(stations[0].fetch_status, COHORT_ERR_PEER_DIED);
    close_all();
}

/* Killed while its ring for bulk is full: what is in there comes, and the rest ends. */
static void test_killed_under_way(void)
{
    enum { NUM = 4 };
    unsigned char *targets = malloc(NUM * MIB);
    struct offer offer;
    pid_t pid = start_server(COHORT__SHM_STREAM, &offer);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&stations[0], 1, &offer.token, 0, targets + i * MIB, MIB),
                  COHORT__NET_SENT);
    struct cohort__ring *ring = shm_of(0)->by_number[1]->bulk_reader.ring;
    uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
    while (!atomic_load(&ring->writer_waits)) {
        sched_yield();
        CHECK(cohort__clock_now() < deadline);
    }
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    settle();
    unsigned long whole = pieces_in_ring() * COHORT__SHM_CHUNK / MIB;
    CHECK(whole > 0 && whole < NUM);
    CHECK_INT(stations[0].num_fetched, (long long)whole);
    CHECK_INT(stations[0].num_failed, 0);
    CHECK(is_pattern(targets, 0, MIB));
    cohort__net_remove_peer(stations[0].net, 1);
    settle();
    CHECK_INT(stations[0].num_fetched, NUM);
    CHECK_INT(stations[0].num_failed, (long long)(NUM - whole));
    CHECK_INT(stations[0].fetch_status, COHORT_ERR_PEER_DIED);
    CHECK(!station_block(&stations[0], 0) || !station_block(&stations[0], 0));
    free(targets);
    close_all();
}

static void test_killed(void)
{
    kill_server(COHORT__SHM_STREAM);
    kill_server(COHORT__SHM_DIRECT);
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
            sched_yield(); /* its own end is driven by another thread */
    }
    return NULL;
}

static void *expose_many(void *arg)
{
    struct station *station = arg;
    for (int i = 0; i < NUM_EACH; i++) {
        void *region;
        struct cohort__net_token token;
        CHECK_INT(cohort__net_expose(station->net, 1, &region, sizeof region, &region, &token),
                  COHORT_OK);
        cohort__net_withdraw(station->net, 1, region);
    }
    return NULL;
}

/* Several send from one end, which a sleeper drives, while blocks come and go and are fetched. */
static void test_threads(void)
{
    struct sleeper sleeper = {.station = &stations[0]};
    pthread_t threads[4];
    void *region;
    unsigned char *source = new_block(MIB), *target = malloc(MIB);
    open_all(3, COHORT__SHM_STREAM);
    struct cohort__net_token token = expose(0, source, MIB, &region);
    CHECK_INT(pthread_create(&threads[0], NULL, sleep_and_turn, &sleeper), 0);
    CHECK_INT(pthread_create(&threads[1], NULL, send_many, &stations[0]), 0);
    CHECK_INT(pthread_create(&threads[2], NULL, send_many, &stations[2]), 0);
    CHECK_INT(pthread_create(&threads[3], NULL, expose_many, &stations[0]), 0);
    for (unsigned long i = 0; i < 20; i++) {
        CHECK_INT(station_fetch(&stations[1], 0, &token, i, target, MIB - i), COHORT__NET_SENT);
        station_until(&stations[1], &stations[1].num_fetched, i + 1);
        CHECK(is_pattern(target, i, MIB - i));
    }
    station_until(&stations[1], &stations[1].num_messages, 2 * NUM_EACH);
    for (int i = 1; i < 4; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    wait_until_asleep(0);
    atomic_store(&sleeper.is_done, true);
    cohort__net_remove_peer(stations[0].net, 2);
    CHECK_INT(pthread_join(threads[0], NULL), 0);
    CHECK_INT(stations[1].num_failed, 0);
    free(source);
    free(target);
    close_all();
}

static const struct test_case cases[] = {
    {"sizes", test_sizes},
    {"five", test_five},
    {"again", test_again},
    {"again_asleep", test_again_asleep},
    {"room_seen_late", test_room_seen_late},
    {"stream_sleeps", test_stream_sleeps},
    {"message_beside_bulk", test_message_beside_bulk},
    {"bulk_bounded", test_bulk_bounded},
    {"bulk_writer_asleep", test_bulk_writer_asleep},
    {"bulk_reader_asleep", test_bulk_reader_asleep},
    {"ping_pong", test_ping_pong},
    {"fetch", test_fetch},
    {"fetch_outside", test_fetch_outside},
    {"fetch_wrong_when_full", test_fetch_wrong_when_full},
    {"withdraw_under_way", test_withdraw_under_way},
    {"remove_under_way", test_remove_under_way},
    {"destroy", test_destroy},
    {"remove", test_remove},
    {"addresses", test_addresses},
    {"many_slots", test_many_slots},
    {"early_call", test_early_call},
    {"epochs", test_epochs},
    {"garbage", test_garbage},
    {"garbage_bulk", test_garbage_bulk},
    {"garbage_request", test_garbage_request},
    {"forbidden", test_forbidden},
    {"killed", test_killed},
    {"killed_under_way", test_killed_under_way},
    {"threads", test_threads},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
