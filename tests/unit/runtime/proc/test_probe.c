/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/peer.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/proc/send.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"

static const uint64_t second = UINT64_C(1000000000);

static struct fake_net fake;

static void open_lossy(void)
{
    fake_net_open(&fake, 0);
    fake.may_lose = true;
}

static void send_byte(void)
{
    struct cohort__envelope envelope = {.kind = COHORT__KIND_DATA};
    CHECK(cohort__send_try(fake.process, 1, &envelope, "x", 1));
}

static bool is_question(const struct fake_sent *sent)
{
    return sent->envelope.kind == COHORT__KIND_CREDIT && sent->envelope.tag == 1;
}

/* Ticks ten times a second from START on. Returns the number of probes sent. */
static size_t tick_for(uint64_t start, unsigned seconds)
{
    size_t before = fake.num_sent;
    for (unsigned i = 0; i < seconds * 10; i++)
        cohort__process_tick(fake.process, start + i * (second / 10));
    for (size_t i = before; i < fake.num_sent; i++)
        CHECK(is_question(&fake.sent[i % FAKE_KEPT]));
    return fake.num_sent - before;
}

static void deliver_drained(uint32_t drained)
{
    fake_net_deliver(&fake, 1,
                     (struct cohort__envelope){.kind = COHORT__KIND_CREDIT, .drained = drained},
                     NULL, 0);
}

#define TEST_LOSSY(name) TEST_BETWEEN(name, open_lossy(), fake_net_close(&fake))

TEST_LOSSY(unconfirmed)
{
    uint64_t now = cohort__clock_now();
    CHECK_INT(tick_for(now, 10), 0); /* nothing was sent */
    send_byte();
    send_byte();
    CHECK_INT(tick_for(now + 10 * second, 1), 0);
    CHECK_INT(tick_for(now + 11 * second, 1), 1);
    CHECK_INT(fake.sent[2].envelope.number, 2); /* after the two messages */
    deliver_drained(1);
    CHECK_INT(tick_for(now + 12 * second, 3), 1);
    deliver_drained(1);
    CHECK_INT(tick_for(now + 15 * second, 500), 0); /* all is confirmed */
}

/* The probe may be lost, too. But a peer that is stopped for an hour does not get too many probes.
 */
TEST_LOSSY(repeated)
{
    uint64_t now = cohort__clock_now();
    send_byte();
    CHECK_INT(tick_for(now, 2), 1);
    CHECK_INT(tick_for(now + 2 * second, 62), 5); /* after 2, 4, 8, 16 and 32 s */
    size_t num = tick_for(now + 64 * second, 3600);
    CHECK(num >= 3600 / 65 && num <= 3600 / 63);
}

/* Regular messages serve as probes. */
TEST_LOSSY(busy)
{
    uint64_t now = cohort__clock_now();
    for (unsigned i = 0; i < 40; i++) {
        send_byte();
        cohort__process_tick(fake.process, now + i * (second / 2));
    }
    CHECK_INT(fake.num_sent, 40);
}

TEST(memory_loses_nothing)
{
    fake_net_open(&fake, 0);
    send_byte();
    CHECK_INT(tick_for(cohort__clock_now(), 100), 0);
    fake_net_close(&fake);
}

/* If the transport has no room, the probe is sent again later. If the peer is dead, it is not. */
TEST_LOSSY(refused)
{
    struct cohort__death death;
    uint64_t now = cohort__clock_now();
    send_byte();
    fake.accepts = 0;
    CHECK_INT(tick_for(now, 2), 0);
    fake.accepts = 1;
    CHECK_INT(tick_for(now + 2 * second, 2), 1);
    fake.otherwise = COHORT__NET_DEAD;
    CHECK(!cohort__process_death_of(fake.process, 1, &death));
    CHECK_INT(tick_for(now + 4 * second, 100), 0);
    CHECK(cohort__process_death_of(fake.process, 1, &death));
}

static void deliver_question(uint32_t number)
{
    unsigned char data[COHORT__ENVELOPE_BYTES];
    cohort__envelope_encode(&(struct cohort__envelope){.kind = COHORT__KIND_CREDIT,
                                                       .tag = 1,
                                                       .job_key = FAKE_JOB_KEY,
                                                       .epoch = FAKE_EPOCH,
                                                       .source_locality = 1,
                                                       .number = number},
                            data);
    fake_net_deliver_bytes(&fake, data, sizeof(data));
}

/* Each probe is answered, even if little or nothing was drained. The answer is numbered, too. */
TEST_LOSSY(answered)
{
    fake_net_deliver(&fake, 1, (struct cohort__envelope){.kind = COHORT__KIND_DATA}, "x", 1);
    CHECK_INT(fake.num_sent, 0);
    for (uint32_t i = 0; i < 2; i++) {
        deliver_question(1 + i);
        CHECK_INT(fake.num_sent, i + 1);
        CHECK_INT(fake.sent[i].envelope.kind, COHORT__KIND_CREDIT);
        CHECK_INT(fake.sent[i].envelope.tag, 0);
        CHECK_INT(fake.sent[i].envelope.number, i);
        CHECK_INT(fake.sent[i].envelope.drained, i == 0);
    }
    fake.accepts = 0; /* sent as soon as there is room */
    deliver_question(3);
    CHECK_INT(fake.num_sent, 2);
    fake.accepts = 1;
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_sent, 3);
    fake_net_writable(&fake, 1);
    CHECK_INT(fake.num_sent, 3);
}

TEST_LOSSY(loss_is_told)
{
    struct cohort__death death;
    deliver_question(1);
    uint64_t now = cohort__clock_now();
    for (int i = 1; i <= 9; i++) {
        cohort__process_tick(fake.process, now + i * second);
        CHECK(!cohort__process_death_of(fake.process, 1, &death));
    }
    for (int i = 10; i <= 11; i++)
        cohort__process_tick(fake.process, now + i * second);
    CHECK(cohort__process_death_of(fake.process, 1, &death));
    CHECK(strstr(death.why, "its message 0 to locality 0 was lost"));
}
