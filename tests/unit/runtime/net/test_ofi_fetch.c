/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches over ofi, and what ends them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/net/ofi_end.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/net/ofi_ends.h"

enum { MIB = 1 << 20, PIECE = COHORT__OFI_MAX_FETCH };

/* Fetches all of the block in pieces, several at a time. */
static void fetch_block(struct station *station, const struct cohort__net_token *token,
                        unsigned char *target, size_t bytes)
{
    unsigned long started = station->num_fetched;
    for (size_t at = 0; at < bytes; at += PIECE) {
        size_t piece = bytes - at < PIECE ? bytes - at : PIECE;
        station_until(station, &station->num_fetched, started > 8 ? started - 8 : 0);
        CHECK_INT(station_fetch(station, 1, token, at, target + at, piece), COHORT__NET_SENT);
        started++;
    }
    station_until(station, &station->num_fetched, started);
    CHECK_INT(station->num_failed, 0);
}

static size_t big_bytes(void)
{
    const char *text = getenv("COHORT_TEST_FETCH_MIB");
    return (text ? strtoul(text, NULL, 10) : 64) * MIB;
}

TEST(fetch)
{
    struct station a;
    ofi_end_open(&a, 0);
    CHECK_INT(a.net->max_fetch, PIECE);
    pid_t pid = ofi_peer_start(&a);
    size_t sizes[] = {1, 4097, 3 * MIB + 5, big_bytes()};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct cohort__net_token token = ofi_peer_block(&a, sizes[i]);
        unsigned char *target = ofi_mapping(sizes[i]);
        uint64_t begin = station_now();
        fetch_block(&a, &token, target, sizes[i]);
        uint64_t ns = station_now() - begin;
        fprintf(stderr, "%zu bytes: %.0f MB/s\n", sizes[i], 1e3 * (double)sizes[i] / (double)ns);
        for (size_t k = 0; k < sizes[i]; k++)
            if (target[k] != ofi_pattern(k))
                FAIL("byte %zu of %zu is wrong", k, sizes[i]);
        munmap(target, sizes[i]);
    }
    ofi_peer_stop(&a, pid);
    cohort__net_destroy(a.net);
}

TEST(fetch_outside)
{
    static unsigned char source[1000];
    static unsigned char target[1000];
    struct station a;
    struct station b;
    void *region;
    struct cohort__net_token token;
    ofi_pair_open(&a, &b);
    CHECK_OK(cohort__net_expose(b.net, 0, source, sizeof source, &region, &token));
    CHECK_INT(station_fetch(&a, 1, &token, 999, target, 2), COHORT__NET_SENT);
    CHECK_INT(station_fetch(&a, 1, &token, SIZE_MAX, target, 1), COHORT__NET_SENT);
    station_until(&a, &a.num_failed, 2);
    CHECK_INT(a.fetch_status, COHORT_ERR_PROTOCOL);
    CHECK_INT(a.num_unreachable[1], 0);
    CHECK_INT(station_fetch(&a, 1, &token, 999, target, 1), COHORT__NET_SENT);
    station_until(&a, &a.num_fetched, 3);
    CHECK_INT(a.num_failed, 2);
    cohort__net_withdraw(b.net, 0, region);
    ofi_pair_close(&a, &b);
}

/* The time is up when the test says so. */
static bool expects(const struct station *station, uint64_t until)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)station->net;
    atomic_store(&ofi->expects_until, until);
    return station->net->poller.expects(station->net->poller.context);
}

/* While a block is exposed, or is being fetched, something is expected, but not for ever. */
TEST(expects)
{
    static unsigned char source[1000], target[1000];
    struct station a;
    struct station b;
    void *region;
    struct cohort__net_token token;
    ofi_pair_open(&a, &b);
    CHECK(!expects(&a, UINT64_MAX) && !expects(&b, UINT64_MAX));
    CHECK_OK(cohort__net_expose(b.net, 0, source, sizeof source, &region, &token));
    CHECK(!expects(&a, UINT64_MAX) && expects(&b, UINT64_MAX) && !expects(&b, 1));
    CHECK_INT(station_fetch(&a, 1, &token, 0, target, 1000), COHORT__NET_SENT);
    CHECK(expects(&a, UINT64_MAX) && !expects(&a, 1));
    station_until(&a, &a.num_fetched, 1);
    CHECK(!expects(&a, UINT64_MAX));
    cohort__net_withdraw(b.net, 0, region);
    CHECK(!expects(&b, UINT64_MAX));
    ofi_pair_close(&a, &b);
}

/* The peer is killed while fetches are under way. They all end, `unreachable` is reported once, and
 * then sends are answered with DEAD. */
TEST(kill_in_transfer)
{
    enum { PIECES = 64 };
    for (int round = 0; round < 5; round++) {
        struct station a;
        unsigned char byte = OFI_PEER_COUNT;
        ofi_end_open(&a, 0);
        pid_t pid = ofi_peer_start(&a);
        struct cohort__net_token token = ofi_peer_block(&a, PIECES * PIECE);
        unsigned char *target = ofi_mapping(PIECES * PIECE);
        CHECK_INT(kill(pid, SIGSTOP), 0);
        for (size_t i = 0; i < PIECES; i++)
            CHECK_INT(station_fetch(&a, 1, &token, i * PIECE, target + i * PIECE, PIECE),
                      COHORT__NET_SENT);
        if (round > 0) { /* some of the data gets through */
            CHECK_INT(kill(pid, SIGCONT), 0);
            station_until(&a, &a.num_fetched, (unsigned long)round);
        }
        ofi_peer_kill(pid);
        station_until(&a, &a.num_fetched, PIECES); /* TCP alone might take many minutes */
        if (a.num_failed > 0)
            CHECK_INT(a.fetch_status, COHORT_ERR_PEER_DIED);
        CHECK(round > 0 || a.num_failed > 0);
        while (station_send(&a, 1, &byte, 1) != COHORT__NET_DEAD)
            ;
        station_until_unreachable(&a, 1);
        CHECK_INT(a.num_unreachable[1], 1);
        CHECK(a.why[0] != '\0');
        munmap(target, PIECES * PIECE);
        cohort__net_destroy(a.net);
    }
}

/* As in the router: the end of one fetch may start the next fetch, or a message. */
static void call_on_cancelled(struct station *station, cohort_status status)
{
    static unsigned char block[100], target[100];
    struct iovec part = {.iov_base = block, .iov_len = sizeof block};
    struct cohort__net_token token;
    void *region = NULL;
    if (status != COHORT_ERR_CANCELLED)
        return;
    CHECK_INT(cohort__net_send(station->net, 1, &part, 1), COHORT__NET_DEAD);
    CHECK_OK(cohort__net_expose(station->net, 1, block, sizeof block, &region, &token));
    CHECK_INT(cohort__net_fetch(station->net, 1, &token, 0, target, sizeof target, station),
              COHORT__NET_DEAD);
    cohort__net_withdraw(station->net, 1, region);
    if (station->kept)
        cohort__net_release(station->kept);
    station->kept = NULL;
}

/* With fetches under way and messages not released. */
TEST(destroy)
{
    static unsigned char target[PIECE];
    struct station a;
    unsigned char data[200] = {OFI_PEER_ECHO};
    ofi_end_open(&a, 0);
    pid_t pid = ofi_peer_start(&a);
    struct cohort__net_token token = ofi_peer_block(&a, PIECE);
    a.keep = true;
    CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&a, &a.num_messages, 2);
    CHECK_INT(kill(pid, SIGSTOP), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(station_fetch(&a, 1, &token, 0, target, PIECE), COHORT__NET_SENT);
    a.on_fetched = call_on_cancelled;
    cohort__net_destroy(a.net);
    CHECK_INT(a.num_fetched, 4);
    CHECK_INT(a.num_failed, 4);
    CHECK_INT(a.fetch_status, COHORT_ERR_CANCELLED);
    ofi_peer_kill(pid);
    cohort__net_destroy(NULL);
}

/* A peer on another host may stop without any sign. Its fetches end when it is removed. An address
 * different from ours stands for another host. */
TEST(silent_host)
{
    static unsigned char target[PIECE];
    struct station a;
    ofi_end_open(&a, 0);
    setenv("COHORT_OFI_ADDRESS", "127.0.0.2", 1);
    pid_t pid = ofi_peer_start(&a);
    unsetenv("COHORT_OFI_ADDRESS");
    struct cohort__net_token token = ofi_peer_block(&a, PIECE);
    CHECK_INT(station_fetch(&a, 1, &token, 5, target, PIECE - 5), COHORT__NET_SENT);
    station_until(&a, &a.num_fetched, 1);
    for (size_t i = 0; i < PIECE - 5; i++)
        CHECK(target[i] == ofi_pattern(i + 5));
    CHECK_INT(kill(pid, SIGSTOP), 0);
    memset(target, 0xee, sizeof target);
    for (int i = 0; i < 4; i++)
        CHECK_INT(station_fetch(&a, 1, &token, 0, target, PIECE), COHORT__NET_SENT);
    cohort__net_remove_peer(a.net, 1);
    station_until(&a, &a.num_fetched, 5);
    CHECK_INT(a.num_failed, 4);
    CHECK_INT(a.fetch_status, COHORT_ERR_PEER_DIED);
    /* Data that still arrives may no longer be written to our memory. */
    CHECK_INT(kill(pid, SIGCONT), 0);
    for (uint64_t end = station_now() + 100000000; station_now() < end;)
        station_turn(&a);
    for (size_t i = 0; i < PIECE; i++)
        CHECK(target[i] == 0xee);
    CHECK_INT(a.num_fetched, 5);
    ofi_peer_kill(pid);
    cohort__net_destroy(a.net);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "peer") == 0)
        return ofi_peer_main();
    return tests_run(argc, argv);
}
