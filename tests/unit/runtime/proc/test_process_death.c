/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/process.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"

static struct fake_net fake;

static void tell(uint32_t rank, uint32_t order, const char *why)
{
    struct cohort__death death = {.rank = rank, .order = order};
    snprintf(death.why, sizeof(death.why), "%s", why);
    cohort__process_death_told(fake.process, &death);
}

static void check_first(const char *text)
{
    CHECK(cohort__process_is_broken(fake.process));
    CHECK_TEXT(cohort_error_message(), text);
}

#define TEST_FAKE(name) TEST_BETWEEN(name, fake_net_open(&fake, 0), fake_net_close(&fake))
#define TEST_LAUNCHED(name) TEST_BETWEEN(name, open_launched(), fake_net_close(&fake))

/* The result does not depend on which report comes first. */
TEST_FAKE(order)
{
    CHECK(!cohort__process_is_broken(fake.process));
    tell(1, 2, "exited with status 1");
    check_first("locality 1 exited with status 1");
    tell(2, 1, "was killed");
    check_first("locality 2 was killed");
    CHECK(cohort__process_check_dead(fake.process, 1));
    CHECK_TEXT(cohort_error_message(), "locality 1 exited with status 1");
}

/* The last words of a locality that has died of another one's death name that one at their end. */
TEST(long_reason)
{
    char why[400];
    memset(why, 'x', sizeof(why));
    memcpy(why, "was killed: ", 12);
    snprintf(why + 300, sizeof(why) - 300, ": locality 1 was killed by signal 9");
    fake_net_open(&fake, 0);
    cohort__process_peer_lost(fake.process, 2, why);
    CHECK(cohort__process_is_broken(fake.process));
    CHECK(strncmp(cohort_error_message(), "locality 2 was killed: xxx", 26) == 0);
    CHECK_CONTAINS(cohort_error_message(), "xxx ... xxx");
    CHECK_TEXT(strrchr(cohort_error_message(), 'x'), "x: locality 1 was killed by signal 9");
    fake_net_close(&fake);
}

/* Deaths that were only noticed come after those that were reported, in their own order. */
TEST_FAKE(noticed)
{
    cohort__process_peer_lost(fake.process, 2, "can't be reached");
    cohort__process_peer_lost(fake.process, 1, "can't be reached");
    check_first("locality 2 can't be reached");
    tell(1, 1, "was killed");
    check_first("locality 1 was killed");
    tell(2, 2, "exited with status 1");
    cohort__process_peer_lost(fake.process, 2, "can't be reached");
    CHECK(cohort__process_check_dead(fake.process, 2));
    CHECK_TEXT(cohort_error_message(), "locality 2 exited with status 1");
}

TEST_FAKE(nobody)
{
    tell(0, 1, "was me");
    tell(FAKE_SIZE, 1, "was nobody");
    CHECK(!cohort__process_any_dead(fake.process));
}

static char accused[200];

static void on_accused(void *context, uint32_t rank, bool at_fault, const char *why)
{
    size_t used = strlen(accused);
    snprintf(accused + used, sizeof(accused) - used, "%u %s%s; ", rank,
             at_fault ? "is at fault: " : "", why);
}

static void open_launched(void)
{
    accused[0] = '\0';
    fake_net_open_launched(&fake, on_accused, NULL, NULL);
}

struct parcel {
    struct cohort__fetch fetch;
    struct cohort__send send;
    int num_fetched, num_sent;
    cohort_status fetch_status, send_status;
    char text[200];
};

static void on_fetched(struct cohort__fetch *fetch, cohort_status status)
{
    struct parcel *parcel = COHORT_CONTAINER_OF(fetch, struct parcel, fetch);
    parcel->num_fetched++;
    parcel->fetch_status = status;
    snprintf(parcel->text, sizeof(parcel->text), "%s", cohort_error_message());
}

static void on_sent(struct cohort__send *send, cohort_status status)
{
    struct parcel *parcel = COHORT_CONTAINER_OF(send, struct parcel, send);
    parcel->num_sent++;
    parcel->send_status = status;
}

/* A message to and a fetch from locality 1. The transport says that it can't be reached. Neither
 * ends yet. */
static void begin(struct parcel *parcel)
{
    static char byte;
    *parcel = (struct parcel){
        .fetch = {.rank = 1, .handle = 1, .destination = &byte, .bytes = 1, .done = on_fetched},
        .send = {.envelope = {.kind = COHORT__KIND_DATA},
                 .payload = &byte,
                 .bytes = 1,
                 .done = on_sent}};
    open_launched();
    fake.accepts = 0;
    fake.otherwise = COHORT__NET_DEAD;
    cohort__fetch_start(fake.process, &parcel->fetch);
    cohort__send_start(fake.process, 1, &parcel->send);
    CHECK_INT(parcel->num_fetched + parcel->num_sent, 0);
    CHECK(!cohort__process_any_dead(fake.process));
}

static void check_ended(const struct parcel *parcel, const char *text)
{
    CHECK(parcel->num_fetched == 1 && parcel->num_sent == 1);
    CHECK_INT(parcel->fetch_status, COHORT_ERR_PEER_DIED);
    CHECK_INT(parcel->send_status, COHORT_ERR_PEER_DIED);
    CHECK_TEXT(parcel->text, text);
    fake_net_close(&fake);
}

/* The launcher reports the reason of the death, and which other death caused it. */
TEST(lost_then_told)
{
    struct parcel parcel;
    begin(&parcel);
    tell(2, 1, "was killed");
    CHECK_INT(parcel.num_fetched + parcel.num_sent, 0);
    tell(1, 2, "exited with status 1");
    check_first("locality 2 was killed");
    check_ended(&parcel, "locality 1 exited with status 1");
}

/* Operations that end for another reason need not wait for the report. Neither does the end of the
 * job. */
TEST(lost_and_stopped)
{
    struct parcel parcel;
    begin(&parcel);
    cohort__fetch_stop(&parcel.fetch);
    CHECK_INT(parcel.num_fetched, 1);
    CHECK_INT(parcel.fetch_status, COHORT_ERR_CANCELLED);
    fake_net_close(&fake);
    CHECK_INT(parcel.send_status, COHORT_ERR_CANCELLED);
    begin(&parcel);
    fake_net_close(&fake);
    CHECK(parcel.num_fetched == 1 && parcel.num_sent == 1);
    CHECK_INT(parcel.fetch_status, COHORT_ERR_CANCELLED);
}

/* A letter that says that something no longer exists also says why. */
TEST(letter)
{
    struct cohort__death death = {.rank = 2, .order = 1, .why = "was killed"};
    struct cohort__packer packer = {0};
    const struct cohort__envelope declined = {.kind = COHORT__KIND_FETCHED, .handle = 5, .tag = 1};
    cohort__death_pack(&packer, &death);
    fake_net_open(&fake, 0);
    fake_net_deliver(&fake, 1, declined, "nonsense", 8);
    fake_net_deliver(&fake, 1, declined, NULL, 0);
    CHECK(!cohort__process_any_dead(fake.process));
    fake_net_deliver(&fake, 1, declined, packer.data, packer.bytes);
    check_first("locality 2 was killed");
    cohort__fetch_decline(fake.process, 1, 6);
    CHECK_INT(fake.num_sent, 1);
    CHECK_INT(fake.sent[0].envelope.payload_bytes, packer.bytes);
    CHECK(memcmp(fake.sent[0].payload, packer.data, packer.bytes) == 0);
    cohort__packer_fini(&packer);
    fake_net_close(&fake);
}

/* Who can't be reached is accused once, and is not dead before the launcher says so. */
TEST(accused)
{
    static char byte;
    struct parcel parcel = {.send = {.envelope = {.kind = COHORT__KIND_DATA},
                                     .payload = &byte,
                                     .bytes = 1,
                                     .done = on_sent}};
    open_launched();
    fake.accepts = 0;
    fake.otherwise = COHORT__NET_DEAD;
    cohort__send_start(fake.process, 1, &parcel.send);
    cohort__process_peer_lost(fake.process, 1, "was given up");
    cohort__process_tick(fake.process, cohort__clock_now() + 3600000000000); /* an hour */
    CHECK_TEXT(accused, "1 can't be reached; ");
    CHECK(!cohort__process_any_dead(fake.process));
    CHECK_INT(parcel.num_sent, 0);
    tell(1, 1, "was killed");
    CHECK_INT(parcel.send_status, COHORT_ERR_PEER_DIED);
    cohort__process_peer_lost(fake.process, 1, "was given up");
    CHECK_TEXT(accused, "1 can't be reached; ");
    fake_net_close(&fake);
}

/* The fault counts, also of one that could not be reached before. Each of these makes no sense: a
 * letter that is no message of the registry, a piece with more bytes than its letter, and fragments
 * that don't fit together. */
TEST(blames)
{
    struct cohort__envelope letter = {.kind = COHORT__KIND_REGISTRY, .tag = 1};
    struct cohort__envelope fragment = {
        .kind = COHORT__KIND_FRAGMENT, .handle = 1, .total_bytes = 2};
    open_launched();
    cohort__process_peer_lost(fake.process, 1, "can't be reached");
    fake_net_deliver(&fake, 1, letter, "x", 1);
    CHECK_CONTAINS(accused, "1 can't be reached; 1 is at fault: has sent a registry message ");
    const size_t bytes = strlen(accused);
    cohort__process_blame(fake.process, 1, "has sent more");
    cohort__process_peer_lost(fake.process, 1, "can't be reached");
    CHECK_INT(strlen(accused), bytes);
    fake_net_close(&fake);
    open_launched();
    fake_net_deliver(&fake, 2, letter, "xy", 2);
    CHECK_CONTAINS(accused, "2 is at fault: has sent a registry message ");
    fake_net_close(&fake);
    open_launched();
    fake_net_deliver(&fake, 2, fragment, "x", 1);
    fragment.total_bytes = 3;
    fake_net_deliver(&fake, 2, fragment, "x", 1);
    CHECK_CONTAINS(accused, "2 is at fault: sent parts of ");
    fake_net_close(&fake);
}

/* If the reason lies here, this locality is the one that can't go on. */
TEST_LAUNCHED(accuses_itself)
{
    cohort__process_give_up(fake.process, 2, "was given up: no memory");
    CHECK_TEXT(accused,
               "0 is at fault: can't go on with locality 2, which was given up: no memory; ");
    CHECK(!cohort__process_any_dead(fake.process));
    fake_net_close(&fake);
    fake_net_open(&fake, 0);
    cohort__process_give_up(fake.process, 2, "was given up: no memory");
    check_first("locality 2 was given up: no memory");
}

/* Called instead of the real function (--wrap). */
struct cohort__peer *__real_cohort__peer_make(struct cohort__process *process, uint32_t rank);
static bool has_no_memory;

struct cohort__peer *__wrap_cohort__peer_make(struct cohort__process *process, uint32_t rank)
{
    return has_no_memory ? NULL : __real_cohort__peer_make(process, rank);
}

/* Without memory for a death this locality would count another number of dead than the others. */
TEST_LAUNCHED(no_memory)
{
    has_no_memory = true;
    tell(2, 1, "was killed");
    CHECK_CONTAINS(
        accused,
        "0 is at fault: can't go on with locality 2, which has died, and there is no memory");
    fake_net_close(&fake);
    fake_net_open(&fake, 0); /* here the launcher ends the job with the death */
    tell(2, 1, "was killed");
    has_no_memory = false;
    CHECK(!cohort__process_any_dead(fake.process));
}

/* Peers may know of a death before the launcher has told it here: their word does not count. */
TEST(heard_only)
{
    struct cohort__death death = {.rank = 2, .order = 1, .why = "was killed"};
    struct cohort__packer packer = {0};
    cohort__death_pack(&packer, &death);
    open_launched();
    CHECK(cohort__death_receive(fake.process, packer.data, packer.bytes));
    CHECK(!cohort__process_any_dead(fake.process));
    tell(2, 1, "was killed");
    CHECK(!cohort__death_receive(fake.process, packer.data, packer.bytes));
    CHECK(!cohort__death_receive(fake.process, NULL, 0));
    cohort__packer_fini(&packer);
    fake_net_close(&fake);
}

static int num_taken;

static void take(void *context, struct cohort__arrival *arrival)
{
    num_taken++;
    cohort__arrival_release(arrival);
}

/* What comes late from the dead is dropped, and what went to and came from them is not drained. */
TEST_LAUNCHED(late)
{
    static const struct cohort__envelope data = {.kind = COHORT__KIND_DATA, .instance = 5};
    num_taken = 0;
    cohort__process_set_handlers(fake.process, &(struct cohort__process_handlers){.message = take});
    fake_net_deliver(&fake, 1, data, "x", 1);
    fake_net_deliver(&fake, 2, data, "x", 1);
    uint64_t dropped = cohort__process_dropped(fake.process);
    CHECK_INT(cohort__process_traffic(fake.process).received, 2);
    tell(2, 1, "was killed");
    CHECK_INT(cohort__process_traffic(fake.process).received, 1);
    fake_net_deliver(&fake, 2, data, "x", 1);
    CHECK_INT(cohort__process_dropped(fake.process), dropped + 1);
    CHECK_INT(num_taken, 2);
    fake_net_deliver(&fake, 1, data, "x", 1);
    CHECK_INT(cohort__process_traffic(fake.process).received, 2);
}

TEST_LAUNCHED(list)
{
    uint32_t ranks[2] = {9, 9};
    CHECK_INT(cohort__process_deaths(fake.process, NULL, 0), 0);
    tell(2, 1, "was killed");
    tell(1, 2, "was killed");
    CHECK_INT(cohort__process_deaths(fake.process, ranks, 1), 2);
    CHECK(ranks[0] == 2 && ranks[1] == 9);
    CHECK_INT(cohort__process_deaths(fake.process, ranks, 2), 2);
    CHECK_INT(ranks[1], 1);
}
