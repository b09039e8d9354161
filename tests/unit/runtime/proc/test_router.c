/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/router.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/list.h"
#include "runtime/base/random.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/proc/fake_net.h"
#include "tests/unit/runtime/proc/localities.h"

static struct fake_net fake;

static void on_message(void *context, struct cohort__arrival *arrival)
{
    CHECK(arrival->process == fake.process);
    ++*(int *)context;
    CHECK_INT(arrival->envelope.source_locality, 1);
    CHECK_INT(arrival->envelope.generation, 9);
    CHECK(memcmp(arrival->data, "hello", arrival->envelope.payload_bytes) == 0);
    cohort__arrival_release(arrival);
}

#define TEST_FAKE(name) TEST_BETWEEN(name, fake_net_open(&fake, 0), fake_net_close(&fake))

TEST_FAKE(dispatch)
{
    int num_messages = 0;
    cohort__process_set_handlers(
        fake.process,
        &(struct cohort__process_handlers){.context = &num_messages, .message = on_message});
    CHECK(cohort__process_context(fake.process) == &num_messages);
    static const enum cohort__kind kinds[] = {COHORT__KIND_DATA, COHORT__KIND_ERROR,
                                              COHORT__KIND_ASK, COHORT__KIND_ANSWER};
    for (size_t i = 0; i < 4; i++)
        fake_net_deliver(&fake, 1, (struct cohort__envelope){.kind = kinds[i], .generation = 9},
                         "hello", kinds[i] == COHORT__KIND_ASK ? 0 : 5);
    CHECK_INT(num_messages, 4);
    fake_net_deliver(&fake, 1, (struct cohort__envelope){.kind = COHORT__KIND_CREDIT}, NULL, 0);
    fake_net_deliver(&fake, 1, (struct cohort__envelope){.kind = COHORT__KIND_FETCHED}, NULL, 0);
    CHECK_INT(cohort__process_traffic(fake.process).received, 5); /* all but the CREDIT */
    fake_net_deliver(&fake, 1, (struct cohort__envelope){.kind = COHORT__KIND_REGISTRY}, "?", 1);
    CHECK(cohort__process_check_dead(fake.process, 1)); /* the registry could not read it */
    CHECK_INT(num_messages, 4);
    CHECK_INT(cohort__process_dropped(fake.process), 0);
}

/* A message that isn't for this process has no effect at all, and does not give credit. */
TEST_FAKE(dropped)
{
    int num_messages = 0;
    uint64_t num_dropped = 0;
    cohort__process_set_handlers(
        fake.process,
        &(struct cohort__process_handlers){.context = &num_messages, .message = on_message});
    for (int wrong = 0; wrong < 11; wrong++) {
        unsigned char data[COHORT__ENVELOPE_BYTES + 5] = {0};
        size_t bytes = sizeof(data);
        cohort__envelope_encode(
            &(struct cohort__envelope){
                .kind = COHORT__KIND_DATA,
                .job_key = FAKE_JOB_KEY + (wrong == 0),
                .epoch = FAKE_EPOCH - (wrong == 1),
                .source_locality = wrong == 2   ? 0
                                   : wrong == 3 ? FAKE_SIZE
                                                : 1,
                .payload_bytes = wrong == 4 ? 6 : 5,
                .credit = 1,
                .incarnation = wrong == 9,
                .number = wrong == 10 ? UINT32_MAX : 0,
            },
            data);
        data[0] ^= wrong == 5; /* magic */
        data[2] ^= wrong == 6; /* version */
        data[3] = wrong == 7 ? COHORT__KIND_END : data[3];
        bytes = wrong == 8 ? COHORT__ENVELOPE_BYTES - 1 : bytes;
        fake_net_deliver_bytes(&fake, data, bytes);
        CHECK_INT(cohort__process_dropped(fake.process), ++num_dropped);
        CHECK_INT(fake.num_messages, 0);
    }
    fake_net_deliver_bytes(&fake, "", 0);
    CHECK_INT(num_messages, 0);
    CHECK_INT(cohort__process_traffic(fake.process).received, 0);
    CHECK_INT(fake.num_sent, 0);
}

/* No site of this locality has ever joined anything. The sender gets back what belongs to it. */
TEST_FAKE(nobody_here)
{
    struct cohort__net_token token = {{0}};
    fake_net_deliver(&fake, 1, (struct cohort__envelope){.kind = COHORT__KIND_DATA}, &fake,
                     FAKE_BUDGET / 2);
    CHECK_INT(fake.num_sent, 1);
    CHECK_INT(fake.sent[0].envelope.kind, COHORT__KIND_CREDIT);
    CHECK_INT(fake.sent[0].envelope.credit, FAKE_BUDGET / 2);
    fake_net_deliver(
        &fake, 2,
        (struct cohort__envelope){.kind = COHORT__KIND_ANNOUNCE, .total_bytes = 1, .handle = 3},
        &token, sizeof(token));
    CHECK_INT(fake.num_sent, 2);
    CHECK_INT(fake.sent[1].envelope.kind, COHORT__KIND_FETCHED);
    CHECK_INT(fake.sent[1].envelope.handle, 3);
    CHECK_INT(fake.num_messages, 0);
    CHECK_INT(cohort__process_dropped(fake.process), 2);
    CHECK_INT(cohort__process_traffic(fake.process).received, 2);
}

/* A message that can't be received is its sender's loss, if that is a locality of this job. */
TEST(broken)
{
    unsigned char data[COHORT__ENVELOPE_BYTES] = {0};
    struct cohort__death death;
    void (*broken)(void *, const unsigned char *, size_t, bool, const char *);
    fake_net_open(&fake, 0);
    broken = fake.net.handlers.broken;
    broken(fake.process, data, sizeof(data), false, "it was cut off");
    struct cohort__envelope envelope = {.kind = COHORT__KIND_DATA,
                                        .job_key = FAKE_JOB_KEY + 1,
                                        .epoch = FAKE_EPOCH,
                                        .source_locality = 2,
                                        .payload_bytes = 100000,
                                        .number = 3};
    cohort__envelope_encode(&envelope, data);
    broken(fake.process, data, sizeof(data), false, "it was cut off"); /* of another job */
    envelope.job_key--;
    cohort__envelope_encode(&envelope, data);
    broken(fake.process, data, sizeof(data) - 1, false, "it was cut off");
    CHECK(!cohort__process_any_dead(fake.process));
    broken(fake.process, data, sizeof(data), false, "it was cut off");
    CHECK(cohort__process_death_of(fake.process, 2, &death));
    CHECK_TEXT(death.why, "can't be reached: its message 3 to locality 0 could not be received: it "
                          "was cut off");
    CHECK(!cohort__process_death_of(fake.process, 1, &death));
    envelope.source_locality = 1;
    cohort__envelope_encode(&envelope, data);
    broken(fake.process, data, sizeof(data), true, "it is no packet");
    CHECK(cohort__process_death_of(fake.process, 1, &death));
    CHECK_TEXT(death.why,
               "has sent nonsense: its message 3 to locality 0 could not be received: it "
               "is no packet");
    CHECK_INT(cohort__process_dropped(fake.process), 5);
    fake_net_close(&fake);
}

static void deliver_number(uint32_t source, uint32_t number)
{
    unsigned char data[COHORT__ENVELOPE_BYTES];
    cohort__envelope_encode(&(struct cohort__envelope){.kind = COHORT__KIND_FETCHED,
                                                       .job_key = FAKE_JOB_KEY,
                                                       .epoch = FAKE_EPOCH,
                                                       .source_locality = source,
                                                       .number = number},
                            data);
    fake_net_deliver_bytes(&fake, data, sizeof(data));
}

/* Messages may overtake each other, and each counts once. But if one does not arrive at all, its
 * sender is given up. */
TEST_FAKE(numbers)
{
    deliver_number(1, 0);
    deliver_number(1, 0);
    CHECK_INT(cohort__process_traffic(fake.process).received, 1);
    CHECK_INT(cohort__process_dropped(fake.process), 1);
    deliver_number(1, 3);
    deliver_number(1, 2);
    deliver_number(1, 1);
    deliver_number(2, 0);
    deliver_number(2, 2); /* 1 never arrives */
    CHECK_INT(cohort__process_traffic(fake.process).received, 6);
    uint64_t now = cohort__clock_now();
    cohort__process_tick(fake.process, now);
    CHECK(!cohort__process_any_dead(fake.process));
    for (uint64_t i = 1; i <= 11; i++)
        cohort__process_tick(fake.process, now + i * UINT64_C(1000000000));
    CHECK(!cohort__process_check_dead(fake.process, 1));
    CHECK(cohort__process_check_dead(fake.process, 2));
    CHECK_CONTAINS(cohort_error_message(), "locality 2 can't be reached: its message 1 to locality "
                                           "0 was lost, of which later ones have come");
}

/* Messages that have overtaken another one are confirmed when that one has come, so that its sender
 * does not go on beyond its window. The missing one is a CREDIT here, which itself needs no
 * confirming. */
TEST(overtaking)
{
    const uint32_t window = cohort__send_window(FAKE_SIZE);
    fake_net_open(&fake, 0);
    for (uint32_t number = 1; number < window; number++)
        deliver_number(1, number);
    CHECK_INT(fake.num_sent, 0);
    fake_net_deliver(&fake, 1, (struct cohort__envelope){.kind = COHORT__KIND_CREDIT}, NULL, 0);
    CHECK_INT(fake.num_sent, 1);
    CHECK_INT(fake.sent[0].envelope.kind, COHORT__KIND_CREDIT);
    CHECK_INT(fake.sent[0].envelope.drained, window - 1);
    fake_net_close(&fake);
}

/* The messages that it sends are numbered for each peer. Only messages that the transport has
 * accepted count. */
TEST_FAKE(numbering)
{
    const struct cohort__envelope ask = {.kind = COHORT__KIND_ASK};
    cohort__send_control(fake.process, 1, &ask, NULL, 0);
    cohort__send_control(fake.process, 2, &ask, NULL, 0);
    fake.accepts = 0;
    cohort__send_control(fake.process, 1, &ask, NULL, 0);
    fake.accepts = ~0u;
    fake_net_writable(&fake, 1);
    cohort__send_control(fake.process, 1, &ask, NULL, 0);
    static const uint32_t want[][2] = {{1, 0}, {2, 0}, {1, 1}, {1, 2}};
    CHECK_INT(fake.num_sent, 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(fake.sent[i].peer, want[i][0]);
        CHECK_INT(fake.sent[i].envelope.number, want[i][1]);
        CHECK_INT(fake.sent[i].envelope.incarnation, 0);
    }
}

TEST_FAKE(unreachable)
{
    fake.net.handlers.unreachable(fake.net.handlers.context, 1, "connection reset");
    CHECK(cohort__process_check_dead(fake.process, 1));
    CHECK_CONTAINS(cohort_error_message(), "locality 1 can't be reached: connection reset");
    CHECK(fake.is_removed[1]);
}

/* A storm: all localities send each other messages of all sizes. Receivers keep some of them for a
 * while, and fetch or decline announced blocks. ------------------------------------------------ */

enum { NUM_LOCALITIES = 3, NUM_PARCELS = 300, MAX_BYTES = 40000, BUDGET = 5000 };

struct parcel {
    struct cohort__send send;
    struct cohort__fetch fetch;
    struct cohort__arrival *arrival; /* kept */
    unsigned char *to;
    bool is_refused;
    int num_arrived;
    int num_sent;
    int num_fetched;
};

static struct parcel parcels[NUM_PARCELS];
static unsigned char from[MAX_BYTES + NUM_PARCELS];
static struct cohort__random random_of;
static size_t occupied[NUM_LOCALITIES][NUM_LOCALITIES]; /* eager bytes, by receiver and source */

static void on_sent(struct cohort__send *send, cohort_status status)
{
    CHECK_OK(status);
    COHORT_CONTAINER_OF(send, struct parcel, send)->num_sent++;
}

static void on_fetched(struct cohort__fetch *fetch, cohort_status status)
{
    struct parcel *parcel = COHORT_CONTAINER_OF(fetch, struct parcel, fetch);
    CHECK_OK(status);
    parcel->num_fetched++;
    CHECK(memcmp(parcel->to, parcel->send.payload, parcel->send.bytes) == 0);
}

static void let_go(struct cohort__arrival *arrival)
{
    occupied[cohort__process_rank(arrival->process)][arrival->envelope.source_locality] -=
        arrival->envelope.kind == COHORT__KIND_DATA ? arrival->envelope.payload_bytes : 0;
    cohort__arrival_release(arrival);
}

static void on_eager(struct parcel *parcel, struct cohort__arrival *arrival)
{
    uint32_t rank = cohort__process_rank(arrival->process);
    uint32_t source = arrival->envelope.source_locality;
    CHECK_INT(arrival->envelope.payload_bytes, parcel->send.bytes);
    occupied[rank][source] += arrival->envelope.payload_bytes;
    CHECK(occupied[rank][source] <= BUDGET);
    CHECK(memcmp(arrival->data, parcel->send.payload, parcel->send.bytes) == 0);
    if (cohort__random_below(&random_of, 2)) {
        let_go(arrival);
        return;
    }
    parcel->arrival = cohort__arrival_keep(arrival);
    CHECK(parcel->arrival);
    if (cohort__random_below(&random_of, 2))
        cohort__arrival_park(parcel->arrival);
}

static void on_storm(void *context, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    struct parcel *parcel = &parcels[envelope->generation];
    CHECK_INT(++parcel->num_arrived, 1);
    if (envelope->kind == COHORT__KIND_DATA) {
        on_eager(parcel, arrival);
        return;
    }
    parcel->is_refused = cohort__random_below(&random_of, 4) == 0;
    parcel->fetch = (struct cohort__fetch){.rank = envelope->source_locality,
                                           .handle = envelope->handle,
                                           .destination = parcel->to,
                                           .bytes = envelope->total_bytes,
                                           .done = on_fetched};
    memcpy(parcel->fetch.token.bytes, arrival->data, sizeof(parcel->fetch.token.bytes));
    struct cohort__process *process = arrival->process;
    let_go(arrival);
    if (parcel->is_refused)
        cohort__fetch_decline(process, parcel->fetch.rank, parcel->fetch.handle);
    else
        cohort__fetch_start(process, &parcel->fetch);
}

static void send_parcel(struct localities *localities, uint32_t index)
{
    struct parcel *parcel = &parcels[index];
    uint32_t source = index % NUM_LOCALITIES;
    uint32_t rank = (source + 1 + index / NUM_LOCALITIES % (NUM_LOCALITIES - 1)) % NUM_LOCALITIES;
    size_t bytes = cohort__random_below(&random_of, index % 4 ? BUDGET / 8 : MAX_BYTES);
    *parcel = (struct parcel){.send = {.envelope = {.kind = COHORT__KIND_DATA, .generation = index},
                                       .payload = from + index,
                                       .bytes = bytes,
                                       .done = on_sent},
                              .to = malloc(bytes + 1)};
    CHECK(parcel->to);
    cohort__send_start(localities->processes[source], rank, &parcel->send);
    if (cohort__random_below(&random_of, 2))
        localities_turn(localities);
    struct parcel *kept = &parcels[cohort__random_below(&random_of, index + 1)];
    if (kept->arrival)
        let_go(kept->arrival);
    kept->arrival = NULL;
}

static void check_parcel(struct parcel *parcel)
{
    bool was_announced = parcel->send.envelope.kind == COHORT__KIND_ANNOUNCE;
    if (parcel->arrival)
        let_go(parcel->arrival);
    CHECK_INT(parcel->num_arrived, 1);
    CHECK_INT(parcel->num_sent, 1);
    CHECK_INT(parcel->num_fetched, was_announced && !parcel->is_refused);
    free(parcel->to);
}

TEST(storm)
{
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char)(i * 31 ^ i >> 7);
    for (uint64_t seed = 0; seed <= NUM_SEEDS; seed++) {
        struct localities localities;
        random_of = cohort__random_seeded(seed);
        localities_open(&localities, seed, NUM_LOCALITIES, BUDGET);
        for (uint32_t rank = 0; rank < NUM_LOCALITIES; rank++)
            cohort__process_set_handlers(localities.processes[rank],
                                         &(struct cohort__process_handlers){.message = on_storm});
        for (uint32_t i = 0; i < NUM_PARCELS; i++)
            send_parcel(&localities, i);
        localities_settle(&localities);
        localities_check_quiet(&localities);
        for (uint32_t i = 0; i < NUM_PARCELS; i++)
            check_parcel(&parcels[i]);
        localities_settle(&localities); /* lets the credit arrive */
        localities_check_quiet(&localities);
        localities_close(&localities);
    }
}

/* Tiny messages to receivers that drain slowly. The number of messages by which a sender is ahead
 * is bounded. Both have full windows at the same time, and still everything arrives. ------------
 */

enum { NUM_TINY = 3000, SLOW_TURNS = 2000 };

static unsigned num_tiny_sent, num_tiny_arrived;

static void on_tiny_sent(struct cohort__send *send, cohort_status status)
{
    CHECK_OK(status);
    num_tiny_sent++;
}

static void on_tiny(void *context, struct cohort__arrival *arrival)
{
    num_tiny_arrived++;
    cohort__arrival_release(arrival);
}

static void send_tiny(struct localities *localities, uint32_t rank)
{
    static struct cohort__send sends[2][NUM_TINY];
    for (uint32_t i = 0; i < NUM_TINY; i++) {
        sends[rank][i] = (struct cohort__send){.envelope = {.kind = COHORT__KIND_DATA},
                                               .payload = from,
                                               .bytes = i % 2 * 8,
                                               .done = on_tiny_sent};
        cohort__send_start(localities->processes[rank], !rank, &sends[rank][i]);
    }
}

static uint64_t num_undrained(struct localities *localities, uint32_t rank)
{
    return cohort__process_traffic(localities->processes[rank]).sent -
           cohort__process_traffic(localities->processes[!rank]).received;
}

TEST(slow_receivers)
{
    const uint64_t window = cohort__send_window(2);
    for (uint64_t seed = 0; seed <= NUM_SEEDS; seed++) {
        struct localities localities;
        num_tiny_sent = 0;
        num_tiny_arrived = 0;
        localities_open(&localities, seed, 2, 0);
        for (uint32_t rank = 0; rank < 2; rank++) {
            cohort__process_set_handlers(localities.processes[rank],
                                         &(struct cohort__process_handlers){.message = on_tiny});
            send_tiny(&localities, rank);
        }
        for (int turns = 0; turns < SLOW_TURNS; turns++) { /* only this one, so that refusals end */
            struct cohort__poller *poller = &localities.nets[0]->poller;
            poller->progress(poller->context);
            CHECK(num_undrained(&localities, 0) <= window);
        }
        CHECK_INT(num_undrained(&localities, 0), window);
        while (num_tiny_arrived < 2 * NUM_TINY) {
            localities_turn(&localities);
            CHECK(num_undrained(&localities, 0) <= window);
            CHECK(num_undrained(&localities, 1) <= window);
        }
        localities_settle(&localities);
        CHECK_INT(num_tiny_sent, 2 * NUM_TINY);
        localities_check_quiet(&localities);
        localities_close(&localities);
    }
}

/* Both localities of a pair send from two threads. Each thread turns the transport of one of them.
 */

enum { NUM_EACH = 2000 };

static struct localities pair;
static _Atomic unsigned num_sent, num_taken;

static void on_pair_sent(struct cohort__send *send, cohort_status status)
{
    CHECK_OK(status);
    free(send);
    atomic_fetch_add(&num_sent, 1);
}

static void on_pair_fetched(struct cohort__fetch *fetch, cohort_status status)
{
    CHECK_OK(status);
    CHECK(memcmp(fetch->destination, from, fetch->bytes) == 0);
    free(fetch->destination);
    free(fetch);
    atomic_fetch_add(&num_taken, 1);
}

static void on_pair_message(void *context, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    if (envelope->kind == COHORT__KIND_ANNOUNCE) {
        struct cohort__fetch *fetch = test_malloc(sizeof(*fetch));
        *fetch = (struct cohort__fetch){.rank = envelope->source_locality,
                                        .handle = envelope->handle,
                                        .destination = malloc(envelope->total_bytes),
                                        .bytes = envelope->total_bytes,
                                        .done = on_pair_fetched};
        CHECK(fetch->destination);
        memcpy(fetch->token.bytes, arrival->data, sizeof(fetch->token.bytes));
        cohort__fetch_start(arrival->process, fetch);
    } else {
        CHECK(memcmp(arrival->data, from, envelope->payload_bytes) == 0);
        atomic_fetch_add(&num_taken, 1);
    }
    cohort__arrival_release(arrival);
}

static void *run_one(void *arg)
{
    uint32_t turned = *(uint32_t *)arg;
    struct cohort__poller *poller = &pair.nets[turned]->poller;
    for (uint32_t i = 0; i < NUM_EACH || atomic_load(&num_sent) < 2 * NUM_EACH ||
                         atomic_load(&num_taken) < 2 * NUM_EACH;
         i++) {
        if (i < NUM_EACH) {
            uint32_t rank = i / 3 % 2; /* not only from the locality that this thread turns */
            struct cohort__send *send = test_malloc(sizeof(*send));
            *send = (struct cohort__send){.envelope = {.kind = COHORT__KIND_DATA},
                                          .payload = from,
                                          .bytes = i * 7 % (i % 16 ? BUDGET / 8 : MAX_BYTES),
                                          .done = on_pair_sent};
            cohort__send_start(pair.processes[rank], 1 - rank, send);
        }
        poller->progress(poller->context);
    }
    return NULL;
}

TEST(threads)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        pthread_t threads[2];
        uint32_t ranks[2] = {0, 1};
        localities_open(&pair, seed, 2, BUDGET);
        num_sent = num_taken = 0;
        for (uint32_t rank = 0; rank < 2; rank++)
            cohort__process_set_handlers(pair.processes[rank], &(struct cohort__process_handlers){
                                                                   .message = on_pair_message});
        for (uint32_t rank = 0; rank < 2; rank++)
            threads[rank] = new_thread(run_one, &ranks[rank]);
        for (uint32_t rank = 0; rank < 2; rank++)
            end_thread(threads[rank]);
        localities_settle(&pair);
        localities_check_quiet(&pair);
        localities_close(&pair);
    }
}
