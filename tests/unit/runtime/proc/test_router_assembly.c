/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/router.h"

#include <string.h>

#include "runtime/base/random.h"
#include "runtime/proc/arrival.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"

enum { BUDGET = 5000, MOST = 600 };

static struct fake_net fake;
static unsigned char bytes_of_data[BUDGET];
static struct cohort__arrival *whole; /* the last DATA that has come, kept */
static unsigned num_whole;
static unsigned num_deaths;

static void on_message(void *context, struct cohort__arrival *arrival)
{
    CHECK_INT(arrival->envelope.kind, COHORT__KIND_DATA);
    CHECK_INT(arrival->envelope.total_bytes, 0);
    CHECK_INT(arrival->envelope.offset, 0);
    whole = cohort__arrival_keep(arrival);
    CHECK(whole);
    num_whole++;
}

static void on_peer_died(void *context, uint32_t rank)
{
    CHECK_INT(rank, 1);
    num_deaths++;
}

static void begin(void)
{
    for (size_t i = 0; i < sizeof(bytes_of_data); i++)
        bytes_of_data[i] = (unsigned char)(i % 251);
    fake_net_open(&fake, BUDGET);
    num_whole = num_deaths = 0;
    cohort__process_set_handlers(
        fake.process,
        &(struct cohort__process_handlers){.message = on_message, .peer_died = on_peer_died});
}

static void deliver(uint64_t handle, size_t total, size_t offset, size_t bytes)
{
    fake_net_deliver(&fake, 1,
                     (struct cohort__envelope){.kind = COHORT__KIND_FRAGMENT,
                                               .handle = handle,
                                               .tag = (uint32_t)handle + 1,
                                               .generation = handle + 2,
                                               .total_bytes = total,
                                               .offset = (uint32_t)offset},
                     bytes_of_data + offset, bytes);
}

static void check_whole(uint64_t handle, size_t bytes)
{
    CHECK_INT(whole->envelope.tag, handle + 1);
    CHECK_INT(whole->envelope.generation, handle + 2);
    CHECK_INT(whole->envelope.payload_bytes, bytes);
    CHECK(memcmp(whole->data, bytes_of_data, bytes) == 0);
    cohort__arrival_park(whole); /* has nothing to do */
    cohort__arrival_release(whole);
    whole = NULL;
}

TEST(order)
{
    begin();
    deliver(7, 1000, 0, 400);
    deliver(7, 1000, 800, 200);
    CHECK_INT(num_whole, 0);
    CHECK_INT(fake.num_messages, 0); /* the transport has its memory back */
    deliver(7, 1000, 400, 400);
    CHECK_INT(num_whole, 1);
    check_whole(7, 1000);
    fake_net_close(&fake);
}

/* Several at once, cut anywhere, in any order. */
TEST(random)
{
    enum { NUM = 3 };
    struct cohort__random random = cohort__random_seeded(5);
    begin();
    for (unsigned round = 0; round < 2000; round++) {
        struct fragment {
            uint64_t handle;
            size_t total, offset, bytes;
        } fragments[64];
        size_t num = 0;
        for (uint64_t k = 0; k < NUM; k++) {
            size_t total = 2 + cohort__random_below(&random, BUDGET / NUM - 2), offset = 0;
            while (offset < total) {
                size_t bytes = 80 + cohort__random_below(&random, MOST);
                bytes = bytes < total ? bytes : total - 1;
                bytes = bytes < total - offset ? bytes : total - offset;
                fragments[num++] = (struct fragment){round * NUM + k, total, offset, bytes};
                offset += bytes;
            }
        }
        unsigned before = num_whole;
        for (size_t i = 0; i < num; i++) {
            size_t k = i + cohort__random_below(&random, num - i);
            struct fragment fragment = fragments[k];
            fragments[k] = fragments[i];
            unsigned had = num_whole;
            deliver(fragment.handle, fragment.total, fragment.offset, fragment.bytes);
            if (num_whole > had)
                check_whole(fragment.handle, fragment.total);
        }
        CHECK_INT(num_whole - before, NUM);
    }
    CHECK_INT(num_deaths, 0);
    fake_net_close(&fake);
}

/* The whole gives its budget back, once. */
TEST(budget)
{
    begin();
    for (uint64_t handle = 1; handle <= 20; handle++) {
        deliver(handle, BUDGET, 0, 2000);
        deliver(handle, BUDGET, 2000, 2000);
        deliver(handle, BUDGET, 4000, 1000);
        size_t before = fake.num_sent;
        check_whole(handle, BUDGET);
        CHECK_INT(fake.num_sent, before + 1);
        const struct cohort__envelope *sent = &fake.sent[(fake.num_sent - 1) % FAKE_KEPT].envelope;
        CHECK_INT(sent->kind, COHORT__KIND_CREDIT);
        CHECK_INT(sent->credit, BUDGET);
    }
    CHECK_INT(num_deaths, 0);
    fake_net_close(&fake);
}

static void refuse(size_t total, size_t offset, size_t bytes, const char *why)
{
    deliver(9, total, offset, bytes);
    CHECK_INT(num_deaths, 1);
    CHECK_INT(num_whole, 0);
    CHECK(cohort__process_check_dead(fake.process, 1));
    CHECK_CONTAINS(cohort_error_message(), why);
    fake_net_close(&fake);
}

/* The sender is given up, and what has come is freed with it. */
TEST(refused)
{
    begin();
    deliver(8, 3000, 0, 1000);
    refuse(COHORT__ASSEMBLY_BYTES_MAX - 2999, 0, 1000, "more than 1048576 bytes");
    begin();
    deliver(8, 3000, 0, 1000); /* what just fits */
    deliver(7, COHORT__ASSEMBLY_BYTES_MAX - 3000, 0, 1000);
    CHECK_INT(num_deaths, 0);
    fake_net_close(&fake);
    begin();
    deliver(9, 3000, 0, 1000);
    refuse(3001, 1000, 1000, "don't fit together");
    begin();
    deliver(9, 3000, 0, 1999);
    refuse(3000, 0, 1999, "don't fit together"); /* twice */
}

/* What the envelope alone shows is dropped by the router. */
TEST(bad_envelope)
{
    begin();
    deliver(1, 1, 0, 1);      /* that is no fragment */
    deliver(1, 100, 0, 100);  /* nor is that */
    deliver(1, 100, 60, 50);  /* beyond the end */
    deliver(1, 100, 101, 10); /* behind the end */
    deliver(1, 100, 10, 0);
    CHECK_INT(cohort__process_dropped(fake.process), 5);
    CHECK_INT(num_whole + num_deaths, 0);
    fake_net_close(&fake);
}
