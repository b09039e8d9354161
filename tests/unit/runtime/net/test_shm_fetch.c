/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of peers, fetched through the ring for bulk, and by process_vm_readv. Where a process has
 * to die or to lose a permission, it is a child. */
#include "runtime/net/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/net/shm_end.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/net/shm_ends.h"

enum { MAX_SLOTS = 200, MIB = 1 << 20 };

/* How many pieces fit into an empty ring for bulk of these ends. */
static size_t pieces_in_ring(void)
{
    size_t lines = (cohort__shm_bulk_bytes(shm_hub->size) - sizeof(struct cohort__ring) - 1) /
                   COHORT__RING_LINE;
    return lines * COHORT__RING_LINE / (COHORT__SHM_CHUNK + sizeof(struct cohort__ring_record));
}

/* Fetches ------------------------------------------------------------------------------------- */

/* IS_LENT: the block is in its owner's heap, and the owner is not asked for anything. */
static void fetch_all_sizes(enum cohort__shm_copy copy, bool is_lent)
{
    static const size_t sizes[] = {1,     2,     63,     64,     65,          4095,    4096, 16367,
                                   16368, 16369, 100000, 262144, MIB / 2 + 1, MIB - 1, MIB};
    void *region;
    unsigned char *block = shm_ends_block(2 * MIB), *target = malloc(MIB + 1), *source = block;
    shm_ends_open(2, copy);
    if (is_lent) {
        void *memory;
        CHECK_OK(cohort__heap_alloc(cohort__shm_heap(&shm_ends_shm(0)->net), &memory, 2 * MIB));
        source = memcpy(memory, block, 2 * MIB);
    }
    shm_stations[1].peer = &shm_stations[0];
    struct cohort__net_token token = shm_ends_expose(0, source, 2 * MIB, &region);
    unsigned long num = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t offset = 0; offset <= 2 * MIB - sizes[i]; offset += MIB / 2 - 3) {
            memset(target, 0xee, MIB + 1);
            CHECK_INT(station_fetch(&shm_stations[1], 0, &token, offset, target, sizes[i]),
                      COHORT__NET_SENT);
            station_until(&shm_stations[1], &shm_stations[1].num_fetched, ++num);
            CHECK(shm_ends_is_pattern(target, offset, sizes[i]));
            CHECK(target[sizes[i]] == 0xee);
        }
    CHECK_INT(shm_stations[1].num_failed, 0);
    /* Many fetches at once. */
    memset(target, 0xee, MIB);
    for (size_t at = 0; at < MIB; at += 4096)
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, at, target + at, 4096),
                  COHORT__NET_SENT);
    station_until(&shm_stations[1], &shm_stations[1].num_fetched, num + MIB / 4096);
    CHECK(shm_ends_is_pattern(target, 0, MIB));
    CHECK_INT(shm_stations[1].num_failed, 0);
    CHECK_INT(shm_stations[0].num_messages + shm_stations[1].num_messages, 0);
    CHECK(!is_lent || atomic_load(&shm_ends_shm(1)->num_sources) == 0);
    CHECK(!is_lent || cohort__heap_free(cohort__shm_heap(&shm_ends_shm(0)->net), source));
    free(block);
    free(target);
    shm_ends_close();
}

TEST(fetch)
{
    fetch_all_sizes(COHORT__SHM_STREAM, false);
    fetch_all_sizes(COHORT__SHM_DIRECT, false);
}

TEST(fetch_lent)
{
    fetch_all_sizes(COHORT__SHM_STREAM, true);
    fetch_all_sizes(COHORT__SHM_DIRECT, true);
}

#define TEST_TWO(name) TEST_BETWEEN(name, shm_ends_open(2, COHORT__SHM_STREAM), shm_ends_close())

/* Who only reads a heap can't write there; both mappings grow on their own. */
TEST_TWO(heap_windows)
{
    enum { FAR = 300 * MIB };
    void *memory;
    struct cohort__net *owner = &shm_ends_shm(0)->net, *other = &shm_ends_shm(1)->net;
    const uint32_t slot = cohort__shm_own_slot(owner);
    CHECK_OK(cohort__heap_alloc(cohort__shm_heap(owner), &memory, MIB));
    unsigned char *owned = memory;
    uint64_t at;
    CHECK(cohort__heap_has(cohort__shm_heap(owner), owned, &at));
    const unsigned char *seen = cohort__shm_heap_read(other, slot, at, MIB);
    CHECK(seen && seen[5] == 0);
    CHECK(!atomic_load(&shm_ends_shm(1)->windows[2 + slot])); /* nobody writes */
    unsigned char *written = cohort__shm_heap_write(other, slot, at, MIB);
    CHECK(written && written != seen);
    written[5] = 55;
    CHECK(seen[5] == 55 && owned[5] == 55);
    CHECK(cohort__shm_heap_read(other, slot, at + 5, 1) == seen + 5);
    CHECK(cohort__shm_heap_write(other, slot, at + 5, 1) == written + 5);
    CHECK(cohort__shm_heap_write(other, slot, FAR, 1));
    CHECK(cohort__shm_heap_write(other, slot, at, 1) != written); /* a larger one */
    CHECK(cohort__shm_heap_read(other, slot, at, 1) == seen);
    written[6] = 66; /* the smaller one stays */
    CHECK(seen[6] == 66);
    CHECK(!cohort__shm_heap_write(other, slot, UINT64_MAX, 1));
    CHECK_CONTAINS(cohort_error_message(), "there can't be 1 bytes");
    CHECK(cohort__heap_free(cohort__shm_heap(owner), memory));
}

static void expect_refused(struct cohort__net_token *token, size_t offset, size_t bytes)
{
    static unsigned char target[MIB];
    unsigned long failed = shm_stations[1].num_failed;
    shm_stations[1].fetch_status = COHORT_OK;
    CHECK_INT(station_fetch(&shm_stations[1], 0, token, offset, target, bytes), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_failed, (long long)failed + 1);
    CHECK_INT(shm_stations[1].fetch_status, COHORT_ERR_PROTOCOL);
}

TEST_TWO(fetch_outside)
{
    unsigned char source[1000] = {0}, target[2];
    void *region, *other;
    CHECK_INT(cohort__net_expose(shm_stations[0].net, 1, source, 0, &region,
                                 &(struct cohort__net_token){0}),
              COHORT_ERR_BAD_PARAMETER);
    struct cohort__net_token token = shm_ends_expose(0, source, sizeof source, &region);
    expect_refused(&token, 999, 2);
    expect_refused(&token, 1000, 1);
    expect_refused(&token, SIZE_MAX, 2);
    expect_refused(&token, 0, 0);
    /* A token that claims too many bytes, and a token of nothing. */
    struct cohort__net_token larger = token, nothing = {{0}};
    memset(larger.bytes + 16, 0xff, 4);
    expect_refused(&larger, 0, 1001);
    expect_refused(&larger, 1, 1000); /* each of offset and length is possible */
    expect_refused(&larger, 2000, 1);
    expect_refused(&nothing, 0, 1);
    cohort__net_withdraw(shm_stations[0].net, 1, region);
    struct cohort__net_token next = shm_ends_expose(0, source, sizeof source, &other);
    expect_refused(&token, 0, 1); /* withdrawn; the other block is not used instead of it */
    CHECK_INT(station_fetch(&shm_stations[1], 0, &next, 0, target, 1), COHORT__NET_SENT);
    unsigned long failed = shm_stations[1].num_failed;
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_failed, (long long)failed);
    CHECK_INT(shm_stations[1].num_unreachable[0] + shm_stations[0].num_unreachable[1], 0);
}

/* A wrong fetch is reported even while the ring is full. */
TEST_TWO(fetch_wrong_when_full)
{
    unsigned char source[100] = {0}, target[100];
    void *region;
    struct cohort__net_token token = shm_ends_expose(0, source, sizeof source, &region);
    shm_ends_fill(1, 0, 40);
    for (int i = 0; i < 3; i++)
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, 100), COHORT__NET_SENT);
    CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 1, target, 100), COHORT__NET_SENT);
    CHECK(station_block(&shm_stations[1], 0));
    station_turn(&shm_stations[1]);
    CHECK_INT(shm_stations[1].num_failed, 1);
    CHECK(!station_block(&shm_stations[1], 0));
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_fetched, 4);
    CHECK_INT(shm_stations[1].num_failed, 1);
}

/* The block may be freed as soon as it is withdrawn, here after TURNS turns of its owner. */
static void withdraw_under_way(int turns)
{
    enum { NUM = 5 };
    void *region;
    static unsigned char target[MIB];
    shm_ends_open(3, COHORT__SHM_STREAM);
    unsigned char *source =
        mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(source != MAP_FAILED);
    struct cohort__net_token token = shm_ends_expose(0, source, MIB, &region);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    CHECK_INT(station_fetch(&shm_stations[2], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    station_turn(&shm_stations[0]);
    station_turn(&shm_stations[2]);
    for (int i = 0; i < turns; i++)
        station_turn(&shm_stations[0]);
    station_turn(&shm_stations[1]);
    cohort__net_withdraw(shm_stations[0].net, 1, region);
    CHECK_INT(munmap(source, MIB), 0);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_fetched, NUM);
    CHECK_INT(shm_stations[2].num_fetched, 1);
    unsigned long failed = shm_stations[1].num_failed;
    CHECK(failed >= NUM - pieces_in_ring() * COHORT__SHM_CHUNK / MIB - 1);
    CHECK_INT(shm_stations[1].fetch_status, COHORT_ERR_PROTOCOL);
    if (turns == 1) { /* none was complete by then */
        CHECK_INT(failed, NUM);
        CHECK_INT(shm_stations[2].num_failed, 1);
    }
    /* Both ends can still be used. */
    unsigned char *other = shm_ends_block(MIB);
    token = shm_ends_expose(0, other, MIB, &region);
    CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_fetched, NUM + 1);
    CHECK_INT(shm_stations[1].num_failed, (long long)failed);
    CHECK(shm_ends_is_pattern(target, 0, MIB));
    free(other);
    shm_ends_close();
}

TEST(withdraw_under_way)
{
    withdraw_under_way(1);
    withdraw_under_way(100); /* with a full ring */
}

/* Each fetch ends once, and nothing is written any more. */
static void remove_under_way(enum cohort__shm_copy copy)
{
    enum { NUM = 8 };
    void *region;
    unsigned char *source = shm_ends_block(MIB), *target = malloc(MIB);
    shm_ends_open(2, copy);
    struct cohort__net_token token = shm_ends_expose(0, source, MIB, &region);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    shm_stations[1].peer = &shm_stations[0];
    station_until(&shm_stations[1], &shm_stations[1].num_fetched, 1);
    unsigned long fetched = shm_stations[1].num_fetched;
    CHECK(fetched < NUM);
    cohort__net_remove_peer(shm_stations[1].net, 0);
    CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, MIB), COHORT__NET_DEAD);
    CHECK(station_block(&shm_stations[1], 0)); /* there is something to report */
    station_turn(&shm_stations[1]);
    memset(target, 0xee, MIB);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_fetched, NUM);
    CHECK_INT(atomic_load(&shm_ends_shm(1)->num_requested), 0);
    CHECK_INT(shm_stations[1].num_failed, (long long)(NUM - fetched));
    CHECK_INT(shm_stations[1].fetch_status, COHORT_ERR_PEER_DIED);
    for (size_t i = 0; i < MIB; i++)
        CHECK(target[i] == 0xee);
    /* Not reported, since we removed the peer ourselves. */
    CHECK_INT(shm_stations[1].num_unreachable[0], 0);
    /* Its streams end when the owner notices. */
    cohort__net_remove_peer(shm_stations[0].net, 1);
    shm_ends_settle();
    cohort__net_withdraw(shm_stations[0].net, 1, region);
    free(source);
    free(target);
    CHECK(!station_block(&shm_stations[0], 0) || !station_block(&shm_stations[0], 0));
    shm_ends_close();
}

TEST(remove_under_way)
{
    remove_under_way(COHORT__SHM_STREAM);
    remove_under_way(COHORT__SHM_DIRECT);
}

/* Even a handler that starts a new fetch whatever happens. */
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
    shm_ends_open(3, copy);
    CHECK_INT(station_send(&shm_stations[0], 2, source, 100), COHORT__NET_SENT);
    shm_ends_settle();
    struct cohort__net_token token = shm_ends_expose(0, source, sizeof source, &regions[0]);
    struct cohort__net_token other = shm_ends_expose(1, source, sizeof source, &regions[1]);
    (void)shm_ends_expose(2, source, sizeof source, &regions[2]);
    CHECK_INT(station_fetch(&shm_stations[2], 0, &token, 0, target, 1000), COHORT__NET_SENT);
    CHECK_INT(station_fetch(&shm_stations[2], 1, &other, 0, target, 1000), COHORT__NET_SENT);
    station_turn(&shm_stations[0]); /* a piece may be in the ring */
    shm_ends_fill(2, 1, 1000);      /* this request may not */
    CHECK_INT(station_fetch(&shm_stations[2], 1, &other, 0, target, 1000), COHORT__NET_SENT);
    shm_stations[2].on_fetched = fetch_again;
    shm_stations[2].data = &token;
    cohort__net_destroy(shm_stations[2].net);
    CHECK_INT(shm_stations[2].num_failed, 3);
    CHECK_INT(shm_stations[2].fetch_status, COHORT_ERR_CANCELLED);
    shm_num_ends = 2;
    shm_ends_settle(); /* streams to a removed peer do no harm */
    shm_ends_close();
}

TEST(destroy)
{
    destroy_under_way(COHORT__SHM_STREAM);
    destroy_under_way(COHORT__SHM_DIRECT);
}

/* The ring for bulk ----------------------------------------------------------------------- */

/* If the peer has no time to read, its writer sleeps, whatever is waiting: bulk, messages or both.
 */
TEST(stream_sleeps)
{
    enum { NUM = 3 };
    void *region;
    unsigned char *source = shm_ends_block(MIB), *target = malloc(NUM * MIB);
    shm_ends_open(2, COHORT__SHM_STREAM);
    CHECK(NUM * MIB > cohort__shm_bulk_bytes(2));
    struct cohort__net_token token = shm_ends_expose(0, source, MIB, &region);
    for (size_t shift = 1; shift < 40; shift++) {
        /* The start differs, so that the ring is full at different places. */
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, 1000 * shift),
                  COHORT__NET_SENT);
        CHECK_INT(station_send(&shm_stations[0], 1, source, 100 * shift), COHORT__NET_SENT);
        shm_ends_settle();
        unsigned long fetched = shm_stations[1].num_fetched;
        for (size_t i = 0; i < NUM; i++)
            CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target + i * MIB, MIB),
                      COHORT__NET_SENT);
        while (station_turn(&shm_stations[0]))
            ;
        CHECK(!station_block(&shm_stations[0], 0));
        if (shift % 2)
            shm_ends_fill(0, 1, 100 * shift);
        while (station_turn(&shm_stations[0]))
            ;
        CHECK(!station_block(&shm_stations[0], 0));
        CHECK(station_block(&shm_stations[1], 0)); /* what has come is seen before it sleeps */
        shm_ends_settle();
        CHECK_INT(shm_stations[1].num_fetched, (long long)fetched + NUM);
        for (size_t i = 0; i < NUM; i++)
            CHECK(shm_ends_is_pattern(target + i * MIB, 0, MIB));
        memset(target, 0, NUM * MIB);
    }
    CHECK_INT(shm_stations[1].num_failed, 0);
    free(source);
    free(target);
    shm_ends_close();
}

/* However much bulk data waits, messages overtake it. */
TEST(message_beside_bulk)
{
    enum { NUM = 4 };
    void *region;
    unsigned char *source = shm_ends_block(MIB), *target = malloc(MIB);
    shm_ends_open(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = shm_ends_expose(0, source, MIB, &region);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    while (station_turn(&shm_stations[0]))
        ;
    CHECK_INT(station_send(&shm_stations[0], 1, source, 100), COHORT__NET_SENT);
    station_turn(&shm_stations[1]);
    CHECK_INT(shm_stations[1].num_messages, 1);
    CHECK_INT(shm_stations[1].num_fetched, 0); /* one turn takes only a limited amount */
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_fetched, NUM);
    free(source);
    free(target);
    shm_ends_close();
}

/* A turn is short at both ends, however much there is to do. */
TEST(bulk_bounded)
{
    enum { NUM = 4, TURNS = (MIB + COHORT__SHM_TURN_BYTES - 1) / COHORT__SHM_TURN_BYTES };
    void *region;
    unsigned char *source = shm_ends_block(MIB), *target = malloc(MIB);
    shm_ends_open(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = shm_ends_expose(0, source, MIB, &region);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    unsigned turns = 0;
    while (station_turn(&shm_stations[0]))
        turns++;
    CHECK(turns >= pieces_in_ring() * COHORT__SHM_CHUNK / COHORT__SHM_TURN_BYTES);
    for (int i = 0; i < TURNS - 1; i++)
        CHECK(station_turn(&shm_stations[1]));
    CHECK_INT(shm_stations[1].num_fetched, 0);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_fetched, NUM);
    /* From now on this end does not look there. */
    CHECK_INT(atomic_load(&shm_ends_shm(1)->num_requested), 0);
    CHECK(shm_ends_is_pattern(target, 0, MIB));
    free(source);
    free(target);
    shm_ends_close();
}

/* The writer, in a thread, sleeps whenever the ring is full. The reader takes a little at a time.
 */
TEST(bulk_writer_asleep)
{
    enum { NUM = 6 };
    struct shm_sleeper sleeper = {.station = &shm_stations[0]};
    void *region;
    unsigned char *source = shm_ends_block(MIB), *target = malloc(MIB);
    shm_ends_open(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = shm_ends_expose(0, source, MIB, &region);
    pthread_t thread = new_thread(shm_ends_sleep_and_turn, &sleeper);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, MIB), COHORT__NET_SENT);
    uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
    while (shm_stations[1].num_fetched < NUM) {
        shm_ends_wait_until_asleep(0);
        station_turn(&shm_stations[1]);
        CHECK(cohort__clock_now() < deadline);
    }
    CHECK(shm_ends_is_pattern(target, 0, MIB));
    shm_ends_wait_until_asleep(0);
    atomic_store(&sleeper.is_done, true);
    cohort__net_remove_peer(shm_stations[0].net, 1);
    end_thread(thread);
    free(source);
    free(target);
    shm_ends_close();
}

/* The reader, in a thread, sleeps whenever it has read everything. */
TEST(bulk_reader_asleep)
{
    unsigned long num = test_rounds(100, 20);
    struct shm_sleeper sleeper = {.station = &shm_stations[1]};
    void *region;
    unsigned char *source = shm_ends_block(MIB), *target = malloc(MIB);
    shm_ends_open(2, COHORT__SHM_STREAM);
    struct cohort__net_token token = shm_ends_expose(0, source, MIB, &region);
    pthread_t thread = new_thread(shm_ends_sleep_and_turn, &sleeper);
    uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
    for (unsigned long i = 0; i < num; i++) {
        shm_ends_wait_until_asleep(1);
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, i, target, MIB - i), COHORT__NET_SENT);
        while (shm_stations[1].num_fetched <= i) {
            shm_ends_wait_until_asleep(1);
            station_turn(&shm_stations[0]);
            CHECK(cohort__clock_now() < deadline);
        }
        CHECK(shm_ends_is_pattern(target, i, MIB - i));
    }
    shm_ends_wait_until_asleep(1);
    atomic_store(&sleeper.is_done, true);
    cohort__net_remove_peer(shm_stations[1].net, 0);
    end_thread(thread);
    free(source);
    free(target);
    shm_ends_close();
}

/* Each end fetches from all others at once, and more than a ring for bulk holds. */
static void fetch_from_each_other(void)
{
    enum { BYTES = MIB / 4 };
    struct cohort__net_token tokens[SHM_MAX_ENDS];
    void *regions[SHM_MAX_ENDS];
    unsigned char *source = shm_ends_block(MIB),
                  *targets = malloc(SHM_MAX_ENDS * SHM_MAX_ENDS * BYTES);
    CHECK(BYTES > cohort__shm_bulk_bytes(shm_hub->size));
    for (uint32_t i = 0; i < shm_num_ends; i++)
        tokens[i] = shm_ends_expose(i, source + i, BYTES, &regions[i]);
    for (uint32_t i = 0; i < shm_num_ends; i++)
        for (uint32_t k = 0; k < shm_num_ends; k++)
            if (k != i)
                CHECK_INT(station_fetch(&shm_stations[i], k, &tokens[k], 0,
                                        targets + (i * SHM_MAX_ENDS + k) * BYTES, BYTES),
                          COHORT__NET_SENT);
    shm_ends_settle();
    for (uint32_t i = 0; i < shm_num_ends; i++) {
        CHECK_INT(shm_stations[i].num_fetched, shm_num_ends - 1);
        CHECK_INT(shm_stations[i].num_failed, 0);
        for (uint32_t k = 0; k < shm_num_ends; k++)
            CHECK(k == i ||
                  shm_ends_is_pattern(targets + (i * SHM_MAX_ENDS + k) * BYTES, k, BYTES));
        cohort__net_withdraw(shm_stations[i].net, 0, regions[i]);
    }
    free(source);
    free(targets);
}

/* With so many slots, their bits are in several words. */
TEST(many_slots)
{
    static const uint32_t slots[SHM_MAX_ENDS] = {0, 63, 64, 127, MAX_SLOTS - 1};
    char byte = 1;
    CHECK_OK(cohort__hub_create(&shm_hub, MAX_SLOTS));
    shm_num_ends = SHM_MAX_ENDS;
    for (uint32_t i = 0; i < shm_num_ends; i++)
        shm_ends_open_one(i, slots[i], COHORT__SHM_STREAM);
    shm_ends_know_each_other();
    for (uint32_t i = 0; i < shm_num_ends; i++)
        CHECK(!station_block(&shm_stations[i], 0));
    for (uint32_t i = 0; i < shm_num_ends; i++)
        for (uint32_t k = 0; k < shm_num_ends; k++)
            if (k != i)
                CHECK_INT(station_send(&shm_stations[i], k, &byte, 1), COHORT__NET_SENT);
    shm_ends_settle();
    for (uint32_t i = 0; i < shm_num_ends; i++)
        CHECK_INT(shm_stations[i].num_messages, SHM_MAX_ENDS - 1);
    fetch_from_each_other();
    shm_ends_close();
}

/* End 0 writes garbage into the ring for bulk, while end 1 fetches from end 0 (NUM fetches) and
 * from end 2 (one fetch). */
static void expect_lost_bulk(int num, unsigned kind, const void *data, size_t bytes, uint32_t lines,
                             const char *why)
{
    unsigned char *source = shm_ends_block(MIB), target[100] = {0}, byte = 1;
    void *regions[2];
    shm_ends_open(3, COHORT__SHM_STREAM);
    struct cohort__net_token token = shm_ends_expose(0, source, 100, &regions[0]);
    struct cohort__net_token other = shm_ends_expose(2, source, MIB, &regions[1]);
    CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, 100), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_fetched, 1);
    CHECK_INT(station_fetch(&shm_stations[1], 2, &other, 0, target, 100), COHORT__NET_SENT);
    for (int i = 0; i < num; i++)
        CHECK_INT(station_fetch(&shm_stations[1], 0, &token, 0, target, 100), COHORT__NET_SENT);
    shm_ends_write_garbage(&shm_ends_shm(0)->by_number[1]->bulk_writer, kind, data, bytes, lines);
    shm_ends_settle();
    CHECK_INT(shm_stations[1].num_unreachable[0], 1);
    CHECK_CONTAINS(shm_stations[1].why, why);
    CHECK_INT(shm_stations[1].num_unreachable[2], 0);
    CHECK_INT(shm_stations[1].num_fetched, 2 + num);
    CHECK_INT(shm_stations[1].num_failed, num);
    if (num > 0)
        CHECK_INT(shm_stations[1].fetch_status, COHORT_ERR_PEER_DIED);
    CHECK_INT(station_send(&shm_stations[1], 0, &byte, 1), COHORT__NET_DEAD);
    CHECK_INT(station_send(&shm_stations[1], 2, &byte, 1), COHORT__NET_SENT);
    shm_ends_settle();
    CHECK(!station_block(&shm_stations[1], 0) || !station_block(&shm_stations[1], 0));
    shm_ends_close();
    free(source);
}

TEST(garbage_bulk)
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

/* Nonsensical requests are refused, in order. The end that makes them takes the refusals as answers
 * to other requests. Neither end gives up the other. */
TEST(garbage_request)
{
    static const size_t sizes[] = {0, 1, sizeof(struct cohort__shm_request) - 1,
                                   sizeof(struct cohort__shm_request)};
    unsigned char noise[sizeof(struct cohort__shm_request)], source[100] = {0}, target[100];
    void *region;
    memset(noise, 0xff, sizeof noise);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        shm_ends_open(2, COHORT__SHM_STREAM);
        struct cohort__net_token token = shm_ends_expose(1, source, sizeof source, &region);
        CHECK_INT(station_fetch(&shm_stations[0], 1, &token, 0, target, 100), COHORT__NET_SENT);
        shm_ends_settle();
        shm_ends_write_garbage(&cohort__shm_peer_get(shm_ends_shm(0), 1)->writer,
                               COHORT__SHM_REQUEST, noise, sizes[i], 0);
        CHECK_INT(station_fetch(&shm_stations[0], 1, &token, 0, target, 100), COHORT__NET_SENT);
        shm_ends_settle();
        CHECK_INT(shm_stations[0].num_fetched, 2);
        CHECK_INT(shm_stations[0].num_failed, 1);
        CHECK_INT(shm_stations[0].fetch_status, COHORT_ERR_PROTOCOL);
        CHECK_INT(shm_stations[1].num_unreachable[0], 0);
        shm_ends_close();
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

/* If the kernel doesn't let us read, fetches go through the ring, also those that have already
 * begun. */
TEST(forbidden)
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        forbid_reading();
        shm_ends_open(2, COHORT__SHM_DIRECT);
        CHECK(cohort__shm_peer_get(shm_ends_shm(1), 0)->may_read);
        shm_ends_close();
        fetch_all_sizes(COHORT__SHM_DIRECT, false);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A process that exposes a block and serves it until it is killed. */
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
    shm_ends_open_one(1, 1, COHORT__SHM_DIRECT);
    CHECK_OK(cohort__net_add_peer(shm_stations[1].net, 0, shm_stations[0].net->address,
                                  shm_stations[0].net->address_bytes));
    offer.token = shm_ends_expose(1, shm_ends_block(MIB), MIB, &region);
    memcpy(offer.address, shm_stations[1].net->address, sizeof offer.address);
    offer.address_bytes = shm_stations[1].net->address_bytes;
    CHECK_INT(write(fd, &offer, sizeof offer), sizeof offer);
    for (;;)
        if (!station_turn(&shm_stations[1]))
            station_block(&shm_stations[1], 1000);
}

/* Runs in a child, as the other end for an end here that knows it. */
static pid_t start_server(enum cohort__shm_copy copy, struct offer *ret_offer)
{
    int fds[2];
    CHECK_INT(pipe(fds), 0);
    CHECK_OK(cohort__hub_create(&shm_hub, 2));
    shm_num_ends = 1;
    shm_ends_open_one(0, 0, copy);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        serve(fds[1]);
    CHECK_INT(read(fds[0], ret_offer, sizeof *ret_offer), sizeof *ret_offer);
    close(fds[0]);
    close(fds[1]);
    CHECK_OK(
        cohort__net_add_peer(shm_stations[0].net, 1, ret_offer->address, ret_offer->address_bytes));
    return pid;
}

static void kill_server(enum cohort__shm_copy copy)
{
    static unsigned char target[MIB];
    struct offer offer;
    pid_t pid = start_server(copy, &offer);
    CHECK_INT(station_fetch(&shm_stations[0], 1, &offer.token, 5, target, MIB - 5),
              COHORT__NET_SENT);
    station_until(&shm_stations[0], &shm_stations[0].num_fetched, 1);
    CHECK_INT(shm_stations[0].num_failed, 0);
    CHECK(shm_ends_is_pattern(target, 5, MIB - 5));
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_INT(station_fetch(&shm_stations[0], 1, &offer.token, 0, target, MIB), COHORT__NET_SENT);
    if (copy == COHORT__SHM_DIRECT && shm_ends_shm(0)->by_number[1]->may_read) {
        station_until_unreachable(&shm_stations[0], 1);
        CHECK_CONTAINS(shm_stations[0].why, "its process has ended");
    } else { /* with the ring the death is not noticed */
        shm_ends_settle();
        CHECK_INT(shm_stations[0].num_fetched, 1);
        cohort__net_remove_peer(shm_stations[0].net, 1);
    }
    station_until(&shm_stations[0], &shm_stations[0].num_fetched, 2);
    CHECK_INT(shm_stations[0].fetch_status, COHORT_ERR_PEER_DIED);
    shm_ends_close();
}

/* Killed while its ring for bulk is full. The data in the ring is delivered, and the rest ends. */
TEST(killed_under_way)
{
    enum { NUM = 4 };
    unsigned char *targets = malloc(NUM * MIB);
    struct offer offer;
    pid_t pid = start_server(COHORT__SHM_STREAM, &offer);
    for (int i = 0; i < NUM; i++)
        CHECK_INT(station_fetch(&shm_stations[0], 1, &offer.token, 0, targets + i * MIB, MIB),
                  COHORT__NET_SENT);
    struct cohort__ring *ring = shm_ends_shm(0)->by_number[1]->bulk_reader.ring;
    uint64_t deadline = cohort__clock_after(UINT64_C(20000000000));
    while (!atomic_load(&ring->writer_waits)) {
        sched_yield();
        CHECK(cohort__clock_now() < deadline);
    }
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    shm_ends_settle();
    unsigned long whole = pieces_in_ring() * COHORT__SHM_CHUNK / MIB;
    CHECK(whole > 0 && whole < NUM);
    CHECK_INT(shm_stations[0].num_fetched, (long long)whole);
    CHECK_INT(shm_stations[0].num_failed, 0);
    CHECK(shm_ends_is_pattern(targets, 0, MIB));
    cohort__net_remove_peer(shm_stations[0].net, 1);
    shm_ends_settle();
    CHECK_INT(shm_stations[0].num_fetched, NUM);
    CHECK_INT(shm_stations[0].num_failed, (long long)(NUM - whole));
    CHECK_INT(shm_stations[0].fetch_status, COHORT_ERR_PEER_DIED);
    CHECK(!station_block(&shm_stations[0], 0) || !station_block(&shm_stations[0], 0));
    free(targets);
    shm_ends_close();
}

/* The owner's process has ended, as another one knows, which has given the memory of its heap back:
 * what is read there is worth nothing. */
TEST(lent_gone)
{
    void *region, *memory;
    unsigned char target[100];
    struct stat before, after;
    shm_ends_open(3, COHORT__SHM_STREAM);
    CHECK_OK(cohort__heap_alloc(cohort__shm_heap(&shm_ends_shm(1)->net), &memory, MIB));
    memset(memory, 7, MIB);
    struct cohort__net_token token = shm_ends_expose(1, memory, MIB, &region);
    CHECK(!cohort__shm_heap_is_gone(&shm_ends_shm(0)->net, 1));
    CHECK_INT(fstat(shm_hub->memory, &before), 0);
    cohort__shm_heap_end(&shm_ends_shm(2)->net, 1);
    CHECK_INT(fstat(shm_hub->memory, &after), 0);
    CHECK_INT(after.st_blocks, before.st_blocks - MIB / 512);
    CHECK(cohort__shm_heap_is_gone(&shm_ends_shm(0)->net, 1));
    CHECK_INT(station_fetch(&shm_stations[0], 1, &token, 0, target, sizeof target),
              COHORT__NET_SENT);
    station_until_unreachable(&shm_stations[0], 1);
    CHECK_INT(shm_stations[0].num_fetched, shm_stations[0].num_failed);
    CHECK(cohort__heap_free(cohort__shm_heap(&shm_ends_shm(1)->net), memory));
    shm_ends_close();
}

TEST(killed)
{
    kill_server(COHORT__SHM_STREAM);
    kill_server(COHORT__SHM_DIRECT);
}
