/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/letter.h"

#include <string.h>

#include "runtime/base/random.h"
#include "runtime/proc/registry.h"
#include "runtime/names/home.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"

/* The map of a creation with one site, as the home tells it to this locality, which waits for it.
 * When the registry gets the first valid letter, the join ends. */
enum { NUM_SEEDS = 20, MAX_PIECES = 64 };

static struct fake_net fake;
static struct cohort__join join;
static unsigned num_done;
static cohort_status last_status;
static unsigned char settings[COHORT__SETTINGS_BYTES_MAX];
static struct cohort__packer letter;

static void on_done(struct cohort__join *done, cohort_status status,
                    struct cohort__membership *membership)
{
    CHECK(done == &join);
    num_done++;
    last_status = status;
    if (status)
        return;
    CHECK_INT(membership->settings_bytes, sizeof(settings));
    CHECK(memcmp(membership->settings, settings, sizeof(settings)) == 0);
    cohort__membership_unref(membership);
}

static void begin(void)
{
    fake_net_open(&fake, 0);
    num_done = 0;
    /* Its hash gives another locality as home. Otherwise it would be alive at once. */
    join = (struct cohort__join){
        .name = "letters", .num_sites = 1, .terms = "", .settings_bytes = 0, .done = on_done};
    cohort__registry_join(cohort__process_registry(fake.process), &join);
    CHECK_INT(num_done, 0);
    fake.num_sent = 0;
    for (size_t i = 0; i < sizeof(settings); i++)
        settings[i] = (unsigned char)(i % 251);
    letter = (struct cohort__packer){0};
    cohort__pack_map(&letter, 8);
    cohort__pack_field_unsigned(&letter, "type", COHORT__REGISTRY_MAP);
    cohort__pack_field_unsigned(&letter, "value", 0);
    cohort__pack_field_bytes(&letter, "name", join.name, strlen(join.name));
    cohort__pack_field_unsigned(&letter, "instance", 5);
    cohort__pack_field_unsigned(&letter, "num_sites", 1);
    cohort__pack_field_bytes(&letter, "settings", settings, sizeof(settings));
    cohort__pack_field_unsigned(&letter, "number", 7);
    cohort__pack_text(&letter, "runs");
    cohort__pack_array(&letter, 3);
    cohort__pack_unsigned(&letter, 1);
    cohort__pack_unsigned(&letter, 1);
    cohort__pack_unsigned(&letter, 0);
    CHECK_OK(letter.status);
}

static void end(void)
{
    fake_net_close(&fake);
    cohort__packer_fini(&letter);
}

static void deliver(uint32_t source, uint64_t number, uint64_t total, uint64_t from, size_t bytes)
{
    fake_net_deliver(&fake, source,
                     (struct cohort__envelope){.kind = COHORT__KIND_REGISTRY,
                                               .handle = number,
                                               .tag = (uint32_t)total,
                                               .generation = from},
                     letter.data + (from < letter.bytes ? from : 0), bytes);
}

/* As few pieces as possible, and each no longer than the transport can send. */
TEST(cut)
{
    static unsigned char text[3 * FAKE_MAX_PAYLOAD + 1];
    static const size_t sizes[] = {1,
                                   FAKE_MAX_PAYLOAD - 1,
                                   FAKE_MAX_PAYLOAD,
                                   FAKE_MAX_PAYLOAD + 1,
                                   3 * FAKE_MAX_PAYLOAD,
                                   3 * FAKE_MAX_PAYLOAD + 1};
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (unsigned char)(i % 251);
    begin();
    for (size_t s = 0; s < NUM_OF(sizes); s++) {
        fake.num_sent = 0;
        cohort__letter_send(fake.process, 2, text, sizes[s]);
        CHECK_INT(fake.num_sent, (sizes[s] + FAKE_MAX_PAYLOAD - 1) / FAKE_MAX_PAYLOAD);
        size_t next = 0;
        for (size_t i = 0; i < fake.num_sent; i++) {
            const struct cohort__envelope *envelope = &fake.sent[i].envelope;
            CHECK_INT(fake.sent[i].peer, 2);
            CHECK_INT(envelope->kind, COHORT__KIND_REGISTRY);
            CHECK_INT(envelope->handle, fake.sent[0].envelope.handle);
            CHECK_INT(envelope->tag, sizes[s]);
            CHECK_INT(envelope->generation, next);
            CHECK(fake.sent[i].payload[0] == text[next]);
            next += envelope->payload_bytes;
        }
        CHECK_INT(next, sizes[s]);
    }
    CHECK_INT(fake.sent[0].envelope.handle, NUM_OF(sizes) - 1); /* from 0 */
    fake.num_sent = 0;
    cohort__letter_send(fake.process, 1, text, 1);
    CHECK_INT(fake.sent[0].envelope.handle, 1); /* to that locality only the join was before it */
    end();
}

#define TEST_LETTER(name) TEST_BETWEEN(name, begin(), end())

TEST_LETTER(whole)
{
    deliver(1, 0, letter.bytes, 0, letter.bytes);
    CHECK_INT(num_done, 1);
}

/* Pieces arrive in any order, mixed with those of another letter and of another locality. */
TEST(pieces)
{
    for (uint64_t seed = 1; seed <= NUM_SEEDS; seed++) {
        size_t order[MAX_PIECES], num = 0;
        struct cohort__random random = cohort__random_seeded(seed);
        begin();
        size_t piece = 1 + letter.bytes / (2 + cohort__random_below(&random, MAX_PIECES - 2));
        for (size_t from = 0; from < letter.bytes; from += piece)
            order[num++] = from;
        for (size_t i = num; i > 1; i--) {
            size_t other = cohort__random_below(&random, i), kept = order[i - 1];
            order[i - 1] = order[other];
            order[other] = kept;
        }
        for (size_t i = 0; i < num; i++) {
            size_t rest = letter.bytes - order[i];
            CHECK_INT(num_done, 0);
            if (i > 0) { /* these letters are never complete */
                deliver(1, 1, letter.bytes, order[i], 1);
                deliver(2, 0, letter.bytes, order[i], rest < piece ? rest : piece);
            }
            deliver(1, 0, letter.bytes, order[i], rest < piece ? rest : piece);
        }
        CHECK_INT(num_done, 1);
        end();
    }
}

static void deliver_text(uint64_t number, const struct cohort__packer *text)
{
    fake_net_deliver(&fake, 1,
                     (struct cohort__envelope){.kind = COHORT__KIND_REGISTRY,
                                               .handle = number,
                                               .tag = (uint32_t)text->bytes},
                     text->data, text->bytes);
}

/* Whole letters wait for those before them. Those of another locality do not. */
TEST_LETTER(order)
{
    struct cohort__packer refusal = {0};
    cohort__pack_map(&refusal, 5);
    cohort__pack_field_unsigned(&refusal, "type", COHORT__REGISTRY_REFUSE);
    cohort__pack_field_bytes(&refusal, "name", join.name, strlen(join.name));
    cohort__pack_field_unsigned(&refusal, "site", 0);
    cohort__pack_field_signed(&refusal, "status", COHORT_ERR_MISMATCH);
    cohort__pack_field_bytes(&refusal, "text", "later", 5);
    CHECK_OK(refusal.status);
    deliver_text(3, &refusal);
    deliver_text(2, &refusal);
    deliver(1, 1, letter.bytes, 100, letter.bytes - 100);
    deliver(1, 0, letter.bytes, 100, letter.bytes - 100);
    deliver(1, 1, letter.bytes, 0, 100);
    CHECK_INT(num_done, 0);
    deliver(1, 0, letter.bytes, 0, 100); /* the first one ends the join */
    CHECK_INT(num_done, 1);
    CHECK_OK(last_status);
    cohort__registry_join(cohort__process_registry(fake.process), &join);
    CHECK_INT(num_done, 1); /* nothing was left for that one */
    deliver_text(4, &refusal);
    CHECK_INT(num_done, 2);
    CHECK_INT(last_status, COHORT_ERR_MISMATCH);
    cohort__packer_fini(&refusal);
}

/* The home here. Locality 1 has joined two names, and site 0 of each is here. */
static struct cohort__join own[2];
static const char *const own_names[2] = {"first\0child", "later\0child"};

static void join_own(uint32_t i, void (*done)(struct cohort__join *join, cohort_status status,
                                              struct cohort__membership *membership))
{
    own[i] = (struct cohort__join){.name = own_names[i],
                                   .name_bytes = 11,
                                   .home = 0,
                                   .num_sites = 2,
                                   .terms = "",
                                   .done = done};
    cohort__registry_join(cohort__process_registry(fake.process), &own[i]);
}

static void on_own(struct cohort__join *done, cohort_status status,
                   struct cohort__membership *membership)
{
    CHECK_OK(status);
    num_done++;
    if (done == &own[0])
        join_own(1, on_own); /* locality 1 has not been told of the first one yet */
    cohort__membership_unref(membership);
}

static void deliver_join(uint64_t number, const char *name)
{
    struct cohort__packer text = {0};
    cohort__pack_map(&text, 14);
    cohort__pack_field_unsigned(&text, "type", COHORT__REGISTRY_JOIN);
    cohort__pack_field_unsigned(&text, "sequence", 0);
    cohort__pack_field_bytes(&text, "name", name, 11);
    cohort__pack_field_unsigned(&text, "site", 1);
    cohort__pack_field_unsigned(&text, "num_sites", 2);
    cohort__pack_field_bytes(&text, "terms", "", 0);
    cohort__pack_field_bytes(&text, "settings", "", 0);
    cohort__pack_field_unsigned(&text, "instance", 0);
    cohort__pack_field_signed(&text, "failed", 0);
    cohort__pack_field_unsigned(&text, "view", 0);
    cohort__pack_field_bool(&text, "agrees", false);
    cohort__pack_field_unsigned(&text, "value", 0);
    cohort__pack_field_unsigned(&text, "of", 0);
    cohort__pack_field_bytes(&text, "of_name", "", 0);
    CHECK_OK(text.status);
    deliver_text(number, &text);
    cohort__packer_fini(&text);
}

/* A locality is told of the instances of a home in the order in which they were made, though the
 * second one is made while the first one is being told. */
TEST_LETTER(order_of_home)
{
    deliver_join(0, own_names[0]);
    deliver_join(1, own_names[1]);
    CHECK_INT(fake.num_sent, 0);
    join_own(0, on_own);
    CHECK_INT(num_done, 2);
    CHECK_INT(fake.num_sent, 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(fake.sent[i].peer, 1);
        CHECK(memmem(fake.sent[i].payload, sizeof(fake.sent[i].payload), own_names[i], 11));
    }
    CHECK(fake.sent[0].envelope.handle < fake.sent[1].envelope.handle);
}

/* A malformed letter is lost. It may be the one that the join waits for, so the join ends with the
 * reason. Nothing is written outside the letter's memory. */
TEST(malformed)
{
    static const struct {
        uint64_t number, total, from;
        size_t bytes;
    } wrong[] = {
        {2, 100, 100, 1},        /* behind the end */
        {2, 100, UINT64_MAX, 1}, /* far behind it */
        {2, 100, 99, 2},         /* across the end */
        {2, 0, 0, 1},            /* of no bytes */
        {2, UINT32_MAX, 0, 1},   /* too long */
        {1, 50, 0, 10},          /* another length than in the piece before */
        {1, 0, 0, 0},            /* more than is missing */
        {0, 100, 0, 1},          /* a second time */
    };
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        begin();
        struct cohort__packer first = {0};
        cohort__pack_map(&first, 2); /* of no interest */
        cohort__pack_field_unsigned(&first, "type", COHORT__REGISTRY_END);
        cohort__pack_field_unsigned(&first, "instance", 1);
        deliver_text(0, &first);
        deliver(1, 1, letter.bytes, 0, 100); /* a valid piece */
        CHECK_INT(num_done, 0);
        if (wrong[i].bytes > 0)
            deliver(1, wrong[i].number, wrong[i].total, wrong[i].from, wrong[i].bytes);
        else
            deliver(1, 1, letter.bytes, 0, letter.bytes - 1);
        CHECK_INT(num_done, 1);
        CHECK_INT(last_status, COHORT_ERR_PEER_DIED);
        cohort__packer_fini(&first);
        end();
    }
}

TEST_LETTER(too_long)
{
    cohort__letter_send(fake.process, 1, letter.data, (size_t)COHORT__LETTER_BYTES_MAX + 1);
    CHECK_INT(fake.num_sent, 0);
    CHECK(cohort__process_check_dead(fake.process, 1));
    CHECK_CONTAINS(cohort_error_message(), "locality 1 can't be told: a letter of 268435457 bytes");
}
