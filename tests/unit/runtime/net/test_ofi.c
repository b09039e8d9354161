/* SPDX-License-Identifier: Apache-2.0 */
/* On the loopback interface: two ends in this process, and an end in another one, which is this
 * program again with the argument "peer" and a socket to exchange addresses over. */
#include "runtime/net/ofi.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/net/ofi_address.h"
#include "runtime/net/ofi_end.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/net/station.h"

enum { SOCKET = 3, MIB = 1 << 20 };

/* What the peer process is asked to do, as the first byte of a message. */
enum order { ECHO = 1, EXPOSE, COUNT, REPORT, QUIT };

static void open_station(struct station *station)
{
    memset(station, 0, sizeof *station);
    struct cohort__net_handlers handlers = station_handlers(station);
    cohort_status st = cohort__ofi_create(&handlers, NULL, &station->net);
    if (st != COHORT_OK)
        test_failed(__FILE__, __LINE__, "%s", cohort_error_message());
}

static void know(struct station *station, uint32_t number, const struct station *other)
{
    CHECK_INT(
        cohort__net_add_peer(station->net, number, other->net->address, other->net->address_bytes),
        COHORT_OK);
}

/* Two ends that know each other as 1 and 0; A drives both. */
static void open_pair(struct station *a, struct station *b)
{
    open_station(a);
    open_station(b);
    know(a, 1, b);
    know(b, 0, a);
    a->peer = b;
}

static void close_pair(struct station *a, struct station *b)
{
    cohort__net_destroy(a->net);
    cohort__net_destroy(b->net);
}

/* The other process. */

struct block {
    unsigned char *base;
    size_t bytes;
    struct cohort__net_token token;
};

static unsigned char pattern(size_t at)
{
    return (unsigned char)(at * 13 + (at >> 12) + (at >> 20));
}

static void *mapping(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(base != MAP_FAILED);
    return base;
}

struct peer_state {
    bool is_done;
    unsigned long num_counted;
    unsigned char reply[16384];
    size_t reply_bytes;
};

static void obey(struct station *station, const struct cohort__net_message *message)
{
    struct peer_state *state = station->data;
    struct cohort__net_token token;
    size_t bytes;
    void *region;
    switch (message->data[0]) {
    case ECHO:
        state->reply_bytes = message->bytes;
        memcpy(state->reply, message->data, message->bytes);
        break;
    case EXPOSE:
        memcpy(&bytes, message->data + 1, sizeof bytes);
        unsigned char *base = mapping(bytes);
        for (size_t i = 0; i < bytes; i++)
            base[i] = pattern(i);
        CHECK_INT(cohort__net_expose(station->net, 0, base, bytes, &region, &token), COHORT_OK);
        state->reply_bytes = sizeof token;
        memcpy(state->reply, &token, sizeof token);
        break;
    case COUNT:
        state->num_counted++;
        break;
    case REPORT:
        state->reply_bytes = sizeof state->num_counted;
        memcpy(state->reply, &state->num_counted, sizeof state->num_counted);
        break;
    case QUIT:
        state->is_done = true;
        break;
    default:
        test_failed(__FILE__, __LINE__, "a message changed on its way");
    }
}

static int peer_main(void)
{
    static struct peer_state state;
    struct station station;
    unsigned char address[128];
    open_station(&station);
    station.data = &state;
    station.on_message = obey;
    CHECK(write(SOCKET, station.net->address, station.net->address_bytes) > 0);
    ssize_t n = read(SOCKET, address, sizeof address);
    CHECK(n > 0);
    CHECK_INT(cohort__net_add_peer(station.net, 0, address, (size_t)n), COHORT_OK);
    while (!state.is_done && station.num_unreachable[0] == 0) {
        if (!station_turn(&station))
            station_block(&station, 10000);
        if (state.reply_bytes > 0) {
            size_t bytes = state.reply_bytes;
            state.reply_bytes = 0;
            station_send(&station, 0, state.reply, bytes);
        }
    }
    cohort__net_destroy(station.net);
    return 0;
}

/* Starts it; it is peer 1 of STATION. */
static pid_t start_peer(struct station *station)
{
    int sockets[2];
    unsigned char address[128];
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where a check fails here */
        dup2(sockets[1], SOCKET);
        execl("/proc/self/exe", "test_ofi", "peer", (char *)NULL);
        _exit(127);
    }
    close(sockets[1]);
    CHECK(write(sockets[0], station->net->address, station->net->address_bytes) > 0);
    ssize_t n = read(sockets[0], address, sizeof address);
    CHECK(n > 0);
    close(sockets[0]);
    CHECK_INT(cohort__net_add_peer(station->net, 1, address, (size_t)n), COHORT_OK);
    return pid;
}

static void stop_peer(struct station *station, pid_t pid)
{
    unsigned char order = QUIT;
    int status;
    CHECK_INT(station_send(station, 1, &order, 1), COHORT__NET_SENT);
    /* The order may still be on its way in here. */
    while (waitpid(pid, &status, WNOHANG) == 0)
        station_turn(station);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void kill_peer(pid_t pid)
{
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void remember(struct station *station, const struct cohort__net_message *message)
{
    memcpy(station->data, message->data, message->bytes);
}

/* A block of BYTES in the other process, full of the pattern. */
static struct cohort__net_token remote_block(struct station *station, size_t bytes)
{
    unsigned char order[1 + sizeof bytes] = {EXPOSE};
    struct cohort__net_token token;
    unsigned char answer[sizeof token];
    unsigned long before = station->num_messages;
    memcpy(order + 1, &bytes, sizeof bytes);
    station->data = answer;
    station->on_message = remember;
    CHECK_INT(station_send(station, 1, order, sizeof order), COHORT__NET_SENT);
    station_until(station, &station->num_messages, before + 1);
    station->on_message = NULL;
    memcpy(&token, answer, sizeof token);
    return token;
}

/* Cases. */

static void test_messages(void)
{
    static unsigned char data[16384];
    static unsigned char got[16384];
    static const size_t sizes[] = {1, 8, 64, 80, 81, 1000, 4096, 9000, 16383, 16384};
    struct station a;
    struct station b;
    open_pair(&a, &b);
    CHECK(a.net->max_message >= sizeof data);
    b.on_message = remember;
    b.data = got;
    b.keep = true;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            data[k] = pattern(k + i);
        CHECK_INT(station_send(&a, 1, data, sizes[i]), COHORT__NET_SENT);
        station_until(&a, &b.num_messages, i + 1);
        CHECK_INT(b.kept->bytes, sizes[i]);
        CHECK(b.kept->capacity >= sizes[i]);
        CHECK(memcmp(data, got, sizes[i]) == 0);
        cohort__net_release(b.kept);
    }
    close_pair(&a, &b);
}

static void collect(struct station *station, const struct cohort__net_message *message)
{
    struct cohort__net_message **kept = station->data;
    kept[station->num_messages] = (struct cohort__net_message *)(uintptr_t)message;
}

/* Many more are retained than buffers are posted. */
static void test_retain(void)
{
    enum { NUM = 500 };
    static struct cohort__net_message *kept[NUM];
    struct station a;
    struct station b;
    open_pair(&a, &b);
    b.on_message = collect;
    b.data = kept;
    b.keep = true;
    for (unsigned i = 0; i < NUM; i++)
        CHECK_INT(station_send(&a, 1, &i, sizeof i), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, NUM);
    bool seen[NUM] = {0};
    for (unsigned i = 0; i < NUM; i++) {
        unsigned value;
        memcpy(&value, kept[i]->data, sizeof value);
        CHECK(value < NUM && !seen[value]);
        seen[value] = true;
        if (i % 3 > 0) /* the others are freed with their end */
            cohort__net_release(kept[i]);
    }
    close_pair(&a, &b);
}

/* Much faster than the receiver, and without any account: nothing is lost, nothing changes. */
static void test_flood(void)
{
    enum { NUM = 100000 };
    struct station a;
    unsigned char order[100] = {COUNT};
    unsigned long counted = 0;
    open_station(&a);
    pid_t pid = start_peer(&a);
    for (int i = 0; i < NUM; i++) {
        order[0] = COUNT;
        CHECK_INT(station_send(&a, 1, order, 1 + (size_t)i % 100), COHORT__NET_SENT);
        order[0] = 0xff; /* the bytes are ours again: this must not be seen */
    }
    order[0] = REPORT;
    a.on_message = remember;
    a.data = &counted;
    /* Messages may overtake each other: ask until all are there. */
    for (unsigned long i = 1; counted < NUM; i++) {
        CHECK_INT(station_send(&a, 1, order, 1), COHORT__NET_SENT);
        station_until(&a, &a.num_messages, i);
    }
    CHECK_INT(counted, NUM);
    stop_peer(&a, pid);
    cohort__net_destroy(a.net);
}

static void test_echo(void)
{
    struct station a;
    unsigned char data[200] = {ECHO};
    open_station(&a);
    pid_t pid = start_peer(&a);
    for (unsigned long i = 0; i < 2000; i++) {
        CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
        station_until(&a, &a.num_messages, i + 1);
    }
    stop_peer(&a, pid);
    cohort__net_destroy(a.net);
}

/* Fetches all of the block in pieces, several at a time. */
static void fetch_block(struct station *station, const struct cohort__net_token *token,
                        unsigned char *target, size_t bytes)
{
    unsigned long started = station->num_fetched;
    for (size_t at = 0; at < bytes; at += MIB) {
        size_t piece = bytes - at < MIB ? bytes - at : MIB;
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
    return (text ? strtoul(text, NULL, 10) : 256) * MIB;
}

static void test_fetch(void)
{
    struct station a;
    open_station(&a);
    CHECK_INT(a.net->max_fetch, MIB);
    pid_t pid = start_peer(&a);
    size_t sizes[] = {1, 4097, 3 * MIB + 5, big_bytes()};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct cohort__net_token token = remote_block(&a, sizes[i]);
        unsigned char *target = mapping(sizes[i]);
        uint64_t begin = station_now();
        fetch_block(&a, &token, target, sizes[i]);
        uint64_t ns = station_now() - begin;
        fprintf(stderr, "%zu bytes: %.0f MB/s\n", sizes[i], 1e3 * (double)sizes[i] / (double)ns);
        for (size_t k = 0; k < sizes[i]; k++)
            if (target[k] != pattern(k))
                test_failed(__FILE__, __LINE__, "byte %zu of %zu is wrong", k, sizes[i]);
        munmap(target, sizes[i]);
    }
    stop_peer(&a, pid);
    cohort__net_destroy(a.net);
}

static void test_fetch_outside(void)
{
    static unsigned char source[1000];
    static unsigned char target[1000];
    struct station a;
    struct station b;
    void *region;
    struct cohort__net_token token;
    open_pair(&a, &b);
    CHECK_INT(cohort__net_expose(b.net, 0, source, sizeof source, &region, &token), COHORT_OK);
    CHECK_INT(station_fetch(&a, 1, &token, 999, target, 2), COHORT__NET_SENT);
    CHECK_INT(station_fetch(&a, 1, &token, SIZE_MAX, target, 1), COHORT__NET_SENT);
    station_until(&a, &a.num_failed, 2);
    CHECK_INT(a.fetch_status, COHORT_ERR_PROTOCOL);
    CHECK_INT(a.num_unreachable[1], 0);
    CHECK_INT(station_fetch(&a, 1, &token, 999, target, 1), COHORT__NET_SENT);
    station_until(&a, &a.num_fetched, 3);
    CHECK_INT(a.num_failed, 2);
    cohort__net_withdraw(b.net, 0, region);
    close_pair(&a, &b);
}

/* Killed while fetches are under way: they all end, `unreachable` comes once, and then DEAD. */
static void test_kill_in_transfer(void)
{
    enum { PIECES = 16 };
    uint64_t quickest = UINT64_MAX;
    for (int round = 0; round < 5; round++) {
        struct station a;
        unsigned char byte = COUNT;
        open_station(&a);
        pid_t pid = start_peer(&a);
        struct cohort__net_token token = remote_block(&a, PIECES * MIB);
        unsigned char *target = mapping(PIECES * MIB);
        CHECK_INT(kill(pid, SIGSTOP), 0);
        for (size_t i = 0; i < PIECES; i++)
            CHECK_INT(station_fetch(&a, 1, &token, i * MIB, target + i * MIB, MIB),
                      COHORT__NET_SENT);
        if (round > 0) { /* some of it gets through */
            CHECK_INT(kill(pid, SIGCONT), 0);
            station_until(&a, &a.num_fetched, (unsigned long)round);
        }
        uint64_t begin = station_now();
        kill_peer(pid);
        station_until(&a, &a.num_fetched, PIECES);
        if (a.num_failed > 0)
            CHECK_INT(a.fetch_status, COHORT_ERR_PEER_DIED);
        CHECK(round > 0 || a.num_failed > 0);
        while (station_send(&a, 1, &byte, 1) != COHORT__NET_DEAD)
            ;
        station_until_unreachable(&a, 1);
        uint64_t time = station_now() - begin;
        quickest = time < quickest ? time : quickest;
        CHECK_INT(a.num_unreachable[1], 1);
        CHECK(a.why[0] != '\0');
        munmap(target, PIECES * MIB);
        cohort__net_destroy(a.net);
    }
    CHECK(quickest < 1000000000ull); /* a busy machine may delay any of them, but not all */
}

/* Dead before anything was ever sent; and dead after the connection was used and idle. */
static void test_kill_idle(void)
{
    for (int used = 0; used < 2; used++) {
        struct station a;
        unsigned char data[200] = {ECHO};
        open_station(&a);
        pid_t pid = start_peer(&a);
        if (used) {
            CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
            station_until(&a, &a.num_messages, 1);
        }
        kill_peer(pid);
        uint64_t begin = station_now();
        while (station_send(&a, 1, data, sizeof data) != COHORT__NET_DEAD)
            ;
        station_until_unreachable(&a, 1);
        CHECK(station_now() - begin < 5000000000ull);
        CHECK_INT(a.num_unreachable[1], 1);
        cohort__net_destroy(a.net);
    }
}

/* A peer that lives but is not driven is not taken for a dead one. */
static void test_stopped_peer(void)
{
    struct station a;
    unsigned char data[200] = {ECHO};
    struct iovec part = {data, sizeof data};
    open_station(&a);
    pid_t pid = start_peer(&a);
    CHECK_INT(kill(pid, SIGSTOP), 0);
    for (uint64_t end = station_now() + 300000000; station_now() < end;) {
        CHECK(cohort__net_send(a.net, 1, &part, 1) != COHORT__NET_DEAD);
        station_turn(&a);
    }
    CHECK_INT(a.num_unreachable[1], 0);
    CHECK_INT(kill(pid, SIGCONT), 0);
    CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&a, &a.num_messages, 1);
    stop_peer(&a, pid);
    cohort__net_destroy(a.net);
}

static void test_remove(void)
{
    struct station a;
    struct station b;
    unsigned char byte = 1;
    struct iovec part = {&byte, 1};
    open_pair(&a, &b);
    CHECK_INT(cohort__net_send(a.net, 7, &part, 1), COHORT__NET_DEAD);
    CHECK_INT(station_send(&a, 1, &byte, 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1);
    cohort__net_remove_peer(a.net, 1);
    cohort__net_remove_peer(a.net, 1);
    CHECK_INT(cohort__net_send(a.net, 1, &part, 1), COHORT__NET_DEAD);
    for (int i = 0; i < 100; i++)
        station_turn(&a);
    CHECK_INT(a.num_unreachable[1], 0);
    know(&a, 1, &b); /* the number may be used again */
    CHECK_INT(station_send(&a, 1, &byte, 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 2);
    close_pair(&a, &b);
}

/* Both connect to each other at once. */
static void test_crossing(void)
{
    for (int round = 0; round < 20; round++) {
        struct station a;
        struct station b;
        struct iovec part = {"x", 1};
        open_pair(&a, &b);
        bool sent_a = false;
        bool sent_b = false;
        while (!sent_a || !sent_b) {
            sent_a = sent_a || cohort__net_send(a.net, 1, &part, 1) == COHORT__NET_SENT;
            sent_b = sent_b || cohort__net_send(b.net, 0, &part, 1) == COHORT__NET_SENT;
            station_turn(&a);
        }
        station_until(&a, &a.num_messages, 1);
        station_until(&a, &b.num_messages, 1);
        CHECK_INT(a.num_unreachable[1] + b.num_unreachable[0], 0);
        close_pair(&a, &b);
    }
}

static void refuse(struct station *station, const void *address, size_t bytes, const char *theirs,
                   const char *ours)
{
    CHECK_INT(cohort__net_add_peer(station->net, 5, address, bytes), COHORT_ERR_BAD_PARAMETER);
    CHECK_CONTAINS(cohort_error_message(), theirs);
    CHECK_CONTAINS(cohort_error_message(), ours);
}

static void test_addresses(void)
{
    struct station a;
    unsigned char address[128];
    open_station(&a);
    size_t bytes = a.net->address_bytes;
    refuse(&a, "shm\0x", 5, "shm", "ofi");
    refuse(&a, "ofi\0verbs;ofi_rxm\0\1\0\0\0xxxx", 26, "verbs;ofi_rxm", "tcp;ofi_rxm");
    memcpy(address, a.net->address, bytes);
    address[sizeof "ofi" + sizeof "tcp;ofi_rxm"] ^= 1; /* the minor version */
    refuse(&a, address, bytes, "uses libfabric 1.", "this locality uses 1.");
    for (size_t n = 0; n < sizeof "ofi" + sizeof "tcp;ofi_rxm" + 5; n++)
        refuse(&a, a.net->address, n, "peer 5", "address");
    cohort__net_destroy(a.net);
}

static void test_bad_settings(void)
{
    struct station station = {0};
    struct cohort__net_handlers handlers = station_handlers(&station);
    struct cohort__net *net = NULL;
    setenv("COHORT_OFI_PROVIDER", "nosuch", 1);
    CHECK_INT(cohort__ofi_create(&handlers, NULL, &net), COHORT_ERR_NETWORK);
    CHECK_CONTAINS(cohort_error_message(), "nosuch at 127.0.0.1: fi_getinfo");
    unsetenv("COHORT_OFI_PROVIDER");
    setenv("COHORT_OFI_ADDRESS", "203.0.113.1", 1);
    CHECK_INT(cohort__ofi_create(&handlers, NULL, &net), COHORT_ERR_NETWORK);
    CHECK_CONTAINS(cohort_error_message(), "203.0.113.1");
    CHECK_INT(cohort__ofi_create(&handlers, "127.0.0.1", &net), COHORT_ERR_NETWORK);
    CHECK_CONTAINS(cohort_error_message(), "203.0.113.1");
    unsetenv("COHORT_OFI_ADDRESS");
    CHECK_INT(cohort__ofi_create(&handlers, "203.0.113.2", &net), COHORT_ERR_NETWORK);
    CHECK_CONTAINS(cohort_error_message(), "203.0.113.2");
    char text[100] = {0};
    memset(text, '1', sizeof text - 1);
    CHECK_INT(cohort__ofi_create(&handlers, text, &net), COHORT_ERR_BAD_PARAMETER);
    CHECK_CONTAINS(cohort_error_message(), "no network address: '1111");
    CHECK(net == NULL);
}

/* Bound to the address that was asked for; only a peer at the same one is known to be here. */
static void test_local_address(void)
{
    struct station a = {0};
    struct cohort__net_handlers handlers = station_handlers(&a);
    CHECK_INT(cohort__ofi_create(&handlers, "127.0.0.3", &a.net), COHORT_OK);
    struct cohort__ofi *ofi = (struct cohort__ofi *)a.net;
    struct sockaddr_in name;
    memcpy(&name, ofi->raw, sizeof name);
    CHECK_INT(ntohl(name.sin_addr.s_addr), 0x7f000003);
    CHECK(cohort__ofi_address_is_here(ofi->info, ofi->raw, &name, sizeof name));
    name.sin_port ^= 1;
    CHECK(cohort__ofi_address_is_here(ofi->info, ofi->raw, &name, sizeof name));
    CHECK(!cohort__ofi_address_is_here(ofi->info, ofi->raw, &name, 4));
    name.sin_addr.s_addr ^= htonl(1);
    CHECK(!cohort__ofi_address_is_here(ofi->info, ofi->raw, &name, sizeof name));
    cohort__net_destroy(a.net);
}

/* Native tcp is sound from 1.18.1 on. */
static void test_provider(void)
{
    const struct cohort__ofi_library *library;
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 17), 1), "tcp;ofi_rxm");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 18), 0), "tcp;ofi_rxm");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 18), 1), "tcp");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 19), 0), "tcp");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(2, 0), 0), "tcp");
    CHECK_INT(cohort__ofi_library_load(&library), COHORT_OK);
    struct station a;
    open_station(&a);
    CHECK_TEXT(((struct cohort__ofi *)a.net)->info->fabric_attr->prov_name,
               cohort__ofi_library_provider(library->version, library->revision));
    cohort__net_destroy(a.net);
}

/* libfabric's companions catch signals; a program's dispositions stay as they are. */
static void test_signals(void)
{
    struct station a;
    open_station(&a);
    for (int s = 1; s < 32; s++) {
        struct sigaction action;
        if (s == SIGSEGV || s == SIGBUS || s == SIGFPE || s == SIGILL || s == SIGABRT)
            continue; /* the sanitizers' own */
        CHECK_INT(sigaction(s, NULL, &action), 0);
        CHECK(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
    }
    CHECK(getenv("FI_OFI_RXM_MSG_RX_SIZE") == NULL);
    cohort__net_destroy(a.net);
}

static uint64_t cpu_ns(void)
{
    struct rusage usage;
    CHECK_INT(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* Once connected and quiet, waiting costs nothing; a message ends it. */
static void test_idle(void)
{
    struct station a;
    unsigned char data[200] = {ECHO};
    open_station(&a);
    pid_t pid = start_peer(&a);
    CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&a, &a.num_messages, 1);
    unsigned num_turns = 0;
    uint64_t cpu = cpu_ns();
    for (uint64_t end = station_now() + 300000000; station_now() < end; num_turns++) {
        while (station_turn(&a))
            ;
        station_block(&a, 100);
    }
    cpu = cpu_ns() - cpu;
    fprintf(stderr, "%u turns and %.2f ms of CPU in 300 ms of nothing\n", num_turns,
            (double)cpu / 1e6);
    CHECK(num_turns < 100);
    for (unsigned long i = 1; i < 100; i++) {
        uint64_t begin = station_now();
        CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
        while (a.num_messages < i + 1) {
            while (station_turn(&a))
                ;
            if (a.num_messages < i + 1)
                CHECK(station_block(&a, 10000));
        }
        CHECK(station_now() - begin < 5000000000ull);
    }
    stop_peer(&a, pid);
    cohort__net_destroy(a.net);
}

/* Connects to a peer that is blocked, from an end that blocks: nobody spins, nobody is lost. */
static void test_idle_connect(void)
{
    struct station a;
    unsigned char data[200] = {ECHO};
    struct iovec part = {data, sizeof data};
    open_station(&a);
    pid_t pid = start_peer(&a);
    unsigned num_turns = 0;
    bool sent = false;
    while (a.num_messages == 0) {
        unsigned before = a.num_writable[1];
        sent = sent || cohort__net_send(a.net, 1, &part, 1) == COHORT__NET_SENT;
        station_turn(&a);
        if (a.num_messages == 0 && a.num_writable[1] == before)
            CHECK(station_block(&a, 10000));
        num_turns++;
    }
    fprintf(stderr, "connected after %u turns\n", num_turns);
    CHECK(num_turns < 5000);
    stop_peer(&a, pid);
    cohort__net_destroy(a.net);
}

enum { NUM_EACH = 5000 };

static void *send_many(void *arg)
{
    struct station *a = arg;
    unsigned char data[300] = {1};
    struct iovec part = {data, sizeof data};
    for (int i = 0; i < NUM_EACH; i++) {
        enum cohort__net_sent sent;
        while ((sent = cohort__net_send(a->net, 1, &part, 1)) == COHORT__NET_AGAIN)
            ; /* another thread makes progress */
        CHECK_INT(sent, COHORT__NET_SENT);
    }
    return NULL;
}

static void test_threads(void)
{
    struct station a;
    struct station b;
    pthread_t threads[2];
    open_pair(&a, &b);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, send_many, &a), 0);
    station_until(&a, &b.num_messages, 2 * NUM_EACH);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    close_pair(&a, &b);
}

static void *send_once(void *arg)
{
    struct station *a = arg;
    station_send(a, 1, "hello", 5);
    return NULL;
}

/* A sender on one thread, the loop blocked on another, as with several workers. */
static void test_threads_blocked(void)
{
    struct station a;
    struct station b;
    open_pair(&a, &b);
    a.peer = NULL;
    know(&b, 1, &a);
    for (unsigned long i = 0; i < 50; i++) {
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, send_once, &a), 0);
        while (b.num_messages <= i) {
            station_turn(&b);
            if (b.num_messages <= i)
                CHECK(station_block(&b, 10000));
        }
        CHECK_INT(pthread_join(thread, NULL), 0);
    }
    close_pair(&a, &b);
}

/* What the router does: the end of one fetch may start the next, or a message. */
static void call_on_cancelled(struct station *station, cohort_status status)
{
    static unsigned char block[100], target[100];
    struct iovec part = {.iov_base = block, .iov_len = sizeof block};
    struct cohort__net_token token;
    void *region = NULL;
    if (status != COHORT_ERR_CANCELLED)
        return;
    CHECK_INT(cohort__net_send(station->net, 1, &part, 1), COHORT__NET_DEAD);
    CHECK_INT(cohort__net_expose(station->net, 1, block, sizeof block, &region, &token), COHORT_OK);
    CHECK_INT(cohort__net_fetch(station->net, 1, &token, 0, target, sizeof target, station),
              COHORT__NET_DEAD);
    cohort__net_withdraw(station->net, 1, region);
    if (station->kept)
        cohort__net_release(station->kept);
    station->kept = NULL;
}

/* With fetches under way and messages not released. */
static void test_destroy(void)
{
    static unsigned char target[MIB];
    struct station a;
    unsigned char data[200] = {ECHO};
    open_station(&a);
    pid_t pid = start_peer(&a);
    struct cohort__net_token token = remote_block(&a, MIB);
    a.keep = true;
    CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&a, &a.num_messages, 2);
    CHECK_INT(kill(pid, SIGSTOP), 0);
    for (int i = 0; i < 4; i++)
        CHECK_INT(station_fetch(&a, 1, &token, 0, target, MIB), COHORT__NET_SENT);
    a.on_fetched = call_on_cancelled;
    cohort__net_destroy(a.net);
    CHECK_INT(a.num_fetched, 4);
    CHECK_INT(a.num_failed, 4);
    CHECK_INT(a.fetch_status, COHORT_ERR_CANCELLED);
    kill_peer(pid);
    cohort__net_destroy(NULL);
}

/* What is sent right before the end still arrives. */
static void test_destroy_after_send(void)
{
    for (int i = 0; i < 5; i++) {
        struct station a;
        struct station b;
        open_pair(&a, &b);
        for (int k = 0; k < 20; k++)
            CHECK_INT(station_send(&a, 1, "last words", 10), COHORT__NET_SENT);
        cohort__net_destroy(a.net);
        station_until(&b, &b.num_messages, 20);
        cohort__net_destroy(b.net);
    }
}

/* Between hosts a peer may fall silent without a word: its fetches end when it is removed. Another
 * address than ours stands for another host. */
static void test_silent_host(void)
{
    static unsigned char target[MIB];
    struct station a;
    open_station(&a);
    setenv("COHORT_OFI_ADDRESS", "127.0.0.2", 1);
    pid_t pid = start_peer(&a);
    unsetenv("COHORT_OFI_ADDRESS");
    struct cohort__net_token token = remote_block(&a, MIB);
    CHECK_INT(station_fetch(&a, 1, &token, 5, target, MIB - 5), COHORT__NET_SENT);
    station_until(&a, &a.num_fetched, 1);
    for (size_t i = 0; i < MIB - 5; i++)
        CHECK(target[i] == pattern(i + 5));
    CHECK_INT(kill(pid, SIGSTOP), 0);
    memset(target, 0xee, sizeof target);
    for (int i = 0; i < 4; i++)
        CHECK_INT(station_fetch(&a, 1, &token, 0, target, MIB), COHORT__NET_SENT);
    cohort__net_remove_peer(a.net, 1);
    station_until(&a, &a.num_fetched, 5);
    CHECK_INT(a.num_failed, 4);
    CHECK_INT(a.fetch_status, COHORT_ERR_PEER_DIED);
    /* What arrives all the same isn't ours any more. */
    CHECK_INT(kill(pid, SIGCONT), 0);
    for (uint64_t end = station_now() + 100000000; station_now() < end;)
        station_turn(&a);
    for (size_t i = 0; i < MIB; i++)
        CHECK(target[i] == 0xee);
    CHECK_INT(a.num_fetched, 5);
    kill_peer(pid);
    cohort__net_destroy(a.net);
}

static const struct test_case cases[] = {
    {"bad_settings", test_bad_settings},
    {"local_address", test_local_address},
    {"provider", test_provider},
    {"messages", test_messages},
    {"crossing", test_crossing},
    {"retain", test_retain},
    {"echo", test_echo},
    {"flood", test_flood},
    {"fetch", test_fetch},
    {"fetch_outside", test_fetch_outside},
    {"kill_in_transfer", test_kill_in_transfer},
    {"kill_idle", test_kill_idle},
    {"stopped_peer", test_stopped_peer},
    {"silent_host", test_silent_host},
    {"remove", test_remove},
    {"addresses", test_addresses},
    {"signals", test_signals},
    {"idle", test_idle},
    {"idle_connect", test_idle_connect},
    {"threads", test_threads},
    {"threads_blocked", test_threads_blocked},
    {"destroy", test_destroy},
    {"destroy_after_send", test_destroy_after_send},
};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "peer") == 0)
        return peer_main();
    return test_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
