/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/fault.h"
#include "runtime/proc/peer.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"

/* A message to rank 1 or 2, and its result. */
struct letter {
    struct cohort__send send;
    int num_done;
    cohort_status status;
    char text[200];
};

static struct fake_net fake;
static unsigned char payload[5 * FAKE_MAX_PAYLOAD];
static int num_deaths;
static struct cohort__arrival *arrived;
static uint64_t generation = 1; /* of what is posted; 0: a channel's */

static void on_done(struct cohort__send *send, cohort_status status)
{
    struct letter *letter = COHORT_CONTAINER_OF(send, struct letter, send);
    letter->num_done++;
    letter->status = status;
    snprintf(letter->text, sizeof(letter->text), "%s", status ? cohort_error_message() : "");
}

static void post(struct letter *letter, uint32_t rank, size_t bytes)
{
    *letter = (struct letter){
        .send = {.envelope = {.kind = COHORT__KIND_DATA, .generation = generation, .tag = 5},
                 .payload = payload,
                 .bytes = bytes,
                 .done = on_done}};
    cohort__send_start(fake.process, rank, &letter->send);
}

static void check_done(const struct letter *letter, cohort_status status, const char *text)
{
    CHECK_INT(letter->num_done, 1);
    CHECK_INT(letter->status, status);
    CHECK_CONTAINS(letter->text, text);
}

/* The kind of the next message to RANK, with that many bytes. An announced message is fetched. */
static enum cohort__kind kind_of(uint32_t rank, size_t bytes)
{
    struct letter letter;
    post(&letter, rank, bytes);
    uint64_t handle = cohort__send_handle(&letter.send);
    CHECK_INT(letter.num_done, handle == 0);
    if (handle)
        fake_net_deliver(&fake, rank,
                         (struct cohort__envelope){.kind = COHORT__KIND_FETCHED, .handle = handle},
                         NULL, 0);
    check_done(&letter, COHORT_OK, "");
    return fake.sent[(fake.num_sent - 1) % FAKE_KEPT].envelope.kind;
}

static void on_message(void *context, struct cohort__arrival *arrival)
{
    arrived = cohort__arrival_keep(arrival);
    CHECK(arrived);
}

static void on_peer_died(void *context, uint32_t rank)
{
    CHECK_INT(rank, 1);
    num_deaths++;
}

static void open_fake(size_t budget)
{
    fake_net_open(&fake, budget);
    num_deaths = 0;
    cohort__process_set_handlers(
        fake.process,
        &(struct cohort__process_handlers){.message = on_message, .peer_died = on_peer_died});
}

static void give_credit(uint32_t rank, uint32_t credit)
{
    fake_net_deliver(&fake, rank,
                     (struct cohort__envelope){.kind = COHORT__KIND_CREDIT, .credit = credit}, NULL,
                     0);
}

#define TEST_FAKE(name) TEST_BETWEEN(name, open_fake(0), fake_net_close(&fake))

TEST_FAKE(eager_or_announced)
{
    struct letter letter;
    CHECK_INT(kind_of(1, 0), COHORT__KIND_DATA);
    CHECK_INT(kind_of(1, 400), COHORT__KIND_DATA);
    CHECK_INT(fake.sent[1].envelope.payload_bytes, 400);
    CHECK_INT(fake.sent[1].envelope.tag, 5);
    CHECK_INT(kind_of(1, FAKE_BUDGET - 400 + 1), COHORT__KIND_ANNOUNCE); /* not charged */
    CHECK_INT(kind_of(1, FAKE_BUDGET - 400), COHORT__KIND_DATA);         /* exactly what is left */
    CHECK_INT(kind_of(1, 0), COHORT__KIND_DATA);
    CHECK_INT(kind_of(2, 1), COHORT__KIND_DATA); /* each peer has its own budget */

    post(&letter, 1, 1);
    const struct fake_sent *sent = &fake.sent[fake.num_sent - 1];
    CHECK_INT(sent->envelope.kind, COHORT__KIND_ANNOUNCE);
    CHECK_INT(sent->envelope.total_bytes, 1);
    CHECK_INT(sent->envelope.payload_bytes, COHORT__NET_TOKEN_BYTES);
    CHECK(sent->envelope.handle != 0 && sent->envelope.handle == cohort__send_handle(&letter.send));
    CHECK(memcmp(sent->payload, "tttt", 4) == 0);
    CHECK_INT(letter.num_done, 0);
    CHECK_INT(fake.num_regions, 1);
    CHECK(cohort__process_traffic(fake.process).busy);

    struct cohort__envelope fetched = {.kind = COHORT__KIND_FETCHED,
                                       .handle = sent->envelope.handle + 1};
    fake_net_deliver(&fake, 1, fetched, NULL, 0); /* of an unknown handle */
    fetched.handle--;
    fake_net_deliver(&fake, 2, fetched, NULL, 0); /* of another peer's message */
    CHECK_INT(letter.num_done, 0);
    fake_net_deliver(&fake, 1, fetched, NULL, 0);
    fake_net_deliver(&fake, 1, fetched, NULL, 0); /* twice */
    check_done(&letter, COHORT_OK, "");
    CHECK_INT(fake.num_regions, 0);
    CHECK(!cohort__process_traffic(fake.process).busy);
    CHECK_INT(cohort__process_dropped(fake.process), 0);
}

/* A short message takes 10 bytes of the budget, and so does one of a channel that has no payload.
 */
TEST(short)
{
    struct letter letter;
    struct cohort__envelope envelope = {.kind = COHORT__KIND_DATA, .tag = 5};
    for (generation = 0; generation <= 1; generation++)
        for (size_t bytes = 0; bytes <= COHORT__EAGER_LEAST; bytes++) {
            bool counts = bytes > 0 || generation == 0;
            open_fake(0);
            for (int i = 0; i < FAKE_BUDGET / COHORT__EAGER_LEAST; i++)
                CHECK_INT(kind_of(1, bytes), COHORT__KIND_DATA);
            envelope.generation = generation;
            CHECK_INT(cohort__send_try(fake.process, 1, &envelope, payload, bytes), !counts);
            if (counts) {
                CHECK_INT(kind_of(1, bytes), COHORT__KIND_ANNOUNCE);
                post(&letter, 1, bytes);
                CHECK_INT(fake.num_regions, bytes > 0);
                CHECK_INT(fake.sent[(fake.num_sent - 1) % FAKE_KEPT].envelope.total_bytes, bytes);
                fake_net_deliver(
                    &fake, 1,
                    (struct cohort__envelope){.kind = COHORT__KIND_FETCHED,
                                              .handle = cohort__send_handle(&letter.send)},
                    NULL, 0);
                check_done(&letter, COHORT_OK, "");
                give_credit(1, COHORT__EAGER_LEAST);
            }
            CHECK_INT(kind_of(1, bytes), COHORT__KIND_DATA);
            fake_net_close(&fake);
        }
    generation = 1;
}

/* A payload that doesn't fit into one message is announced, whatever the budget is. */
TEST(max_message)
{
    open_fake(100 * FAKE_MAX_PAYLOAD);
    CHECK_INT(kind_of(1, FAKE_MAX_PAYLOAD), COHORT__KIND_DATA);
    CHECK_INT(kind_of(1, FAKE_MAX_PAYLOAD + 1), COHORT__KIND_ANNOUNCE);
    fake_net_close(&fake);
}

static uint32_t num_parts(size_t first, uint64_t handle, size_t bytes)
{
    uint32_t num = 0;
    for (size_t i = first; i < fake.num_sent; i++) {
        const struct cohort__envelope *fragment = &fake.sent[i].envelope;
        if (fragment->kind != COHORT__KIND_FRAGMENT)
            continue;
        CHECK_INT(fragment->handle, handle);
        CHECK_INT(fragment->total_bytes, bytes);
        CHECK_INT(fragment->offset, num * FAKE_MAX_PAYLOAD);
        num++;
    }
    return num;
}

/* Where the transport wants that, it goes in several messages, as long as the budget allows. What
 * the transport refuses in between goes on from there, before all later messages. */
TEST(fragments)
{
    struct letter letter, later;
    open_fake(10 * FAKE_MAX_PAYLOAD);
    fake.net.max_in_fragments = 4 * FAKE_MAX_PAYLOAD;
    CHECK_INT(kind_of(1, 4 * FAKE_MAX_PAYLOAD + 1), COHORT__KIND_ANNOUNCE);
    CHECK_INT(kind_of(1, FAKE_MAX_PAYLOAD), COHORT__KIND_DATA);
    size_t first = fake.num_sent;
    post(&letter, 1, 4 * FAKE_MAX_PAYLOAD);
    check_done(&letter, COHORT_OK, "");
    CHECK_INT(fake.num_sent - first, 4);
    uint64_t handle = fake.sent[first].envelope.handle;
    CHECK_INT(num_parts(first, handle, 4 * FAKE_MAX_PAYLOAD), 4);

    first = fake.num_sent;
    fake.accepts = 2;
    fake.otherwise = COHORT__NET_AGAIN;
    post(&letter, 1, 2 * FAKE_MAX_PAYLOAD + 1);
    post(&later, 1, 10);
    CHECK_INT(fake.num_sent - first, 2);
    CHECK_INT(letter.num_done + later.num_done, 0);
    CHECK(fake.sent[first].envelope.handle != handle);
    fake.accepts = 100;
    fake.net.handlers.writable(fake.net.handlers.context, 1);
    check_done(&letter, COHORT_OK, "");
    check_done(&later, COHORT_OK, "");
    CHECK_INT(num_parts(first, fake.sent[first].envelope.handle, 2 * FAKE_MAX_PAYLOAD + 1), 3);
    CHECK_INT(fake.sent[first + 2].envelope.payload_bytes, 1);
    CHECK_INT(fake.sent[first + 3].envelope.kind, COHORT__KIND_DATA);

    /* All of it has taken budget: 3 * FAKE_MAX_PAYLOAD - 11 are left. */
    CHECK_INT(kind_of(1, 3 * FAKE_MAX_PAYLOAD - 10), COHORT__KIND_ANNOUNCE);
    CHECK_INT(kind_of(1, 3 * FAKE_MAX_PAYLOAD - 11), COHORT__KIND_FRAGMENT);
    CHECK_INT(kind_of(1, 1), COHORT__KIND_ANNOUNCE);
    fake_net_close(&fake);
}

TEST_FAKE(budget_comes_back)
{
    CHECK_INT(kind_of(1, FAKE_BUDGET), COHORT__KIND_DATA);
    give_credit(2, FAKE_BUDGET); /* not the peer that owes it */
    CHECK_INT(kind_of(1, 1), COHORT__KIND_ANNOUNCE);
    give_credit(1, 300);
    CHECK_INT(kind_of(1, 301), COHORT__KIND_ANNOUNCE);
    CHECK_INT(kind_of(1, 300), COHORT__KIND_DATA);
    CHECK_INT(kind_of(1, 1), COHORT__KIND_ANNOUNCE);
    /* Credit comes with any message. */
    fake_net_deliver(
        &fake, 1, (struct cohort__envelope){.kind = COHORT__KIND_FETCHED, .credit = 10}, NULL, 0);
    CHECK_INT(kind_of(1, 1), COHORT__KIND_DATA);
    /* Never more credit than the budget was. */
    give_credit(1, 5);
    give_credit(1, COHORT__ENVELOPE_MAX_CREDIT);
    CHECK_INT(kind_of(1, FAKE_BUDGET + 1), COHORT__KIND_ANNOUNCE);
    CHECK_INT(kind_of(1, FAKE_BUDGET), COHORT__KIND_DATA);
    CHECK_INT(kind_of(1, 1), COHORT__KIND_ANNOUNCE);
}

static struct cohort__arrival *receive(uint32_t rank, size_t bytes)
{
    fake_net_deliver(&fake, rank,
                     (struct cohort__envelope){.kind = COHORT__KIND_DATA, .generation = 1}, payload,
                     bytes);
    CHECK_INT(arrived->envelope.payload_bytes, bytes);
    return arrived;
}

TEST_FAKE(giving_back)
{
    struct cohort__arrival *kept = receive(1, 300);
    cohort__arrival_release(receive(1, 400));
    cohort__arrival_release(receive(2, 7));
    cohort__arrival_release(receive(1, 0));
    CHECK_INT(fake.num_sent, 0); /* too little for a message */
    CHECK_INT(kind_of(1, 1), COHORT__KIND_DATA);
    CHECK_INT(fake.sent[0].envelope.credit, 400);
    CHECK_INT(kind_of(1, 1), COHORT__KIND_DATA);
    CHECK_INT(fake.sent[1].envelope.credit, 0);

    cohort__arrival_park(kept);
    cohort__arrival_park(kept);
    CHECK_INT(fake.num_messages, 0);
    CHECK(memcmp(kept->data, payload, 300) == 0);
    fake.accepts = 0; /* credit in a refused message is not lost */
    cohort__arrival_release(kept);
    cohort__arrival_release(receive(1, 200));
    CHECK_INT(fake.num_sent, 2);
    fake.accepts = 100;
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_sent, 3);
    CHECK_INT(fake.sent[2].envelope.kind, COHORT__KIND_CREDIT);
    CHECK_INT(fake.sent[2].envelope.credit, 500);
    CHECK_INT(cohort__process_traffic(fake.process).sent, 2); /* CREDIT isn't counted */
    cohort__arrival_release(NULL);
}

/* If there is more credit than a message's field can hold, several messages are sent. */
TEST(giving_back_much)
{
    size_t budget = 5 * (size_t)COHORT__ENVELOPE_MAX_CREDIT;
    open_fake(budget);
    fake.accepts = 0;
    for (int i = 0; i < 300; i++) {
        struct cohort__arrival *arrival = receive(1, 100);
        arrival->envelope.payload_bytes = (uint32_t)(budget / 300);
        cohort__arrival_release(arrival);
    }
    fake.accepts = 100;
    fake_net_writable(&fake, 1);
    size_t credit = 0;
    size_t drained = 0;
    for (size_t i = 0; i < fake.num_sent; i++) {
        CHECK_INT(fake.sent[i].envelope.kind, COHORT__KIND_CREDIT);
        credit += fake.sent[i].envelope.credit;
        drained += fake.sent[i].envelope.drained;
    }
    CHECK_INT(fake.num_sent, 3); /* then the rest is too little for a message */
    CHECK_INT(credit, 3 * (size_t)COHORT__ENVELOPE_MAX_CREDIT);
    CHECK_INT(drained, 300);
    fake_net_close(&fake);
}

/* The peer reports DRAINED more messages as drained. */
static void acknowledge(uint32_t rank, uint32_t drained)
{
    fake_net_deliver(&fake, rank,
                     (struct cohort__envelope){.kind = COHORT__KIND_CREDIT, .drained = drained},
                     NULL, 0);
}

enum { NUM_POSTED = 600 };

static int num_done_of(const struct letter *letters)
{
    int num = 0;
    for (int i = 0; i < NUM_POSTED; i++)
        num += letters[i].num_done;
    return num;
}

/* A message that is too long is an error in every build, and no part of it is sent. */
TEST_FAKE(too_long)
{
    static unsigned char text[FAKE_MAX_PAYLOAD + 1];
    cohort__send_control(fake.process, 1, &(struct cohort__envelope){.kind = COHORT__KIND_ERROR},
                         text, FAKE_MAX_PAYLOAD);
    CHECK_INT(fake.num_sent, 1);
    CHECK(!cohort__process_check_dead(fake.process, 1));
    cohort__send_control(fake.process, 1, &(struct cohort__envelope){.kind = COHORT__KIND_ERROR},
                         text, sizeof(text));
    CHECK_INT(fake.num_sent, 1);
    CHECK(cohort__process_check_dead(fake.process, 1));
    CHECK_CONTAINS(
        cohort_error_message(),
        "locality 1 can't be told: ERROR with 2001 bytes is no message; 2000 are possible");
    struct iovec part = {text, sizeof(text)}, head = {text, COHORT__ENVELOPE_BYTES};
    struct iovec parts[] = {head, part};
    CHECK_INT(cohort__net_send(&fake.net, 2, parts, 2), COHORT__NET_DEAD);
    CHECK_INT(fake.num_sent, 1);
}

/* However small messages are, at most one window of them is undrained. Each peer has its own
 * window. */
TEST(window)
{
    static struct letter letters[NUM_POSTED];
    struct letter other;
    const int window = (int)cohort__send_window(FAKE_SIZE);
    open_fake(0);
    CHECK(window >= 64 && window <= 256);
    for (int i = 0; i < NUM_POSTED; i++)
        post(&letters[i], 1, 0);
    CHECK_INT(fake.num_sent, window);
    CHECK_INT(num_done_of(letters), window);
    post(&other, 2, 0);
    check_done(&other, COHORT_OK, "");
    fake_net_writable(&fake, 1); /* the transport would accept them */
    CHECK_INT(num_done_of(letters), window);
    cohort__send_control(fake.process, 1, &(struct cohort__envelope){.kind = COHORT__KIND_ASK},
                         NULL, 0);
    CHECK_INT(fake.num_sent, window + 1);
    acknowledge(2, 1); /* another peer's */
    acknowledge(1, 0);
    CHECK_INT(num_done_of(letters), window);
    acknowledge(1, 1);
    CHECK_INT(num_done_of(letters), window + 1);
    fake_net_deliver(&fake, 1,
                     (struct cohort__envelope){.kind = COHORT__KIND_FETCHED, .drained = 7}, NULL,
                     0); /* with any message */
    CHECK_INT(num_done_of(letters), window + 8);
    fake.accepts = 3; /* both may have to wait */
    acknowledge(1, 5);
    CHECK_INT(num_done_of(letters), window + 11);
    fake.accepts = ~0u;
    fake_net_writable(&fake, 1);
    CHECK_INT(num_done_of(letters), window + 13);
    for (int i = 0; i < 5; i++)
        acknowledge(1, COHORT__ENVELOPE_MAX_DRAINED); /* also more than there were */
    CHECK_INT(num_done_of(letters), NUM_POSTED);
    CHECK_INT(fake.sent[(fake.num_sent - 1) % FAKE_KEPT].envelope.kind, COHORT__KIND_ASK);
    CHECK_INT(fake.num_sent, NUM_POSTED + 2);
    for (int i = 0; i < NUM_POSTED; i++)
        post(&letters[i], 1, 0);
    CHECK_INT(num_done_of(letters), window); /* never more than a window */
    cohort__process_stop(fake.process);
    fake_net_close(&fake);
}

/* Drained messages are acknowledged with the next message once they are an eighth of a window, or
 * by a message of its own once they are half of one. A CREDIT needs no room in the window. */
TEST(acknowledging)
{
    static struct letter letters[NUM_POSTED];
    const int window = (int)cohort__send_window(FAKE_SIZE);
    open_fake(0);
    for (int i = 0; i < NUM_POSTED; i++)
        post(&letters[i], 1, 0);
    CHECK_INT(fake.num_sent, window);
    struct cohort__arrival *kept[256];
    for (int i = 0; i < window / 2; i++) {
        CHECK_INT(fake.num_sent, window);
        kept[i] = receive(1, 0);
    }
    const struct fake_sent *last = &fake.sent[(fake.num_sent - 1) % FAKE_KEPT];
    CHECK_INT(fake.num_sent, window + 1); /* drained, whether released or not */
    CHECK_INT(last->envelope.kind, COHORT__KIND_CREDIT);
    CHECK_INT(last->envelope.drained, window / 2);
    for (int i = 0; i < window / 2; i++)
        cohort__arrival_release(kept[i]);
    acknowledge(1, 1); /* a CREDIT does not count as drained */
    CHECK_INT(fake.num_sent, window + 2);
    last = &fake.sent[(fake.num_sent - 1) % FAKE_KEPT];
    CHECK_INT(last->envelope.kind, COHORT__KIND_DATA);
    CHECK_INT(last->envelope.drained, 0);
    int drained = 0, num_told = 0;
    /* Request and reply: no extra messages, and few acknowledgements. */
    for (int i = 1; i <= window; i++) {
        cohort__arrival_release(receive(2, 0));
        CHECK_INT(kind_of(2, 0), COHORT__KIND_DATA);
        acknowledge(2, 1);
        last = &fake.sent[(fake.num_sent - 1) % FAKE_KEPT];
        drained += (int)last->envelope.drained;
        num_told += last->envelope.drained > 0;
        CHECK_INT(fake.num_sent, window + 2 + i);
    }
    CHECK_INT(drained, window);
    CHECK_INT(num_told, 8);
    cohort__process_stop(fake.process);
    fake_net_close(&fake);
}

static bool try(uint32_t rank, size_t bytes)
{
    struct cohort__envelope envelope = {
        .kind = COHORT__KIND_DATA, .generation = generation, .tag = 5};
    unsigned num_sent = fake.num_sent;
    uint64_t counted = cohort__process_traffic(fake.process).sent;
    bool is_sent = cohort__send_try(fake.process, rank, &envelope, payload, bytes);
    CHECK_INT(fake.num_sent, num_sent + is_sent);
    CHECK_INT(cohort__process_traffic(fake.process).sent, counted + is_sent);
    CHECK(!cohort__process_traffic(fake.process).busy);
    return is_sent;
}

/* Sends only if the message can go at once and eagerly. Otherwise nothing happens. */
TEST_FAKE(trying)
{
    struct letter letter;
    CHECK(try(1, 0));
    CHECK_INT(fake.sent[0].envelope.kind, COHORT__KIND_DATA);
    CHECK(try(1, FAKE_BUDGET - 100)); /* charged to the budget */
    CHECK_INT(fake.sent[1].envelope.payload_bytes, FAKE_BUDGET - 100);
    CHECK(!try(1, 101));
    CHECK(try(1, 100));
    CHECK(!try(1, 1));
    CHECK(try(1, 0));
    CHECK(!try(2, FAKE_MAX_PAYLOAD + 1));
    fake.accepts = 0;
    CHECK(!try(2, 1));
    post(&letter, 2, 1);
    fake.accepts = 100;
    /* Behind the one that waits. */
    CHECK(!cohort__send_try(fake.process, 2, &letter.send.envelope, payload, 1));
    fake_net_writable(&fake, 2);
    check_done(&letter, COHORT_OK, "");
    CHECK(try(2, FAKE_BUDGET - COHORT__EAGER_LEAST)); /* the refused ones were not charged */
    fake.accepts = 1000;
    while (try(2, 0))
        ;
    CHECK_INT(cohort__process_traffic(fake.process).sent,
              4 + cohort__send_window(FAKE_SIZE)); /* the undrained ones */
    acknowledge(2, 1);
    CHECK(try(2, 0));
    cohort__process_peer_lost(fake.process, 1, "is dead");
    CHECK(!try(1, 0));
    cohort__process_stop(fake.process);
    acknowledge(2, 1);
    CHECK(!try(2, 0));
}

/* Refused messages wait in order, and later messages wait behind them. */
TEST_FAKE(again)
{
    struct letter letters[6];
    fake.accepts = 0;
    for (unsigned i = 0; i < 6; i++)
        post(&letters[i], 1, i == 2 ? FAKE_BUDGET + 1 : 100 + i);
    CHECK_INT(cohort__process_traffic(fake.process).sent, 0);
    fake_net_writable(&fake, 2); /* another peer */
    fake_net_writable(&fake, 1); /* and is full again at once */
    CHECK_INT(fake.num_sent, 0);
    fake.accepts = 4;
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_sent, 4);
    CHECK_INT(letters[3].num_done, 1);
    CHECK_INT(letters[4].num_done, 0);
    fake.accepts = 1; /* though it might be sent, it waits behind the others */
    struct letter late;
    post(&late, 1, 1);
    CHECK_INT(fake.num_sent, 4);
    fake.accepts = 100;
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_sent, 7);
    for (unsigned i = 0; i < 6; i++) {
        CHECK_INT(letters[i].num_done, i != 2);
        if (i != 2)
            CHECK_INT(fake.sent[i].envelope.payload_bytes, 100 + i);
    }
    CHECK_INT(fake.sent[2].envelope.kind, COHORT__KIND_ANNOUNCE);
    CHECK_INT(fake.sent[6].envelope.payload_bytes, 1);
    CHECK_INT(cohort__process_traffic(fake.process).sent, 7);
    fake_net_deliver(&fake, 1,
                     (struct cohort__envelope){.kind = COHORT__KIND_FETCHED,
                                               .handle = cohort__send_handle(&letters[2].send)},
                     NULL, 0);
    check_done(&letters[2], COHORT_OK, "");
}

/* An answer to a message that was never sent: the message ends, and is not sent any more. */
TEST_FAKE(fetched_too_early)
{
    struct letter letter;
    fake.accepts = 0;
    post(&letter, 1, FAKE_BUDGET + 1);
    fake_net_deliver(&fake, 1,
                     (struct cohort__envelope){.kind = COHORT__KIND_FETCHED,
                                               .handle = cohort__send_handle(&letter.send)},
                     NULL, 0);
    check_done(&letter, COHORT_OK, "");
    fake.accepts = 100;
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_sent, 0);
}

TEST_FAKE(death)
{
    struct letter sent, announced, pending, pending_announced, other, late;
    post(&sent, 1, 1);
    post(&announced, 1, FAKE_BUDGET);
    fake.accepts = 0;
    post(&pending, 1, 1);
    post(&pending_announced, 1, FAKE_BUDGET);
    post(&other, 2, 1);
    cohort__process_peer_lost(fake.process, 1, "was killed by signal 9");
    cohort__process_peer_lost(fake.process, 1, "was killed once more");
    CHECK_INT(num_deaths, 1);
    check_done(&sent, COHORT_OK, "");
    check_done(&announced, COHORT_ERR_PEER_DIED, "locality 1 was killed by signal 9");
    check_done(&pending, COHORT_ERR_PEER_DIED, "locality 1 was killed by signal 9");
    check_done(&pending_announced, COHORT_ERR_PEER_DIED, "locality 1 was killed by signal 9");
    CHECK_INT(other.num_done, 0);
    CHECK_INT(fake.num_regions, 0);
    post(&late, 1, 1);
    check_done(&late, COHORT_ERR_PEER_DIED, "locality 1 was killed by signal 9");
    CHECK(cohort__process_any_dead(fake.process));
    CHECK(!cohort__process_check_dead(fake.process, 2));
    fake.accepts = 1;
    fake_net_writable(&fake, 1);
    fake_net_writable(&fake, 2);
    check_done(&other, COHORT_OK, "");
}

/* Many sends to the dead end in several turns of the loop; and what is left, at the end of the
 * job. */
static uint32_t num_asked;

static void on_more(void *context)
{
    num_asked++;
}

static size_t count_done(const struct letter *letters, size_t num)
{
    size_t num_done = 0;
    for (size_t i = 0; i < num; i++) {
        if (letters[i].num_done > 0)
            check_done(&letters[i], COHORT_ERR_PEER_DIED, "locality 1 was killed");
        num_done += letters[i].num_done > 0;
    }
    return num_done;
}

TEST(death_of_many)
{
    enum { A_TURN = COHORT__SENDS_OF_A_TURN, NUM = 3 * A_TURN + 1, REST = A_TURN + 1 };
    struct letter *letters = calloc(NUM, sizeof(*letters)), late;
    CHECK(letters);
    for (int at_end = 0; at_end <= 1; at_end++) {
        fake_net_open_turning(&fake, on_more);
        cohort__process_set_handlers(fake.process,
                                     &(struct cohort__process_handlers){.peer_died = on_peer_died});
        num_asked = num_deaths = 0;
        for (size_t i = 0; i < NUM; i++) {
            fake.accepts = i % 2; /* every other one waits to be sent */
            post(&letters[i], 1, FAKE_BUDGET + 1);
        }
        CHECK(!cohort__process_go_on(fake.process));
        cohort__process_peer_lost(fake.process, 1, "was killed");
        CHECK_INT(num_deaths, 1);
        CHECK_INT(num_asked, 1);
        CHECK_INT(count_done(letters, NUM), 0);
        post(&late, 1, 1);
        check_done(&late, COHORT_ERR_PEER_DIED, "locality 1 was killed");
        for (size_t num = A_TURN; num < NUM - REST + A_TURN; num += A_TURN) {
            CHECK(cohort__process_go_on(fake.process));
            CHECK_INT(count_done(letters, NUM), num);
        }
        while (!at_end && cohort__process_go_on(fake.process))
            ;
        CHECK_INT(count_done(letters, NUM), at_end ? NUM - REST : NUM);
        fake_net_close(&fake);
        CHECK_INT(count_done(letters, NUM), NUM);
    }
    free(letters);
}

/* Nothing was ever sent to that peer. Ranks that do not exist are ignored. */
TEST_FAKE(death_before_use)
{
    struct letter letter;
    cohort__process_peer_lost(fake.process, 0, "was me");
    cohort__process_peer_lost(fake.process, FAKE_SIZE, "was nobody");
    CHECK(!cohort__process_any_dead(fake.process));
    cohort__process_peer_lost(fake.process, 1, "exited with status 3");
    CHECK_INT(num_deaths, 1);
    post(&letter, 1, FAKE_BUDGET + 1);
    check_done(&letter, COHORT_ERR_PEER_DIED, "locality 1 exited with status 3");
    fake_net_deliver(&fake, 1, (struct cohort__envelope){.kind = COHORT__KIND_DATA}, payload, 1);
    CHECK_INT(cohort__process_dropped(fake.process), 1); /* it was sent before the death */
    CHECK_INT(fake.num_sent, 0);
}

/* The transport finds the death itself. */
TEST_FAKE(transport_says_dead)
{
    struct letter first, waiting;
    fake.accepts = 0;
    fake.otherwise = COHORT__NET_DEAD;
    post(&first, 1, 1);
    check_done(&first, COHORT_ERR_PEER_DIED, "locality 1 can't be reached");
    CHECK_INT(num_deaths, 1);
    fake_net_close(&fake);

    open_fake(0);
    fake.accepts = 0;
    post(&first, 1, 1);
    post(&waiting, 1, FAKE_BUDGET);
    fake.otherwise = COHORT__NET_DEAD;
    fake_net_writable(&fake, 1);
    check_done(&first, COHORT_ERR_PEER_DIED, "locality 1 can't be reached");
    check_done(&waiting, COHORT_ERR_PEER_DIED, "locality 1 can't be reached");
    CHECK_INT(num_deaths, 1);
}

TEST_FAKE(stop)
{
    struct letter announced, pending, late;
    post(&announced, 2, FAKE_BUDGET + 1);
    fake.accepts = 0;
    post(&pending, 1, 1);
    cohort__process_stop(fake.process);
    check_done(&announced, COHORT_ERR_CANCELLED, "the job is over");
    check_done(&pending, COHORT_ERR_CANCELLED, "the job is over");
    post(&late, 1, 1);
    check_done(&late, COHORT_ERR_CANCELLED, "the job is over");
}

/* Messages are counted by link, without CREDITs and what the transport refuses. From the message
 * that COHORT_FAULT names on, nothing reaches the peer, and others are not affected. */
TEST(ordered_drop)
{
    struct cohort__fault fault = {.rank = 0};
    struct letter letter;
    CHECK_OK(cohort__fault_plan_read("drop:0-1@4,drop:1-0@1,kill:0@100", &fault.plan));
    fake_net_open_faulty(&fake, &fault);
    post(&letter, 1, 10);
    check_done(&letter, COHORT_OK, "");
    for (int i = 0; i < 5; i++) { /* as many messages, but to another peer */
        post(&letter, 2, 10);
        check_done(&letter, COHORT_OK, "");
    }
    struct cohort__peer *peer = cohort__peer_get(fake.process, 1);
    struct letter waiting;
    fake.accepts = 0;
    post(&waiting, 1, 10);
    CHECK_INT(waiting.num_done, 0);
    fake.accepts = ~0u;
    fake_net_writable(&fake, 1);
    check_done(&waiting, COHORT_OK, "");
    post(&letter, 1, 10);
    check_done(&letter, COHORT_OK, "");
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&peer->lock);
        CHECK_INT(cohort__send_ask(fake.process, peer), COHORT__NET_SENT);
        pthread_mutex_unlock(&peer->lock);
    }
    CHECK(!fake.is_removed[1]);
    size_t num_sent = fake.num_sent;
    for (int i = 0; i < 2; i++) {
        post(&letter, 1, 10);
        CHECK(fake.is_removed[1]);
        check_done(&letter, COHORT_ERR_PEER_DIED, "locality 1 can't be reached");
    }
    CHECK_INT(fake.num_sent, num_sent);
    post(&letter, 2, 10);
    check_done(&letter, COHORT_OK, "");
    fake_net_close(&fake);
}
