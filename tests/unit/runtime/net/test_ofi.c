/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/net/ofi_end.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/net/ofi_ends.h"

static struct station a, b;

#define TEST_PAIR(name) TEST_BETWEEN(name, ofi_pair_open(&a, &b), ofi_pair_close(&a, &b))

TEST_PAIR(messages)
{
    static unsigned char data[16382];
    static unsigned char got[16384];
    static const size_t sizes[] = {1, 8, 64, 80, 81, 1000, 4096, 9000, 16381, 16382};
    CHECK_INT(a.net->max_message, sizeof data);
    CHECK_INT(station_send(&a, 1, got, sizeof data + 1), COHORT__NET_DEAD); /* too long */
    b.on_message = ofi_remember;
    b.data = got;
    b.keep = true;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            data[k] = ofi_pattern(k + i);
        CHECK_INT(station_send(&a, 1, data, sizes[i]), COHORT__NET_SENT);
        station_until(&a, &b.num_messages, i + 1);
        CHECK_INT(b.kept->bytes, sizes[i]);
        CHECK(b.kept->capacity >= sizes[i]);
        CHECK(memcmp(data, got, sizes[i]) == 0);
        cohort__net_release(b.kept);
    }
}

static void collect(struct station *station, const struct cohort__net_message *message)
{
    struct cohort__net_message **kept = station->data;
    kept[station->num_messages] = (struct cohort__net_message *)(uintptr_t)message;
}

/* Many more are retained than buffers are posted. */
TEST_PAIR(retain)
{
    enum { NUM = 500 };
    static struct cohort__net_message *kept[NUM];
    b.on_message = collect;
    b.data = kept;
    b.keep = true;
    for (unsigned i = 0; i < NUM; i++) { /* one after the other: each has a buffer to itself */
        CHECK_INT(station_send(&a, 1, &i, sizeof i), COHORT__NET_SENT);
        station_until(&a, &b.num_messages, i + 1);
    }
    bool seen[NUM] = {0};
    for (unsigned i = 0; i < NUM; i++) {
        unsigned value;
        memcpy(&value, kept[i]->data, sizeof value);
        CHECK(value < NUM && !seen[value]);
        seen[value] = true;
        if (i % 3 > 0) /* the others are freed with their end */
            cohort__net_release(kept[i]);
    }
}

struct batches {
    unsigned long num_passing;
    bool seen[5000];
};

/* The message says which one it is, and its bytes follow from that. */
static void check_numbered(struct station *station, const struct cohort__net_message *message)
{
    struct batches *batches = station->data;
    unsigned number;
    memcpy(&number, message->data, sizeof number);
    CHECK(number < 5000 && !batches->seen[number]);
    batches->seen[number] = true;
    batches->num_passing += message->is_passing;
    for (size_t k = sizeof number; k < message->bytes; k++)
        CHECK(message->data[k] == ofi_pattern(k + number));
}

static void send_numbered(struct station *station, unsigned number, size_t bytes)
{
    static unsigned char data[8192];
    CHECK(bytes >= sizeof number && bytes <= sizeof data);
    memcpy(data, &number, sizeof number);
    for (size_t k = sizeof number; k < bytes; k++)
        data[k] = ofi_pattern(k + number);
    CHECK_INT(station_send(station, 1, data, bytes), COHORT__NET_SENT);
}

static struct cohort__ofi_send *batch_of(struct cohort__ofi *ofi)
{
    return COHORT_CONTAINER_OF(ofi->batches.next, struct cohort__ofi_send, operation.link);
}

/* As if no time had passed: however slow this machine is, no batch is late. */
static void stop_time(struct station *station)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)station->net;
    if (!cohort__list_is_empty(&ofi->batches))
        batch_of(ofi)->since = UINT64_MAX / 2;
}

/* Of many messages in one turn only the first ones go alone, and long ones. */
TEST_PAIR(batches)
{
    struct batches batches = {0};
    b.on_message = check_numbered;
    b.data = &batches;
    send_numbered(&a, 0, 100);
    station_until(&a, &b.num_messages, 1); /* there is a connection */
    CHECK_INT(batches.num_passing, 0);
    while (!cohort__list_is_empty(&((struct cohort__ofi *)a.net)->sending))
        station_turn(&a);
    for (unsigned i = 1; i <= 50; i++) {
        send_numbered(&a, i, 100);
        stop_time(&a);
    }
    send_numbered(&a, 51, 5000);
    station_until(&a, &b.num_messages, 52);
    CHECK_INT(batches.num_passing, 50 - COHORT__OFI_NUM_DIRECT);
    for (unsigned i = 52; i < 5000; i++) {
        send_numbered(&a, i, 4 + i * 37 % 4200);
        stop_time(&a);
        if (i % 300 == 0)
            station_turn(&a);
    }
    station_until(&a, &b.num_messages, 5000);
    CHECK(batches.num_passing > 2000);
}

/* What was accepted still goes out when the end is destroyed at once. */
TEST(batch_at_the_end)
{
    struct batches batches = {0};
    ofi_pair_open(&a, &b);
    b.on_message = check_numbered;
    b.data = &batches;
    send_numbered(&a, 0, 100);
    station_until(&a, &b.num_messages, 1);
    for (unsigned i = 1; i < 100; i++)
        send_numbered(&a, i, 100);
    cohort__net_destroy(a.net);
    station_until(&b, &b.num_messages, 100);
    cohort__net_destroy(b.net);
}

/* The batch of a peer that is removed, or that is the only thing left to do, does no harm. */
TEST_PAIR(batch_to_nobody)
{
    unsigned char byte = 1;
    CHECK_INT(station_send(&a, 1, &byte, 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1);
    for (unsigned i = 0; i < 10; i++) {
        CHECK_INT(station_send(&a, 1, &byte, 1), COHORT__NET_SENT);
        stop_time(&a);
    }
    const struct cohort__poller *poller = &a.net->poller;
    CHECK(!poller->arm(poller->context)); /* it is not for the loop to sleep on it */
    cohort__net_remove_peer(a.net, 1);
    for (int i = 0; i < 100; i++)
        station_turn(&a);
    CHECK(b.num_messages <= 1 + COHORT__OFI_NUM_DIRECT);
}

/* Sends by STATION that the provider refuses from now on. */
static unsigned num_refusals;
static struct fi_ops_msg *real_operations;

static ssize_t refuse_or_send(struct fid_ep *ep, const void *data, size_t bytes, void *descriptor,
                              fi_addr_t address, void *context)
{
    if (num_refusals == 0)
        return real_operations->send(ep, data, bytes, descriptor, address, context);
    num_refusals--;
    return -EAGAIN; /* which is FI_EAGAIN */
}

static void refuse_sends(struct station *station, unsigned num)
{
    static struct fi_ops_msg operations;
    struct fid_ep *ep = ((struct cohort__ofi *)station->net)->ep;
    real_operations = ep->msg;
    operations = *ep->msg;
    operations.send = refuse_or_send;
    ep->msg = &operations;
    num_refusals = num;
}

/* Opens two ends, of which A has a batch with one message, number NUM_DIRECT + 1, for B. */
static struct cohort__ofi *open_with_batch(struct station *a, struct station *b,
                                           struct batches *batches)
{
    ofi_pair_open(a, b);
    struct cohort__ofi *ofi = (struct cohort__ofi *)a->net;
    b->on_message = check_numbered;
    b->data = batches;
    send_numbered(a, 0, 100);
    station_until(a, &b->num_messages, 1); /* there is a connection */
    while (!cohort__list_is_empty(&ofi->sending))
        station_turn(a);
    for (unsigned i = 1; i <= COHORT__OFI_NUM_DIRECT + 1; i++)
        send_numbered(a, i, 100);
    CHECK_INT(ofi->num_batches, 1);
    return ofi;
}

/* What the provider refuses while the end is being destroyed is tried again, but not for ever. */
TEST(batch_refused_at_the_end)
{
    for (int how = 0; how < 2; how++) {
        struct batches batches = {0};
        open_with_batch(&a, &b, &batches);
        refuse_sends(&a, how == 0 ? 5 : UINT_MAX);
        cohort__net_destroy(a.net);
        CHECK(how == 1 || num_refusals == 0);
        station_until(&b, &b.num_messages, COHORT__OFI_NUM_DIRECT + (how == 0 ? 2 : 1));
        cohort__net_destroy(b.net); /* the address sanitizer sees what a has forgotten */
    }
}

/* A batch that is refused goes later, and all that comes meanwhile goes after it. */
TEST(batch_refused)
{
    struct batches batches = {0};
    struct cohort__ofi *ofi = open_with_batch(&a, &b, &batches);
    refuse_sends(&a, 1000);
    station_turn(&a);
    CHECK(num_refusals < 1000 && cohort__list_is_empty(&ofi->batches));
    for (unsigned i = COHORT__OFI_NUM_DIRECT + 2; i < 50; i++)
        send_numbered(&a, i, 100);
    num_refusals = 3;
    send_numbered(&a, 50, 5000);
    station_until(&a, &b.num_messages, 51);
    CHECK_INT(ofi->num_batches, 0);
    ofi_pair_close(&a, &b);
}

/* As in test_ended_twice, but the send is a batch. */
TEST(batch_ended)
{
    struct batches batches = {0};
    struct cohort__ofi *ofi = open_with_batch(&a, &b, &batches);
    cohort__ofi_send_done(ofi, batch_of(ofi), "an error");
    cohort__ofi_send_done(ofi, batch_of(ofi), NULL);
    station_until(&a, &b.num_messages, COHORT__OFI_NUM_DIRECT + 2);
    CHECK_INT(a.num_unreachable[1], 0);
    ofi_pair_close(&a, &b);
}

/* However a late batch leaves, nothing waits for 50 times as long. A short message takes it
 * along. */
TEST(batch_late)
{
    static const uint64_t age = UINT64_C(5000000000);
    for (int how = 0; how < 3; how++) {
        struct batches batches = {0};
        struct cohort__ofi *ofi = open_with_batch(&a, &b, &batches);
        batch_of(ofi)->since = cohort__clock_now() - age;
        if (how == 0)
            station_turn(&a);
        else
            send_numbered(&a, COHORT__OFI_NUM_DIRECT + 2, how == 1 ? 100 : 5000);
        CHECK_INT(ofi->num_batches, 0);
        CHECK(ofi->direct_until > cohort__clock_now() + 40 * age);
        station_until(&a, &b.num_messages, COHORT__OFI_NUM_DIRECT + (how == 0 ? 2 : 3));
        ofi_pair_close(&a, &b);
    }
}

static void ignore_writable(void *context, uint32_t peer)
{
}

/* Peers that don't take their batches leave enough sends for the others. */
TEST(batches_hung)
{
    enum { NUM_HUNG = COHORT__OFI_NUM_SENDS + 10 };
    struct station hung;
    ofi_pair_open(&a, &b);
    ofi_end_open(&hung, 1);
    struct cohort__ofi *ofi = (struct cohort__ofi *)a.net;
    struct iovec part = {"hello", 5};
    CHECK_INT(station_send(&a, 1, "x", 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1);
    a.net->handlers.writable = ignore_writable;
    for (uint32_t i = 0; i < NUM_HUNG; i++) {
        ofi_end_know(&a, 10 + i, &hung);
        cohort__ofi_peer_living(ofi, 10 + i)->is_met = true; /* before they hung */
    }
    unsigned long num_accepted = 0;
    atomic_store(&ofi->is_handling, true); /* as if handlers sent all this */
    for (uint32_t i = 0; i < NUM_HUNG; i++)
        num_accepted += cohort__net_send(a.net, 10 + i, &part, 1) == COHORT__NET_SENT;
    atomic_store(&ofi->is_handling, false);
    CHECK(num_accepted > 0);
    CHECK_INT(cohort__net_send(a.net, 1, &part, 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 2);
    a.peer = &hung;
    station_until(&a, &hung.num_messages, num_accepted);
    CHECK_INT(ofi->num_batches, 0);
    ofi_pair_close(&a, &b);
    cohort__net_destroy(hung.net);
}

/* A batch that another thread has begun is the only thing left to do: the loop must not sleep. */
TEST_PAIR(batch_keeps_awake)
{
    unsigned char byte = 1;
    struct cohort__ofi *ofi = (struct cohort__ofi *)a.net;
    const struct cohort__poller *poller = &a.net->poller;
    CHECK_INT(station_send(&a, 1, &byte, 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1);
    while (!poller->arm(poller->context))
        station_turn(&a);
    poller->disarm(poller->context);
    atomic_store(&ofi->is_handling, true);
    CHECK_INT(station_send(&a, 1, &byte, 1), COHORT__NET_SENT);
    atomic_store(&ofi->is_handling, false);
    CHECK(ofi->num_batches == 1 && cohort__list_is_empty(&ofi->sending));
    CHECK(!poller->arm(poller->context));
    station_until(&a, &b.num_messages, 2);
}

/* The sender is much faster than the receiver, and there is no flow control. Nothing is lost or
 * changed. */
TEST(flood)
{
    enum { NUM = 100000 };
    unsigned char order[100] = {OFI_PEER_COUNT};
    unsigned long counted = 0;
    ofi_end_open(&a, 0);
    pid_t pid = ofi_peer_start(&a);
    for (int i = 0; i < NUM; i++) {
        order[0] = OFI_PEER_COUNT;
        CHECK_INT(station_send(&a, 1, order, 1 + (size_t)i % 100), COHORT__NET_SENT);
        order[0] = 0xff; /* the bytes are ours again, so the receiver must not see this */
    }
    order[0] = OFI_PEER_REPORT;
    a.on_message = ofi_remember;
    a.data = &counted;
    /* Messages may overtake each other, so ask until all have arrived. */
    for (unsigned long i = 1; counted < NUM; i++) {
        CHECK_INT(station_send(&a, 1, order, 1), COHORT__NET_SENT);
        station_until(&a, &a.num_messages, i);
    }
    CHECK_INT(counted, NUM);
    ofi_peer_stop(&a, pid);
    cohort__net_destroy(a.net);
}

TEST(echo)
{
    unsigned char data[200] = {OFI_PEER_ECHO};
    ofi_end_open(&a, 0);
    pid_t pid = ofi_peer_start(&a);
    for (unsigned long i = 0; i < 2000; i++) {
        CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
        station_until(&a, &a.num_messages, i + 1);
    }
    ofi_peer_stop(&a, pid);
    cohort__net_destroy(a.net);
}

/* Dead before anything was sent, and dead after the connection was used and idle. */
TEST(kill_idle)
{
    for (int used = 0; used < 2; used++) {
        unsigned char data[200] = {OFI_PEER_ECHO};
        ofi_end_open(&a, 0);
        pid_t pid = ofi_peer_start(&a);
        if (used) {
            CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
            station_until(&a, &a.num_messages, 1);
        }
        ofi_peer_kill(pid);
        while (station_send(&a, 1, data, sizeof data) != COHORT__NET_DEAD)
            ;
        station_until_unreachable(&a, 1);
        CHECK_INT(a.num_unreachable[1], 1);
        cohort__net_destroy(a.net);
    }
}

/* A peer that lives but is not driven must not be regarded as dead. */
TEST(stopped_peer)
{
    unsigned char data[200] = {OFI_PEER_ECHO};
    struct iovec part = {data, sizeof data};
    ofi_end_open(&a, 0);
    pid_t pid = ofi_peer_start(&a);
    CHECK_INT(kill(pid, SIGSTOP), 0);
    for (uint64_t end = station_now() + 300000000; station_now() < end;) {
        CHECK(cohort__net_send(a.net, 1, &part, 1) != COHORT__NET_DEAD);
        station_turn(&a);
    }
    CHECK_INT(a.num_unreachable[1], 0);
    CHECK_INT(kill(pid, SIGCONT), 0);
    CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&a, &a.num_messages, 1);
    ofi_peer_stop(&a, pid);
    cohort__net_destroy(a.net);
}

TEST_PAIR(remove)
{
    unsigned char byte = 1;
    struct iovec part = {&byte, 1};
    CHECK_INT(cohort__net_send(a.net, 7, &part, 1), COHORT__NET_DEAD);
    CHECK_INT(station_send(&a, 1, &byte, 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1);
    cohort__net_remove_peer(a.net, 1);
    cohort__net_remove_peer(a.net, 1);
    CHECK_INT(cohort__net_send(a.net, 1, &part, 1), COHORT__NET_DEAD);
    for (int i = 0; i < 100; i++)
        station_turn(&a);
    CHECK_INT(a.num_unreachable[1], 0);
    ofi_end_know(&a, 1, &b); /* the number may be used again */
    CHECK_INT(station_send(&a, 1, &byte, 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 2);
}

/* Both ends connect to each other at the same time. */
TEST(crossing)
{
    for (int round = 0; round < 20; round++) {
        struct iovec part = {"x", 1};
        ofi_pair_open(&a, &b);
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
        ofi_pair_close(&a, &b);
    }
}

static void refuse(struct station *station, const void *address, size_t bytes, const char *theirs,
                   const char *ours)
{
    CHECK_FAILS(cohort__net_add_peer(station->net, 5, address, bytes), COHORT_ERR_BAD_PARAMETER,
                theirs);
    CHECK_CONTAINS(cohort_error_message(), ours);
}

/* A peer comes and ends. The provider keeps its process for what it uses again. */
static void have_peer(struct station *station)
{
    unsigned char order = OFI_PEER_ECHO;
    pid_t pid = ofi_peer_start(station);
    CHECK_INT(station_send(station, 1, &order, 1), COHORT__NET_SENT);
    station_until(station, &station->num_messages, 1);
    ofi_peer_stop(station, pid);
    while (station_turn(station))
        ;
    cohort__net_remove_peer(station->net, 1);
    station->num_messages = 0;
}

static in_port_t port_of(const struct station *station)
{
    struct sockaddr_in address;
    memcpy(&address, ((struct cohort__ofi *)station->net)->raw, sizeof address);
    return ntohs(address.sin_port);
}

/* Begins to send to the other end, which each knows as 0. */
static void try_to_send(struct station *station, bool *is_sent)
{
    struct iovec part = {"x", 1};
    enum cohort__net_sent sent =
        *is_sent ? COHORT__NET_SENT : cohort__net_send(station->net, 0, &part, 1);
    CHECK(sent != COHORT__NET_DEAD);
    *is_sent = sent == COHORT__NET_SENT;
}

/* Two ends connect to each other at the same time, after another peer has ended. In this order of
 * events the providers net and tcp close the connection that the other end has just been told of:
 * what it has sent by then is lost, though it was a success. */
TEST(crossing_after_end)
{
    for (int num_turns = 0; num_turns < 4; num_turns++) {
        struct station x, y;
        bool first_sent = false, second_sent = false;
        ofi_end_open(&x, 0);
        ofi_end_open(&y, 0);
        /* Of two connections that of the higher port stays. */
        struct station *first = port_of(&x) > port_of(&y) ? &x : &y;
        struct station *second = first == &x ? &y : &x;
        have_peer(first);
        ofi_end_know(&x, 0, &y);
        ofi_end_know(&y, 0, &x);
        try_to_send(first, &first_sent);
        for (int i = 0; i < num_turns; i++)
            station_turn(first);
        try_to_send(second, &second_sent);
        for (int i = 0; i < 2; i++) {
            station_turn(first);
            station_turn(second);
        }
        uint64_t deadline = station_now() + UINT64_C(10000000000);
        while (first->num_messages == 0 || second->num_messages == 0) {
            try_to_send(second, &second_sent);
            station_turn(first);
            try_to_send(first, &first_sent);
            station_turn(second);
            CHECK(station_now() < deadline);
        }
        CHECK_INT(first->num_unreachable[0] + second->num_unreachable[0], 0);
        ofi_pair_close(&x, &y);
    }
}

TEST(addresses)
{
    unsigned char address[128];
    ofi_end_open(&a, 0);
    size_t bytes = a.net->address_bytes;
    refuse(&a, "shm\0x", 5, "shm", "ofi");
    const char *provider = ((struct cohort__ofi *)a.net)->info->fabric_attr->prov_name;
    size_t head = sizeof "ofi" + strlen(provider) + 1;
    refuse(&a, "ofi\0verbs;ofi_rxm\0\1\0\0\0xxxx", 26, "verbs;ofi_rxm", provider);
    memcpy(address, a.net->address, bytes);
    address[head] ^= 1; /* the minor version */
    char theirs[40], ours[40];
    const unsigned major = FI_MAJOR(((struct cohort__ofi *)a.net)->library->version);
    snprintf(theirs, sizeof theirs, "uses libfabric %u.", major);
    snprintf(ours, sizeof ours, "this locality uses %u.", major);
    refuse(&a, address, bytes, theirs, ours);
    for (size_t n = 0; n < head + 5; n++)
        refuse(&a, a.net->address, n, "peer 5", "address");
    cohort__net_destroy(a.net);
}

TEST(bad_settings)
{
    struct station station = {0};
    struct cohort__net_handlers handlers = station_handlers(&station);
    struct cohort__net *net = NULL;
    const char *usual = getenv("COHORT_OFI_PROVIDER");
    char *was = usual ? strdup(usual) : NULL;
    setenv("COHORT_OFI_PROVIDER", "nosuch", 1);
    CHECK_FAILS(cohort__ofi_create(&handlers, 0, NULL, &net), COHORT_ERR_NETWORK,
                "nosuch at 127.0.0.1: fi_getinfo");
    CHECK_CONTAINS(cohort_error_message(), "COHORT_OFI_PROVIDER");
    unsetenv("COHORT_OFI_PROVIDER");
    if (was)
        setenv("COHORT_OFI_PROVIDER", was, 1);
    free(was);
    setenv("COHORT_OFI_ADDRESS", "203.0.113.1", 1);
    CHECK_FAILS(cohort__ofi_create(&handlers, 0, NULL, &net), COHORT_ERR_NETWORK, "203.0.113.1");
    CHECK_FAILS(cohort__ofi_create(&handlers, 0, "127.0.0.1", &net), COHORT_ERR_NETWORK,
                "203.0.113.1");
    unsetenv("COHORT_OFI_ADDRESS");
    CHECK_FAILS(cohort__ofi_create(&handlers, 0, "203.0.113.2", &net), COHORT_ERR_NETWORK,
                "203.0.113.2");
    char text[100] = {0};
    memset(text, '1', sizeof text - 1);
    CHECK_FAILS(cohort__ofi_create(&handlers, 0, text, &net), COHORT_ERR_BAD_PARAMETER,
                "no network address: '1111");
    CHECK(net == NULL);
}

/* Bound to the requested address. A peer is known to be on this host only if it has the same
 * address. */
TEST(local_address)
{
    struct station a = {0};
    struct cohort__net_handlers handlers = station_handlers(&a);
    CHECK_OK(cohort__ofi_create(&handlers, 0, "127.0.0.3", &a.net));
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

/* Native tcp: sound from 1.18.1 on, and called net in 1.17. */
TEST(provider)
{
    const struct cohort__ofi_library *library;
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 16), 1), "tcp;ofi_rxm");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 17), 0), "net");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 17), 1), "net");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 18), 0), "tcp;ofi_rxm");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 18), 1), "tcp");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(1, 19), 0), "tcp");
    CHECK_TEXT(cohort__ofi_library_provider(FI_VERSION(2, 0), 0), "tcp");
    CHECK_OK(cohort__ofi_library_load(&library));
    ofi_end_open(&a, 0);
    const char *wanted = getenv("COHORT_OFI_PROVIDER");
    CHECK_TEXT(((struct cohort__ofi *)a.net)->info->fabric_attr->prov_name,
               wanted ? wanted : cohort__ofi_library_provider(library->version, library->revision));
    cohort__net_destroy(a.net);
}

/* Libraries that libfabric loads catch signals. The program's signal handlers stay as they are. */
TEST(signals)
{
    ofi_end_open(&a, 0);
    for (int s = 1; s < 32; s++) {
        struct sigaction action;
        if (s == SIGSEGV || s == SIGBUS || s == SIGFPE || s == SIGILL || s == SIGABRT)
            continue; /* belongs to the sanitizers */
        CHECK_INT(sigaction(s, NULL, &action), 0);
        CHECK(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
    }
    CHECK(getenv("FI_OFI_RXM_MSG_RX_SIZE") == NULL);
    cohort__net_destroy(a.net);
}

static volatile sig_atomic_t num_caught;
static atomic_bool is_loaded;

static void count(int number)
{
    num_caught++;
}

static void *pelt(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    do
        CHECK_INT(kill(getpid(), SIGTERM), 0);
    while (!atomic_load(&is_loaded));
    return NULL;
}

/* A process that gets SIGTERM again and again while libfabric is being loaded. */
static int pelted_main(void)
{
    struct sigaction action = {.sa_handler = count};
    CHECK_INT(sigaction(SIGTERM, &action, NULL), 0);
    pthread_t thread = new_thread(pelt, NULL);
    ofi_end_open(&a, 0);
    atomic_store(&is_loaded, true);
    end_thread(thread);
    CHECK(num_caught > 0);
    cohort__net_destroy(a.net);
    return 0;
}

/* These libraries don't get the signals in the meantime either. */
TEST(signals_while_loading)
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execl("/proc/self/exe", "test_ofi", "pelted", (char *)NULL);
        _exit(127);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

static uint64_t cpu_ns(void)
{
    struct rusage usage;
    CHECK_INT(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* Once it is connected and quiet, waiting takes no CPU time. A message ends the wait. */
TEST(idle)
{
    unsigned char data[200] = {OFI_PEER_ECHO};
    ofi_end_open(&a, 0);
    pid_t pid = ofi_peer_start(&a);
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
        CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
        while (a.num_messages < i + 1) {
            while (station_turn(&a))
                ;
            if (a.num_messages < i + 1)
                CHECK(station_block(&a, 10000));
        }
    }
    ofi_peer_stop(&a, pid);
    cohort__net_destroy(a.net);
}

/* A stranger that connects to the port of STATION's provider. */
static int stranger_connect(const struct station *station)
{
    const struct cohort__ofi *ofi = (const struct cohort__ofi *)station->net;
    struct sockaddr_storage address;
    size_t bytes = (size_t)(station->net->address + station->net->address_bytes - ofi->raw);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bytes <= sizeof address);
    memcpy(&address, ofi->raw, bytes);
    CHECK_INT(connect(fd, (struct sockaddr *)&address, (socklen_t)bytes), 0);
    return fd;
}

static void turn_for(struct station *station, uint64_t nanoseconds)
{
    for (uint64_t end = station_now() + nanoseconds; station_now() < end;)
        station_turn(station);
}

/* Waits until the other side has closed FD. */
static void await_close(struct station *station, int fd)
{
    char byte;
    uint64_t deadline = station_now() + UINT64_C(60000000000);
    while (recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
        station_turn(station);
        CHECK(station_now() < deadline);
    }
}

static void check_rest(struct station *station)
{
    unsigned num_turns = 0;
    for (uint64_t end = station_now() + 300000000; station_now() < end; num_turns++) {
        while (station_turn(station))
            ;
        station_block(station, 100);
    }
    CHECK(num_turns < 100);
}

/* Strangers that say nothing take no descriptor. Those that say too little, or that leave, lose
 * their descriptors. After that the end is idle again, and its peer can still reach it. */
TEST_PAIR(strangers)
{
    enum { NUM = 20 };
    int silent[NUM];
    int brief[NUM];
    CHECK_INT(station_send(&a, 1, "x", 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1);
    unsigned before = test_num_entries("/proc/self/fd");
    for (int i = 0; i < NUM; i++)
        silent[i] = stranger_connect(&b);
    turn_for(&a, 20000000);
    CHECK_INT(test_num_entries("/proc/self/fd"), before + NUM);
    for (int i = 0; i < NUM; i++) {
        brief[i] = stranger_connect(&b);
        CHECK_INT(send(brief[i], "\3", 1, MSG_NOSIGNAL), 1);
    }
    for (int i = 0; i < NUM; i++) {
        await_close(&a, brief[i]);
        close(brief[i]);
        shutdown(silent[i], SHUT_WR);
        await_close(&a, silent[i]);
        close(silent[i]);
    }
    CHECK_INT(test_num_entries("/proc/self/fd"), before);
    check_rest(&b);
    CHECK_INT(station_send(&a, 1, "x", 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 2);
}

/* What ofi_rxm reports when a stranger has sent this to it: a send ends a second time. */
TEST_PAIR(ended_twice)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)a.net;
    CHECK_INT(station_send(&a, 1, "x", 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1);
    while (cohort__list_is_empty(&ofi->sends))
        station_turn(&a);
    struct cohort__ofi_send *send =
        COHORT_CONTAINER_OF(ofi->sends.next, struct cohort__ofi_send, operation.link);
    cohort__ofi_send_done(ofi, send, "an error");
    cohort__ofi_send_done(ofi, send, NULL);
    for (unsigned long i = 2; i < 10; i++) {
        CHECK_INT(station_send(&a, 1, "x", 1), COHORT__NET_SENT);
        station_until(&a, &b.num_messages, i);
    }
    CHECK_INT(a.num_unreachable[1], 0);
}

static ssize_t (*real_read)(struct fid_cq *cq, void *entries, size_t num);

/* A receive's completion tells more bytes than its buffer has. */
static ssize_t read_too_much(struct fid_cq *cq, void *buffer, size_t num)
{
    struct fi_cq_msg_entry *entries = buffer;
    ssize_t n = real_read(cq, entries, num);
    for (ssize_t i = 0; i < n; i++)
        if (((struct cohort__ofi_operation *)entries[i].op_context)->kind == COHORT__OFI_RECEIVE)
            entries[i].len = (size_t)1 << 30;
    return n;
}

/* The length that the provider tells is compared with the buffer's before anything is read. */
TEST_PAIR(length)
{
    struct fi_ops_cq operations;
    unsigned char data[200];
    struct fid_cq *cq = ((struct cohort__ofi *)b.net)->cq;
    struct fi_ops_cq *real = cq->ops;
    real_read = real->read;
    operations = *real;
    operations.read = read_too_much;
    memset(data, 'x', sizeof data);
    CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1); /* there is a connection */
    cq->ops = &operations;
    CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&a, &b.num_broken, 1);
    CHECK_CONTAINS(b.why, "more bytes than there is room for");
    CHECK(memcmp(b.front, data, sizeof b.front) == 0);
    cq->ops = real;
    CHECK_INT(station_send(&a, 1, data, sizeof data), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 2);
    CHECK_INT(b.num_broken, 1);
}

static void send_raw(struct station *station, const void *data, size_t bytes)
{
    static struct cohort__ofi_operation operation = {.kind = -1}; /* its end is told to nobody */
    struct cohort__ofi *ofi = (struct cohort__ofi *)station->net;
    pthread_mutex_lock(&ofi->lock);
    fi_addr_t to = cohort__ofi_peer_get(ofi, 1)->address;
    CHECK_INT(fi_send(ofi->ep, data, bytes, NULL, to, &operation.context), 0);
    pthread_mutex_unlock(&ofi->lock);
}

/* What is no packet, and what is longer than a receive's buffer, is told with what it begins with,
 * as far as the provider has written it, and with nothing of an earlier message. */
TEST(broken)
{
    static unsigned char data[COHORT__OFI_MAX_PACKET + 1];
    static const size_t sizes[] = {1, 200, sizeof data};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ofi_pair_open(&a, &b);
        memset(data, 'a', sizeof data);
        CHECK_INT(station_send(&a, 1, data, sizeof data / 2), COHORT__NET_SENT);
        station_until(&a, &b.num_messages, 1); /* there is a connection */
        memset(data, 'x', sizeof data);
        send_raw(&a, data, sizes[i]);
        station_until(&a, &b.num_broken, 1);
        printf("%zu bytes: %s\n", sizes[i], b.why);
        bool is_there = b.front[0] == 'x' || sizes[i] < COHORT__OFI_MAX_PACKET;
        for (size_t k = 0; k < sizeof b.front; k++)
            CHECK_INT(b.front[k], is_there && k < sizes[i] ? 'x' : 0);
        ofi_pair_close(&a, &b);
    }
}

/* Who is not answered asks again. A stranger that asks or answers does no harm, and what looks like
 * that only is told. */
TEST(hello)
{
    static const unsigned char stranger[] = {99, 0, 0, 0, 3, 0, 0, 0};
    static const unsigned char nonsense[] = {0, 0, 0, 0, 4, 0, 0, 0};
    struct iovec part = {"x", 1};
    ofi_end_open(&a, 0);
    ofi_end_open(&b, 1);
    ofi_end_know(&a, 1, &b);
    a.peer = &b;
    struct cohort__ofi_peer *peer = cohort__ofi_peer_living((struct cohort__ofi *)a.net, 1);
    while (peer->ask_delay < 40000000) { /* it has asked three times */
        CHECK_INT(cohort__net_send(a.net, 1, &part, 1), COHORT__NET_AGAIN);
        station_turn(&a);
    }
    ofi_end_know(&b, 0, &a);
    CHECK_INT(station_send(&a, 1, "x", 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 1);
    send_raw(&a, stranger, sizeof stranger);
    CHECK_INT(station_send(&a, 1, "x", 1), COHORT__NET_SENT);
    station_until(&a, &b.num_messages, 2);
    CHECK_INT(b.num_broken, 0);
    send_raw(&a, nonsense, sizeof nonsense);
    station_until(&a, &b.num_broken, 1);
    ofi_pair_close(&a, &b);
}

/* What asks or answers at one end (ofi_peer.c): the provider accepts to send it, and fails to. */
enum { ASKS = 1, ANSWERS = 2, HELLO_BYTES = 8 };
static struct {
    unsigned what;        /* ASKS, ANSWERS or both */
    unsigned left;        /* so many fail from now on */
    unsigned num_pending; /* accepted, and their failure is still to be told */
    void *pending[16];
    struct fi_ops_msg *real_msg;
    struct fi_ops_cq *real_cq;
} failing;

static ssize_t send_in_vain(struct fid_ep *ep, const void *data, size_t bytes, void *descriptor,
                            fi_addr_t address, void *context)
{
    bool fails = bytes == HELLO_BYTES && ((const unsigned char *)data)[4] & failing.what;
    if (!fails || failing.left == 0)
        return failing.real_msg->send(ep, data, bytes, descriptor, address, context);
    CHECK(failing.num_pending < sizeof failing.pending / sizeof failing.pending[0]);
    failing.left--;
    failing.pending[failing.num_pending++] = context;
    return 0;
}

static ssize_t read_failure(struct fid_cq *cq, void *entries, size_t num)
{
    return failing.num_pending > 0 ? -FI_EAVAIL : failing.real_cq->read(cq, entries, num);
}

static ssize_t read_error(struct fid_cq *cq, struct fi_cq_err_entry *entry, uint64_t flags)
{
    if (failing.num_pending == 0)
        return failing.real_cq->readerr(cq, entry, flags);
    entry->op_context = failing.pending[--failing.num_pending];
    entry->err = FI_EIO;
    return 1;
}

static void fail_hellos(struct station *station, unsigned what, unsigned num)
{
    static struct fi_ops_msg msg;
    static struct fi_ops_cq cq;
    struct cohort__ofi *ofi = (struct cohort__ofi *)station->net;
    failing.what = what;
    failing.left = num;
    failing.num_pending = 0;
    failing.real_msg = ofi->ep->msg;
    failing.real_cq = ofi->cq->ops;
    msg = *ofi->ep->msg;
    msg.send = send_in_vain;
    ofi->ep->msg = &msg;
    cq = *ofi->cq->ops;
    cq.read = read_failure;
    cq.readerr = read_error;
    ofi->cq->ops = &cq;
}

/* Sends from one of A and B until it has arrived, or one end has lost the other. */
static void send_until_over(struct station *a, struct station *b, bool is_from_b)
{
    struct iovec part = {"x", 1};
    struct cohort__net *net = is_from_b ? b->net : a->net;
    const struct station *to = is_from_b ? a : b;
    uint64_t deadline = cohort__clock_after(UINT64_C(120000000000));
    bool is_sent = false;
    while (to->num_messages == 0 && a->num_unreachable[1] + b->num_unreachable[0] == 0) {
        is_sent = is_sent || cohort__net_send(net, is_from_b ? 0 : 1, &part, 1) == COHORT__NET_SENT;
        station_turn(a);
        CHECK(cohort__clock_now() < deadline);
    }
}

/* The provider fails to send what asks, or what answers: a few times, and then too often. */
TEST(hello_failed)
{
    static const struct {
        bool is_answer;
        unsigned num;
        bool is_lost;
    } cases[] = {{false, 3, false}, {false, 4, true}, {true, 3, false}, {true, 4, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ofi_pair_open(&a, &b);
        struct station *end = cases[i].is_answer ? &b : &a;
        uint32_t other = cases[i].is_answer ? 0 : 1;
        fail_hellos(end, ASKS | ANSWERS, cases[i].num);
        send_until_over(&a, &b, false);
        CHECK_INT(failing.left, 0);
        CHECK_INT(b.num_messages, cases[i].is_lost ? 0 : 1);
        CHECK_INT(end->num_unreachable[other], cases[i].is_lost ? 1 : 0);
        if (cases[i].is_lost)
            CHECK_TEXT(end->why, ((struct cohort__ofi *)end->net)->library->strerror(FI_EIO));
        ofi_pair_close(&a, &b);
    }
}

/* Who has answered is there, however many answers to it fail: it asks again. */
TEST_PAIR(answers_failed)
{
    fail_hellos(&a, ANSWERS, 5);
    send_until_over(&a, &b, false);
    send_until_over(&a, &b, true);
    CHECK_INT(failing.left, 0);
    CHECK(a.num_messages == 1 && b.num_messages == 1);
}

/* Connects to a peer that is blocked, from an end that blocks. Neither end spins, and neither is
 * lost. */
TEST(idle_connect)
{
    unsigned char data[200] = {OFI_PEER_ECHO};
    struct iovec part = {data, sizeof data};
    ofi_end_open(&a, 0);
    pid_t pid = ofi_peer_start(&a);
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
    ofi_peer_stop(&a, pid);
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

TEST_PAIR(threads)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = new_thread(send_many, &a);
    station_until(&a, &b.num_messages, 2 * NUM_EACH);
    for (int i = 0; i < 2; i++)
        end_thread(threads[i]);
}

static void *send_once(void *arg)
{
    struct station *a = arg;
    station_send(a, 1, "hello", 5);
    station_turn(a); /* else the later ones would wait for it */
    return NULL;
}

/* The sender is on one thread and the loop is blocked on another, as with several workers. */
TEST_PAIR(threads_blocked)
{
    a.peer = NULL;
    ofi_end_know(&b, 1, &a);
    for (unsigned long i = 0; i < 50; i++) {
        pthread_t thread = new_thread(send_once, &a);
        while (b.num_messages <= i) {
            station_turn(&b);
            if (b.num_messages <= i)
                CHECK(station_block(&b, 10000));
        }
        end_thread(thread);
    }
}

/* What is sent just before the end is destroyed still arrives. */
TEST(destroy_after_send)
{
    for (int i = 0; i < 5; i++) {
        ofi_pair_open(&a, &b);
        for (int k = 0; k < 20; k++)
            CHECK_INT(station_send(&a, 1, "last words", 10), COHORT__NET_SENT);
        cohort__net_destroy(a.net);
        station_until(&b, &b.num_messages, 20);
        cohort__net_destroy(b.net);
    }
}

static struct fi_ops stuck_operations;
static sem_t is_stuck;

static int stay(struct fid *fid)
{
    sem_post(&is_stuck);
    for (;;)
        pause();
    return 0;
}

/* A provider that does not close its endpoint must not keep the program from ending. */
TEST(stuck_in_close)
{
    static struct cohort__ofi *ofi; /* static, since the provider may still use it */
    struct station station;
    ofi_end_open(&station, 0);
    ofi = (struct cohort__ofi *)station.net;
    stuck_operations = *ofi->ep->fid.ops;
    stuck_operations.close = stay;
    ofi->ep->fid.ops = &stuck_operations;
    CHECK_INT(sem_init(&is_stuck, 0, 0), 0);
    cohort__net_destroy(station.net);
    CHECK_INT(sem_wait(&is_stuck), 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "peer") == 0)
        return ofi_peer_main();
    if (argc == 2 && strcmp(argv[1], "pelted") == 0)
        return pelted_main();
    return tests_run(argc, argv);
}
