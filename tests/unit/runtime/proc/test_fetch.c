/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/proc/send.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"
#include "tests/unit/runtime/proc/localities.h"

/* A block that is fetched from RANK, and the result of the fetch. */
struct parcel {
    struct cohort__fetch fetch;
    struct parcel *stops; /* another fetch, which is stopped when this one has ended */
    int num_done;
    cohort_status status;
    char text[200];
};

static struct fake_net fake;
static unsigned char space[16 * FAKE_MAX_FETCH];

static void on_done(struct cohort__fetch *fetch, cohort_status status)
{
    struct parcel *parcel = COHORT_CONTAINER_OF(fetch, struct parcel, fetch);
    parcel->num_done++;
    parcel->status = status;
    snprintf(parcel->text, sizeof(parcel->text), "%s", status ? cohort_error_message() : "");
    if (parcel->stops)
        cohort__fetch_stop(&parcel->stops->fetch);
}

static void begin(struct parcel *parcel, uint32_t rank, uint64_t handle, size_t bytes)
{
    *parcel = (struct parcel){
        .fetch = {
            .rank = rank, .handle = handle, .destination = space, .bytes = bytes, .done = on_done}};
    cohort__fetch_start(fake.process, &parcel->fetch);
}

static void check_done(const struct parcel *parcel, cohort_status status, const char *text)
{
    CHECK_INT(parcel->num_done, 1);
    CHECK_INT(parcel->status, status);
    CHECK_CONTAINS(parcel->text, text);
}

/* Checks that message INDEX tells RANK that it owns HANDLE again. */
static void check_told(size_t index, uint32_t rank, uint64_t handle)
{
    CHECK(index < fake.num_sent);
    CHECK_INT(fake.sent[index].peer, rank);
    CHECK_INT(fake.sent[index].envelope.kind, COHORT__KIND_FETCHED);
    CHECK_INT(fake.sent[index].envelope.handle, handle);
}

/* Checks whether the message says that not all of the block was fetched. */
static void check_declined(size_t index, bool declined)
{
    CHECK_INT(fake.sent[index].envelope.tag, declined);
}

#define TEST_FAKE(name) TEST_BETWEEN(name, fake_net_open(&fake, 0), fake_net_close(&fake))

TEST_FAKE(pieces)
{
    struct parcel parcel;
    begin(&parcel, 1, 77, 6 * FAKE_MAX_FETCH + 1);
    CHECK_INT(fake.num_fetches, 4); /* no more at once */
    for (size_t i = 0; i < 7; i++) {
        CHECK_INT(fake.num_fetches, i + 4 < 7 ? i + 4 : 7);
        CHECK_INT(fake.fetches[i].offset, i * FAKE_MAX_FETCH);
        CHECK_INT(fake.fetches[i].bytes, i < 6 ? FAKE_MAX_FETCH : 1);
        CHECK(fake.fetches[i].destination == space + i * FAKE_MAX_FETCH);
        CHECK(parcel.num_done == 0 && fake.num_sent == 0);
        fake_net_fetched(&fake, i, COHORT_OK);
    }
    check_done(&parcel, COHORT_OK, "");
    CHECK_INT(fake.num_sent, 1);
    check_told(0, 1, 77);
    check_declined(0, false);
}

TEST_FAKE(again)
{
    struct parcel first, second;
    fake.accepts = 1;
    begin(&first, 1, 1, 3 * FAKE_MAX_FETCH);
    begin(&second, 1, 2, 1);
    CHECK_INT(fake.num_fetches, 1);
    fake_net_fetched(&fake, 0, COHORT_OK); /* retried in vain; it is in the queue only once */
    fake.accepts = 100;
    fake_net_writable(&fake, 2);
    CHECK_INT(fake.num_fetches, 1);
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_fetches, 4);
    for (size_t i = 1; i < 4; i++)
        fake_net_fetched(&fake, i, COHORT_OK);
    check_done(&first, COHORT_OK, "");
    check_done(&second, COHORT_OK, "");
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_fetches, 4);
}

TEST_FAKE(failed_piece)
{
    struct parcel parcel;
    begin(&parcel, 1, 5, 9 * FAKE_MAX_FETCH);
    cohort_fail(COHORT_ERR_NETWORK, "something else");
    fake_net_fetched(&fake, 2, COHORT_ERR_NETWORK);
    fake_net_fetched(&fake, 0, COHORT_OK);
    fake_net_fetched(&fake, 1, COHORT_ERR_PROTOCOL);
    CHECK_INT(parcel.num_done, 0); /* one piece may still be written to */
    fake_net_fetched(&fake, 3, COHORT_OK);
    check_done(&parcel, COHORT_ERR_NETWORK, "locality 1");
    CHECK_INT(fake.num_fetches, 4);
    check_told(0, 1, 5);
    check_declined(0, true);
}

TEST_FAKE(stop)
{
    struct parcel parcel;
    begin(&parcel, 1, 5, 9 * FAKE_MAX_FETCH); /* stopped in the middle */
    fake_net_fetched(&fake, 0, COHORT_OK);
    cohort__fetch_stop(&parcel.fetch);
    cohort__fetch_stop(&parcel.fetch);
    for (size_t i = 1; i < 5; i++) {
        CHECK(parcel.num_done == 0 && fake.num_sent == 0);
        fake_net_fetched(&fake, i, COHORT_OK);
    }
    check_done(&parcel, COHORT_ERR_CANCELLED, "");
    CHECK_INT(fake.num_fetches, 5);
    check_told(0, 1, 5);
    check_declined(0, true);

    begin(&parcel, 2, 6, 2 * FAKE_MAX_FETCH); /* all pieces are requested already */
    cohort__fetch_stop(&parcel.fetch);
    fake_net_fetched(&fake, 5, COHORT_OK);
    fake_net_fetched(&fake, 6, COHORT_OK);
    check_done(&parcel, COHORT_OK, "");
    check_told(1, 2, 6);
    check_declined(1, false);

    fake.accepts = 0;
    begin(&parcel, 1, 7, 1); /* nothing is requested yet */
    fake.accepts = 100;
    cohort__fetch_stop(&parcel.fetch);
    check_done(&parcel, COHORT_ERR_CANCELLED, "");
    check_told(2, 1, 7);
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_fetches, 7);
    cohort__fetch_decline(fake.process, 2, 8);
    check_told(3, 2, 8);
}

TEST_FAKE(death)
{
    struct parcel flying, waiting, other, late;
    begin(&flying, 1, 1, 5 * FAKE_MAX_FETCH);
    fake.accepts = 0;
    begin(&waiting, 1, 2, 1);
    begin(&other, 2, 3, 1);
    fake_net_fetched(&fake, 0, COHORT_OK); /* the next piece has to wait */
    cohort__process_peer_lost(fake.process, 1, "was killed by signal 9");
    check_done(&waiting, COHORT_ERR_PEER_DIED, "locality 1 was killed by signal 9");
    fake_net_fetched(&fake, 1, COHORT_OK);
    fake_net_fetched(&fake, 2, COHORT_ERR_NETWORK);
    CHECK_INT(flying.num_done, 0);
    fake_net_fetched(&fake, 3, COHORT_ERR_NETWORK);
    check_done(&flying, COHORT_ERR_PEER_DIED, "locality 1 was killed by signal 9");
    begin(&late, 1, 4, 1);
    check_done(&late, COHORT_ERR_PEER_DIED, "locality 1 was killed by signal 9");
    CHECK_INT(other.num_done, 0);
    CHECK_INT(fake.num_fetches, 4);
    fake.accepts = 100;
    fake_net_writable(&fake, 2);
    fake_net_fetched(&fake, 4, COHORT_OK);
    check_done(&other, COHORT_OK, "");
}

/* The only missing pieces are those that may already have been written to memory. They may still
 * succeed. */
TEST_FAKE(death_at_the_end)
{
    struct parcel whole, broken;
    begin(&whole, 1, 1, 2 * FAKE_MAX_FETCH);
    begin(&broken, 1, 2, 2 * FAKE_MAX_FETCH);
    cohort__process_peer_lost(fake.process, 1, "exited with status 0");
    fake_net_fetched(&fake, 0, COHORT_OK);
    fake_net_fetched(&fake, 1, COHORT_OK);
    fake_net_fetched(&fake, 2, COHORT_ERR_NETWORK);
    fake_net_fetched(&fake, 3, COHORT_OK);
    check_done(&whole, COHORT_OK, "");
    check_done(&broken, COHORT_ERR_PEER_DIED, "locality 1 exited with status 0");
}

/* The transport finds the death itself. */
TEST_FAKE(transport_says_dead)
{
    struct parcel parcel;
    fake.accepts = 2;
    fake.otherwise = COHORT__NET_DEAD;
    cohort_fail(COHORT_ERR_NETWORK, "something else");
    begin(&parcel, 1, 1, 3 * FAKE_MAX_FETCH);
    CHECK_INT(parcel.num_done, 0);
    fake_net_fetched(&fake, 0, COHORT_OK);
    fake_net_fetched(&fake, 1, COHORT_OK);
    check_done(&parcel, COHORT_ERR_PEER_DIED, "locality 1 can't be reached");
    CHECK(cohort__process_check_dead(fake.process, 1));
    fake_net_close(&fake);

    /* Also if it is not the message to the announcer that finds the death. */
    fake_net_open(&fake, 0);
    fake.accepts = 0;
    cohort__fetch_decline(fake.process, 1, 1);
    fake.otherwise = COHORT__NET_DEAD;
    cohort_fail(COHORT_ERR_NETWORK, "something else");
    begin(&parcel, 1, 2, 1);
    check_done(&parcel, COHORT_ERR_PEER_DIED, "locality 1 can't be reached");
}

/* The handler of the first fetch's end stops the others, as a failing operation does. */
TEST_FAKE(stop_when_another_ends)
{
    struct parcel parcels[3];
    fake.accepts = 0;
    for (size_t i = 0; i < 3; i++)
        begin(&parcels[i], 1, i, FAKE_MAX_FETCH);
    parcels[0].stops = &parcels[1];
    parcels[1].stops = &parcels[2];
    cohort__process_peer_lost(fake.process, 1, "was killed");
    for (size_t i = 0; i < 3; i++)
        check_done(&parcels[i], COHORT_ERR_PEER_DIED, "locality 1 was killed");
}

TEST_FAKE(stop_of_the_job)
{
    struct parcel waiting, flying;
    fake.accepts = 4;
    begin(&flying, 1, 1, 9 * FAKE_MAX_FETCH);
    begin(&waiting, 1, 2, 1);
    cohort__process_stop(fake.process);
    check_done(&waiting, COHORT_ERR_CANCELLED, "");
    for (size_t i = 0; i < 4; i++) /* as the transport does when it is destroyed */
        fake_net_fetched(&fake, i, COHORT_ERR_CANCELLED);
    check_done(&flying, COHORT_ERR_CANCELLED, "");
}

/* Announcing, fetching, and the end of both, between two localities ---------------------------- */

struct transfer {
    struct cohort__send send;
    struct parcel parcel;
    bool decline;
    int num_sent;
    cohort_status send_status;
};

static void on_sent(struct cohort__send *send, cohort_status status)
{
    struct transfer *transfer = COHORT_CONTAINER_OF(send, struct transfer, send);
    transfer->num_sent++;
    transfer->send_status = status;
}

static void on_announced(void *context, struct cohort__arrival *arrival)
{
    struct transfer *transfer = context;
    const struct cohort__envelope *envelope = &arrival->envelope;
    CHECK_INT(envelope->kind, COHORT__KIND_ANNOUNCE);
    struct cohort__fetch *fetch = &transfer->parcel.fetch;
    CHECK_INT(fetch->bytes, envelope->total_bytes);
    fetch->rank = envelope->source_locality;
    fetch->handle = envelope->handle;
    fetch->done = on_done;
    memcpy(fetch->token.bytes, arrival->data, sizeof(fetch->token.bytes));
    struct cohort__process *process = arrival->process;
    cohort__arrival_release(arrival);
    if (transfer->decline)
        cohort__fetch_decline(process, fetch->rank, fetch->handle);
    else
        cohort__fetch_start(process, fetch);
}

static void transfer_begin(struct localities *localities, struct transfer *transfer,
                           const void *from, void *to, size_t bytes)
{
    transfer->send = (struct cohort__send){
        .envelope = {.kind = COHORT__KIND_DATA}, .payload = from, .bytes = bytes, .done = on_sent};
    transfer->parcel.fetch.destination = to;
    transfer->parcel.fetch.bytes = bytes;
    cohort__process_set_handlers(localities->processes[1], &(struct cohort__process_handlers){
                                                               .context = transfer,
                                                               .message = on_announced,
                                                           });
    cohort__send_start(localities->processes[0], 1, &transfer->send);
}

enum { BLOCK_BYTES = (5 << 20) + 3 };
static unsigned char from[BLOCK_BYTES], to[BLOCK_BYTES];

TEST(transfer)
{
    struct localities localities;
    for (size_t i = 0; i < BLOCK_BYTES; i++)
        from[i] = (unsigned char)(i ^ i >> 8 ^ i >> 16);
    for (uint64_t seed = 0; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        size_t bytes = seed % 8 ? 1000 + seed : BLOCK_BYTES - seed;
        struct transfer transfer = {.decline = seed % 8 == 5};
        memset(to, 0, bytes);
        localities_open(&localities, seed, 2, 1000);
        transfer_begin(&localities, &transfer, from, to, bytes);
        localities_settle(&localities);
        CHECK(transfer.num_sent == 1 && transfer.send_status == COHORT_OK);
        CHECK_INT(transfer.parcel.num_done, !transfer.decline);
        CHECK_OK(transfer.parcel.status);
        CHECK(transfer.decline || memcmp(from, to, bytes) == 0);
        localities_check_quiet(&localities);
        localities_close(&localities);
    }
}

/* Either side may die after any number of turns. Both operations end, once each. */
TEST(transfer_and_death)
{
    struct localities localities;
    for (uint64_t seed = 0; seed <= test_rounds(NUM_SEEDS, FEW_SEEDS); seed++) {
        uint32_t victim = seed & 1;
        struct transfer transfer = {0};
        localities_open(&localities, seed, 3, 1000);
        transfer_begin(&localities, &transfer, from, to, BLOCK_BYTES);
        for (uint64_t turns = seed / 2; turns > 0; turns--)
            localities_turn(&localities);
        cohort__inproc_cut(localities.hub, victim);
        localities_settle(&localities);
        cohort__process_peer_lost(localities.processes[!victim], victim, "was killed");
        cohort__process_peer_lost(localities.processes[victim], !victim, "was killed");
        localities_settle(&localities);
        CHECK_INT(transfer.num_sent, 1);
        CHECK(!transfer.send_status || transfer.send_status == COHORT_ERR_PEER_DIED);
        CHECK(transfer.parcel.num_done == 1 || !transfer.parcel.fetch.process);
        CHECK(!transfer.parcel.status || transfer.parcel.status == COHORT_ERR_PEER_DIED);
        if (transfer.parcel.status)
            /* the locality that it fetches from */
            CHECK_CONTAINS(transfer.parcel.text, "locality 0");
        localities_close(&localities);
    }
}

/* A token that the owner does not know. */
TEST(bogus_token)
{
    struct localities localities;
    localities_open(&localities, 3, 2, 0);
    struct transfer transfer = {
        .parcel.fetch = {
            .rank = 0, .handle = 99, .destination = to, .bytes = BLOCK_BYTES, .done = on_done}};
    memset(transfer.parcel.fetch.token.bytes, 0xee, COHORT__NET_TOKEN_BYTES);
    cohort__fetch_start(localities.processes[1], &transfer.parcel.fetch);
    localities_settle(&localities);
    check_done(&transfer.parcel, COHORT_ERR_PROTOCOL, "locality 0");
    localities_check_quiet(&localities);
    localities_close(&localities);
}
