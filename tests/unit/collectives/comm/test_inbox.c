/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/endpoint_life.h"
#include "collectives/comm/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "collectives/comm/settings.h"
#include "runtime/base/slab.h"
#include "runtime/proc/registry.h"
#include "runtime/wire/pack.h"
#include "tests/support/test.h"
#include "tests/unit/collectives/comm/new_membership.h"
#include "tests/unit/runtime/proc/fake_net.h"

/* Messages arrive at locality 0 of a communicator with one site in each locality. Each allocation
 * that they need fails in turn. */
enum { GENERATION = 3 };
static const uint64_t INSTANCE = UINT64_C(2) << 32 | 5; /* home 1 has made it as the fifth one */

static struct fake_net fake;
static struct cohort__inbox *inbox;

/* The linker redirects all calls of malloc to __wrap_malloc, and so on. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_cohort__slab_alloc(size_t bytes);

/* How many allocations succeed before one fails, while a message is received. Those after it
 * succeed again. -1: none fails. */
static long left = -1;
static bool is_taking;

static bool fails(void)
{
    return is_taking && left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __real_realloc(memory, bytes);
}

void *__wrap_cohort__slab_alloc(size_t bytes)
{
    return fails() ? NULL : __real_cohort__slab_alloc(bytes);
}

/* What the registry would call. */
static void (*when_ended)(void *context, uint64_t instance);
static void (*when_unused)(void *context, const struct cohort__membership *membership);
static void *registry_context;

void __wrap_cohort__registry_set_ended(struct cohort__registry *registry,
                                       void (*ended)(void *context, uint64_t instance),
                                       void *context)
{
    when_ended = ended;
    registry_context = context;
}

void __wrap_cohort__registry_set_unused(struct cohort__registry *registry,
                                        void (*unused)(void *context,
                                                       const struct cohort__membership *membership),
                                        void *context)
{
    when_unused = unused;
    registry_context = context;
}

static void (*take)(void *context, struct cohort__net_message *message);

static void on_message(void *context, struct cohort__net_message *message)
{
    is_taking = true;
    take(context, message);
    is_taking = false;
}

static void inbox_open(void)
{
    fake_net_open(&fake, 0);
    take = fake.net.handlers.message;
    fake.net.handlers.message = on_message;
    CHECK_OK(cohort__inbox_get(fake.process, &inbox));
    for (uint32_t source = 1; source < FAKE_SIZE; source++) /* from now on their links exist */
        fake_net_deliver(&fake, source, (struct cohort__envelope){.kind = COHORT__KIND_CREDIT},
                         NULL, 0);
}

static struct cohort__group *group_open(void)
{
    struct cohort__group *group;
    struct cohort__membership *membership = new_membership(FAKE_SIZE, NULL);
    membership->instance = INSTANCE;
    for (uint32_t site = 0; site < FAKE_SIZE; site++)
        membership->locality_of[site] = site;
    CHECK_OK(cohort__inbox_group(inbox, "incoming", membership, &group));
    return group;
}

static struct cohort_comm *endpoint_open(struct cohort__group *group)
{
    struct cohort_comm *comm;
    CHECK_OK(cohort__endpoint_create(&comm, group, 0));
    comm->root_site = 0;
    cohort__inbox_add(inbox, comm);
    cohort__group_add(group, comm->this_site, &comm->actor);
    return comm;
}

/* A message from site SOURCE to site 0. */
static void deliver(uint32_t source, enum cohort__kind kind)
{
    const struct cohort__net_token token = {{0}};
    struct cohort__packer packer = {0};
    cohort__pack_map(&packer, 2);
    cohort__pack_field_signed(&packer, "status", COHORT_ERR_FAILED);
    cohort__pack_field_text(&packer, "text", "something that went wrong there");
    CHECK(!packer.status);
    bool is_announce = kind == COHORT__KIND_ANNOUNCE;
    fake_net_deliver(&fake, source,
                     (struct cohort__envelope){.kind = kind,
                                               .instance = INSTANCE,
                                               .generation = GENERATION,
                                               .source_site = source,
                                               .handle = 1,
                                               .total_bytes = is_announce ? 1000 : 0},
                     is_announce ? (const void *)&token : packer.data,
                     is_announce ? sizeof(token) : packer.bytes);
    cohort__packer_fini(&packer);
}

static void ask(uint32_t source)
{
    const struct cohort__error words = {COHORT_ERR_MISMATCH, NULL};
    struct cohort__packer packer = {0};
    cohort__message_pack_error(&packer, &words);
    fake_net_deliver(&fake, source,
                     (struct cohort__envelope){.kind = COHORT__KIND_ASK,
                                               .instance = INSTANCE,
                                               .generation = GENERATION,
                                               .source_site = source},
                     packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

/* Checks that the latest message is ANSWER, sent to the site SOURCE that had asked. */
static void check_answered(uint32_t source, enum cohort__answer answer, size_t num_sent)
{
    const struct fake_sent *sent = &fake.sent[fake.num_sent - 1];
    CHECK_INT(fake.num_sent, num_sent);
    CHECK_INT(sent->peer, source);
    CHECK_INT(sent->envelope.kind, COHORT__KIND_ANSWER);
    CHECK_INT(sent->envelope.tag, answer);
    CHECK_INT(sent->envelope.dest_site, source);
}

/* If IS, whatever waits for a message from SOURCE fails instead of waiting for ever. No other site
 * is affected. */
static void check_given_up(uint32_t source, bool is)
{
    CHECK_INT(cohort__process_check_dead(fake.process, source), is);
    CHECK_INT(fake.is_removed[source], is);
    if (is)
        CHECK_CONTAINS(cohort_error_message(), "was given up: a message from it was lost here");
    CHECK(!cohort__process_check_dead(fake.process, 3 - source));
}

/* What exists before the message arrives. */
enum { ENDPOINT, GROUP, NEITHER, NUM_MADE };

/* Either the endpoint gets the message, or the sender is given up. Returns how often the sender was
 * given up. */
static int verify(int made, enum cohort__kind kind, uint32_t source)
{
    int num_given_up = 0;
    bool has_failed = true;
    for (long failing = 0; has_failed; failing++) {
        inbox_open();
        cohort__inbox_creation_begin(inbox);
        struct cohort__group *group = made == NEITHER ? NULL : group_open();
        struct cohort_comm *comm = made == ENDPOINT ? endpoint_open(group) : NULL;
        left = failing;
        deliver(source, kind);
        has_failed = left < 0;
        left = -1;
        group = group ? group : group_open();
        comm = comm ? comm : endpoint_open(group);
        bool is_there = comm->window[GENERATION].num_parked > 0;
        check_given_up(source, !is_there);
        CHECK(is_there || has_failed);
        num_given_up += !is_there;
        cohort__inbox_creation_end(inbox);
        fake_net_close(&fake);
    }
    return num_given_up;
}

TEST(no_memory)
{
    static const enum cohort__kind kinds[] = {COHORT__KIND_DATA, COHORT__KIND_ANNOUNCE,
                                              COHORT__KIND_ERROR};
    for (int made = 0; made < NUM_MADE; made++)
        for (size_t i = 0; i < NUM_OF(kinds); i++)
            for (uint32_t source = 1; source < FAKE_SIZE; source++)
                CHECK(verify(made, kinds[i], source) >= 2); /* the arrival is kept in a message */
}

/* Without a creation under way no site will join later. The sender is told, and nothing else
 * happens. */
TEST(unknown)
{
    inbox_open();
    size_t num_sent = fake.num_sent;
    ask(1);
    check_answered(1, COHORT__ANSWER_GONE, num_sent + 1);
    check_given_up(1, false);
    cohort__inbox_creation_begin(inbox);
    ask(2);
    CHECK_INT(fake.num_sent, num_sent + 1);
    cohort__inbox_creation_end(inbox); /* it belonged to another instance */
    check_answered(2, COHORT__ANSWER_GONE, num_sent + 2);
    fake_net_close(&fake);
}

/* An early message is handed on when the group exists, and then when the endpoint exists. */
TEST(early)
{
    inbox_open();
    size_t num_sent = fake.num_sent;
    cohort__inbox_creation_begin(inbox);
    ask(1);
    struct cohort__group *group = group_open();
    ask(2);
    CHECK_INT(fake.num_sent, num_sent);
    endpoint_open(group);
    CHECK_INT(fake.sent[num_sent].peer, 1);
    check_answered(2, COHORT__ANSWER_NOT_CALLED, num_sent + 2);
    cohort__inbox_creation_end(inbox);
    ask(1);
    check_answered(1, COHORT__ANSWER_NOT_CALLED, num_sent + 3);
    fake_net_close(&fake);
}

static void check_declined(uint32_t source, size_t num_sent)
{
    const struct fake_sent *sent = &fake.sent[fake.num_sent - 1];
    CHECK_INT(fake.num_sent, num_sent);
    CHECK_INT(sent->peer, source);
    CHECK_INT(sent->envelope.kind, COHORT__KIND_FETCHED);
    CHECK_INT(sent->envelope.handle, 1);
    CHECK_INT(sent->envelope.tag, true);
}

/* What comes for an instance that has ended is answered at once, also while another creation is
 * under way: its sender may wait for that before it joins. HELD: somebody still has a reference to
 * the group. */
static void verify_late(bool held)
{
    inbox_open();
    cohort__inbox_creation_begin(inbox);
    struct cohort__group *group = group_open();
    struct cohort_comm *comm = endpoint_open(group);
    cohort__inbox_creation_end(inbox);
    if (held)
        cohort__group_ref(group);
    cohort_comm_unref(comm);
    when_ended(registry_context, INSTANCE);
    size_t num_sent = fake.num_sent;
    cohort__inbox_creation_begin(inbox);
    deliver(1, COHORT__KIND_ANNOUNCE);
    check_declined(1, num_sent + 1);
    ask(2);
    check_answered(2, COHORT__ANSWER_GONE, num_sent + 2);
    if (held)
        cohort__group_unref(group);
    deliver(2, COHORT__KIND_ANNOUNCE);
    check_declined(2, num_sent + 3);
    cohort__inbox_creation_end(inbox);
    CHECK_INT(fake.num_sent, num_sent + 3);
    fake_net_close(&fake);
}

TEST(late)
{
    verify_late(false);
    verify_late(true);
}

/* The map comes when the sites here do not wait for it any more. What has come before it is
 * answered with it, also if the allocation of number FAILING fails. Returns whether one did. */
static bool verify_unused(long failing)
{
    struct cohort__comm_settings settings = {0};
    struct cohort__packer packer = {0};
    cohort__comm_settings_pack(&settings, &packer);
    CHECK(!packer.status);
    const struct cohort__membership membership = {
        .instance = INSTANCE, .settings = packer.data, .settings_bytes = packer.bytes};
    inbox_open();
    cohort__inbox_creation_begin(inbox);
    size_t num_sent = fake.num_sent;
    deliver(1, COHORT__KIND_ANNOUNCE);
    CHECK_INT(fake.num_sent, num_sent);
    is_taking = true;
    left = failing;
    when_unused(registry_context, &membership);
    bool has_failed = left < 0;
    is_taking = false;
    left = -1;
    if (cohort__process_check_dead(fake.process, 1)) { /* without memory for the answer */
        CHECK(has_failed);
        CHECK_CONTAINS(cohort_error_message(), "can't be told: out of memory here");
    } else {
        check_declined(1, num_sent + 1);
    }
    num_sent = fake.num_sent;
    ask(2);
    check_answered(2, COHORT__ANSWER_GONE, num_sent + 1);
    cohort__inbox_creation_end(inbox);
    CHECK_INT(fake.num_sent, num_sent + 1);
    cohort__packer_fini(&packer);
    fake_net_close(&fake);
    return has_failed;
}

TEST(unused)
{
    long failing = 0;
    while (verify_unused(failing))
        failing++;
    CHECK(failing > 0);
}

/* A message from a site that isn't in that locality, or to a site that isn't in this one. */
TEST(wrong_site)
{
    inbox_open();
    endpoint_open(group_open());
    size_t num_sent = fake.num_sent;
    for (uint32_t wrong = 0; wrong < 4; wrong++) {
        fake_net_deliver(&fake, 1,
                         (struct cohort__envelope){.kind = COHORT__KIND_ASK,
                                                   .instance = INSTANCE,
                                                   .generation = GENERATION,
                                                   .source_site = wrong == 0   ? 2
                                                                  : wrong == 1 ? FAKE_SIZE
                                                                               : 1,
                                                   .dest_site = wrong == 2   ? 1
                                                                : wrong == 3 ? FAKE_SIZE
                                                                             : 0},
                         NULL, 0);
        CHECK_INT(fake.num_sent, ++num_sent);
        CHECK_INT(fake.sent[num_sent - 1].envelope.tag, COHORT__ANSWER_GONE);
    }
    fake_net_close(&fake);
}

/* Endpoints of which nothing else is used, by number: every third one is idle. */
enum { MANY = 5000 };
static struct cohort_comm *many;
static unsigned char num_ticks[MANY];

void __wrap_cohort__endpoint_tick(struct cohort_comm *comm)
{
    num_ticks[comm - many]++;
}

static void more(void *context)
{
}

static uint32_t ticks_of_a_turn(void)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < MANY; i++)
        sum += num_ticks[i];
    memset(num_ticks, 0, sizeof(num_ticks));
    return sum;
}

/* One tick looks at all endpoints, each once, but only at some of them in one turn. */
TEST(many)
{
    fake_net_open_turning(&fake, more);
    CHECK_OK(cohort__inbox_get(fake.process, &inbox));
    struct cohort__group *group = group_open();
    CHECK((many = aligned_alloc(64, MANY * sizeof(*many))));
    memset(many, 0, MANY * sizeof(*many));
    for (uint32_t i = 0; i < MANY; i++) {
        many[i].group = group;
        many[i].num_in_flight = i % 3;
        cohort__inbox_add(inbox, &many[i]);
    }
    for (uint32_t round = 0, most = 0; round < 3; round++) {
        unsigned char ticked[MANY] = {0};
        cohort__process_tick(fake.process, 0);
        bool has_more;
        do {
            has_more = cohort__process_go_on(fake.process);
            for (uint32_t i = 0; i < MANY; i++)
                ticked[i] += num_ticks[i];
            uint32_t num = ticks_of_a_turn();
            most = num > most ? num : most;
        } while (has_more);
        for (uint32_t i = 0; i < MANY; i++)
            CHECK_INT(ticked[i], i % 3 > 0);
        CHECK(most > MANY / 10 && most < MANY / 3);
    }
    for (uint32_t i = 0; i < MANY; i++)
        cohort__list_remove(&many[i].link);
    fake_net_close(&fake);
    free(many);
}
