/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/message.h"

#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/proc/process.h"
#include "runtime/wire/pack.h"
#include "tests/support/test.h"

/* A transport that only counts what is released and what is sent. */
static struct {
    struct cohort__net net;
    int num_released;
    int num_sent;
    struct cohort__envelope last;
    unsigned char data[512];
    struct cohort__net_message message;
} wire;

static void release(struct cohort__net *net, struct cohort__net_message *message)
{
    CHECK(net == &wire.net && message == &wire.message);
    wire.num_released++;
}

static enum cohort__net_sent take(struct cohort__net *net, uint32_t peer, const struct iovec *parts,
                                  int num_parts)
{
    CHECK_INT(peer, 1);
    size_t bytes = parts[0].iov_len + (num_parts > 1 ? parts[1].iov_len : 0);
    CHECK_OK(cohort__envelope_decode(parts[0].iov_base, bytes, &wire.last));
    wire.num_sent++;
    return COHORT__NET_SENT;
}

static const struct cohort__net_operations operations = {.send = take, .release = release};

static struct cohort__process *process_open(void)
{
    struct cohort__process *process;
    struct cohort__process_options options = {.size = 2, .job_key = 1, .epoch = 1};
    CHECK_OK(cohort__process_create(&process, &options));
    memset(&wire, 0, sizeof(wire));
    wire.net.operations = &operations;
    wire.net.max_message = 4096;
    cohort__process_attach_net(process, &wire.net);
    return process;
}

static void process_close(struct cohort__process *process)
{
    cohort__process_stop(process);
    cohort__process_destroy(process);
}

/* Makes an arrival as the router does. */
static struct cohort__arrival *arrive(struct cohort__process *process,
                                      struct cohort__envelope envelope, const void *payload,
                                      size_t bytes)
{
    envelope.source_locality = 1;
    envelope.payload_bytes = (uint32_t)bytes;
    memcpy(wire.data, payload, bytes);
    wire.message = (struct cohort__net_message){
        .net = &wire.net, .data = wire.data, .bytes = bytes, .capacity = sizeof(wire.data)};
    struct cohort__arrival *arrival = cohort__slab_alloc(sizeof(*arrival));
    CHECK(arrival);
    *arrival = (struct cohort__arrival){.process = process,
                                        .envelope = envelope,
                                        .data = wire.data,
                                        .message = &wire.message,
                                        .is_kept = true};
    return arrival;
}

static const unsigned char payload[] = {1, 2, 3, 4, 5, 6, 7, 8};

TEST(inline)
{
    struct cohort__message *message =
        cohort__message_create(COHORT__KIND_DATA, 3, 7, 0xf00, cohort__message_tag(2, 9));
    CHECK(message);
    CHECK_INT(message->kind, COHORT__KIND_DATA);
    CHECK_INT(message->source_site, 3);
    CHECK_INT(message->generation, 7);
    CHECK_INT(message->fingerprint, 0xf00);
    CHECK_INT(message->tag >> COHORT__TAG_BITS, 2);
    CHECK_INT(message->tag & ((1u << COHORT__TAG_BITS) - 1), 9);
    CHECK_INT(message->bytes, 0);
    CHECK(!message->arrival && !message->loan && !message->taken_up);
    CHECK_OK(message->error.status);
    cohort__message_release(message);
    cohort__message_release(NULL);
}

/* The owner of a loan: an actor whose turn counts the loans that come back. */
static int num_returned;

static void on_returned(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__loan *loan = COHORT_CONTAINER_OF(item, struct cohort__loan, returned);
    CHECK(loan->owner == actor);
    num_returned++;
}

TEST(loan)
{
    struct cohort__actor owner;
    cohort__actor_init(&owner);
    struct cohort__loan loan = {.owner = &owner, .returned.run = on_returned};
    struct cohort__message *message = cohort__message_create(COHORT__KIND_DATA, 0, 1, 0, 0);
    CHECK(message);
    message->loan = &loan;
    num_returned = 0;
    cohort__message_release(message);
    CHECK_INT(num_returned, 1);
    CHECK(cohort__actor_is_idle(&owner));
}

#define TEST_PROCESS(name)                                                                         \
    TEST_WITH(name, struct cohort__process *, process, process_open(), process_close(process))

TEST_PROCESS(arrival)
{
    struct cohort__message *message = cohort__message_from_arrival(
        arrive(process,
               (struct cohort__envelope){.kind = COHORT__KIND_DATA,
                                         .generation = 4,
                                         .source_site = 2,
                                         .fingerprint = 99,
                                         .tag = cohort__message_tag(1, 5)},
               payload, sizeof(payload)));
    CHECK(message);
    CHECK_INT(message->kind, COHORT__KIND_DATA);
    CHECK_INT(message->generation, 4);
    CHECK_INT(message->source_site, 2);
    CHECK_INT(message->fingerprint, 99);
    CHECK_INT(message->bytes, sizeof(payload));
    CHECK(memcmp(message->arrival->data, payload, sizeof(payload)) == 0);
    CHECK_INT(wire.num_released, 0);
    cohort__message_release(message);
    CHECK_INT(wire.num_released, 1);
    CHECK_INT(wire.num_sent, 0);
}

/* Parking a message copies the data out of the transport's memory. That memory is released then,
 * and not before. */
TEST_PROCESS(parked_arrival)
{
    struct cohort__message *message = cohort__message_from_arrival(arrive(
        process, (struct cohort__envelope){.kind = COHORT__KIND_DATA}, payload, sizeof(payload)));
    CHECK(message);
    cohort__arrival_park(message->arrival);
    CHECK_INT(wire.num_released, 1);
    memset(wire.data, 0, sizeof(wire.data));
    CHECK(memcmp(message->arrival->data, payload, sizeof(payload)) == 0);
    cohort__arrival_park(message->arrival);
    cohort__message_release(message);
    CHECK_INT(wire.num_released, 1);
}

/* An announcement that is not accepted is declined once. One that is accepted is not declined. */
TEST_PROCESS(announcement)
{
    static const unsigned char token[COHORT__NET_TOKEN_BYTES];
    for (int taken_up = 0; taken_up < 2; taken_up++) {
        struct cohort__message *message = cohort__message_from_arrival(
            arrive(process,
                   (struct cohort__envelope){
                       .kind = COHORT__KIND_ANNOUNCE, .total_bytes = 1 << 20, .handle = 17},
                   token, sizeof(token)));
        CHECK(message);
        CHECK_INT(message->bytes, 1 << 20);
        message->taken_up = taken_up;
        cohort__message_release(message);
        CHECK_INT(wire.num_released, 1 + taken_up);
        CHECK_INT(wire.num_sent, 1);
        CHECK_INT(wire.last.kind, COHORT__KIND_FETCHED);
        CHECK_INT(wire.last.handle, 17);
    }
}

static struct cohort__message *error_of(struct cohort__process *process, int64_t status,
                                        const char *text)
{
    struct cohort__packer packer = {0};
    cohort__pack_map(&packer, 2);
    cohort__pack_field_signed(&packer, "status", status);
    cohort__pack_field_text(&packer, "text", text);
    CHECK_OK(packer.status);
    struct cohort__message *message = cohort__message_from_arrival(arrive(
        process, (struct cohort__envelope){.kind = COHORT__KIND_ERROR}, packer.data, packer.bytes));
    cohort__packer_fini(&packer);
    return message;
}

TEST_PROCESS(error)
{
    struct cohort__message *message = error_of(process, COHORT_ERR_MISMATCH, "site 3 did it");
    CHECK(message);
    CHECK_INT(message->error.status, COHORT_ERR_MISMATCH);
    CHECK_TEXT(cohort__error_message(&message->error), "site 3 did it");
    cohort__message_release(message);
    CHECK_INT(wire.num_released, 1);
}

/* A nonsensical error message is refused, and nothing of it is kept. */
TEST_PROCESS(wrong_errors)
{
    CHECK(!error_of(process, COHORT_OK, "fine"));
    CHECK_CONTAINS(cohort_error_message(), "status 0");
    CHECK(!error_of(process, 5, "positive"));
    CHECK(!error_of(process, INT64_MIN, "unknown"));
    CHECK(!cohort__message_from_arrival(arrive(
        process, (struct cohort__envelope){.kind = COHORT__KIND_ERROR}, payload, sizeof(payload))));
    CHECK_INT(wire.num_released, 4);
}

/* As somebody sends it who has no memory for its words. */
TEST_PROCESS(error_without_words)
{
    struct cohort__message *message = cohort__message_from_arrival(arrive(
        process, (struct cohort__envelope){.kind = COHORT__KIND_ERROR, .source_site = 3}, "", 0));
    CHECK(message);
    CHECK_INT(message->error.status, COHORT_ERR_NO_MEMORY);
    CHECK_TEXT(cohort__error_message(&message->error),
               "site 3 tells of an error, and has no memory for its words");
    cohort__message_release(message);
}

TEST_PROCESS(answer)
{
    struct cohort__message *message = cohort__message_from_arrival(
        arrive(process,
               (struct cohort__envelope){
                   .kind = COHORT__KIND_ANSWER, .tag = COHORT__ANSWER_MOVED_PAST, .handle = 12},
               "", 0));
    CHECK(message);
    CHECK_INT(message->tag, COHORT__ANSWER_MOVED_PAST);
    CHECK_INT(message->last_called, 12);
    CHECK_OK(message->error.status);
    cohort__message_release(message);
    CHECK_INT(wire.num_released, 1);
}

/* A site's answer that it is through counts only when everything has arrived that it sent before.
 */
TEST_PROCESS(answer_overtakes)
{
    for (int ahead = 0; ahead < 2; ahead++) {
        struct cohort__arrival *arrival = arrive(
            process,
            (struct cohort__envelope){.kind = COHORT__KIND_ANSWER, .tag = COHORT__ANSWER_COMPLETED},
            "", 0);
        arrival->is_ahead = ahead;
        struct cohort__message *message = cohort__message_from_arrival(arrival);
        CHECK(message);
        CHECK_INT(message->tag, ahead ? COHORT__ANSWER_IN_FLIGHT : COHORT__ANSWER_COMPLETED);
        cohort__message_release(message);
    }
}
