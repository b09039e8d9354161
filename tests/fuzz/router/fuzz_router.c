/* SPDX-License-Identifier: Apache-2.0 */
/* Whole messages with seeded mutations are given to a locality that has announced sends, fetches
 * under way, waiting joins, revocations and calls of remote tasks. Whatever arrives, all memory is
 * freed and each operation ends at most once, and exactly once by the end of the job. */
#include "runtime/proc/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/random.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/registry.h"
#include "runtime/names/home.h"
#include "runtime/proc/send.h"
#include "runtime/remote/functions.h"
#include "runtime/remote/message.h"
#include "runtime/remote/tasks.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/proc/fake_net.h"

enum { ROUNDS = 1000, MESSAGES = 100, MAX_PAYLOAD = 256, NUM_EACH = 4, MAX_SITES = 6 };

static struct fake_net fake;
static struct cohort__random random_of;
static uint64_t num_begun, num_ended, num_arrived, num_delivered, num_revoked, num_accused;
static unsigned char space[4 * FAKE_MAX_FETCH];

static uint64_t below(uint64_t limit)
{
    return cohort__random_below(&random_of, limit);
}

static void on_sent(struct cohort__send *send, cohort_status status)
{
    num_ended++;
    free(send);
}

static void on_fetched(struct cohort__fetch *fetch, cohort_status status)
{
    num_ended++;
    free(fetch);
}

static void on_joined(struct cohort__join *join, cohort_status status,
                      struct cohort__membership *membership)
{
    CHECK(!status == !!membership);
    CHECK(!membership || membership->locality_of[join->site] == 0);
    cohort__membership_unref(membership);
    num_ended++;
    free(join);
}

static void begin_fetch(uint32_t rank, uint64_t handle)
{
    struct cohort__fetch *fetch = test_calloc(1, sizeof(*fetch));
    *fetch = (struct cohort__fetch){.rank = rank,
                                    .handle = handle,
                                    .destination = space,
                                    .bytes = 1 + below(sizeof(space)),
                                    .done = on_fetched};
    num_begun++;
    cohort__fetch_start(fake.process, fetch);
}

static void begin_send(uint32_t rank)
{
    struct cohort__send *send = test_calloc(1, sizeof(*send));
    *send = (struct cohort__send){.envelope = {.kind = COHORT__KIND_DATA},
                                  .payload = space,
                                  .bytes = below(sizeof(space)),
                                  .done = on_sent};
    num_begun++;
    cohort__send_start(fake.process, rank, send);
}

/* In some rounds this locality is mostly a home: most letters are joins and what follows them,
 * under one name, so that creations get complete. */
static bool is_home_round;

static const char *some_name(void)
{
    static const char *const names[] = {"a", "b", "c", "some longer name"};
    return names[is_home_round && below(20) ? 0 : below(4)];
}

static uint64_t some_instance(void)
{
    if (is_home_round)
        return UINT64_C(1) << 32 | (1 + below(3));
    return below(3) ? (1 + below(FAKE_SIZE)) << 32 | (1 + below(8)) : below(3);
}

static void begin_join(void)
{
    struct cohort__join *join = test_calloc(1, sizeof(*join));
    *join = (struct cohort__join){.name = some_name(),
                                  .site = (uint32_t)below(MAX_SITES),
                                  .num_sites = MAX_SITES,
                                  .terms = "terms",
                                  .settings = "settings",
                                  .settings_bytes = below(9),
                                  .done = on_joined};
    num_begun++;
    cohort__registry_join(cohort__process_registry(fake.process), join);
}

/* A membership that is like those that the home makes, and a revocation of it. */
struct revoked {
    struct cohort__revocation revocation;
    struct cohort__membership membership;
};

static void on_revoked(struct cohort__revocation *revocation, cohort_status status)
{
    num_ended++;
    free(COHORT_CONTAINER_OF(revocation, struct revoked, revocation));
}

static void begin_revocation(void)
{
    struct revoked *revoked = test_calloc(1, sizeof(*revoked));
    const char *name = some_name();
    revoked->membership = (struct cohort__membership){.num_sites = MAX_SITES,
                                                      .instance = some_instance(),
                                                      .home = (uint32_t)below(FAKE_SIZE),
                                                      .name = (void *)(uintptr_t)name,
                                                      .name_bytes = strlen(name)};
    revoked->revocation = (struct cohort__revocation){
        .membership = &revoked->membership, .site = (uint32_t)below(MAX_SITES), .done = on_revoked};
    num_begun++;
    cohort__registry_revoke(cohort__process_registry(fake.process), &revoked->revocation);
}

/* The comm layer's part. */
static void hear_revoked(void *context, uint64_t instance, uint32_t site)
{
    num_revoked += instance != 0 && site < MAX_SITES;
}

/* Calls of others can't be started here: there are no workers. */
static cohort_status no_function(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return COHORT_OK;
}

static cohort_future *calls[NUM_EACH + 1];
static cohort_object results[NUM_EACH + 1];
static size_t num_calls;

static void begin_call(uint32_t rank)
{
    cohort_object in = {space, below(2) ? below(sizeof(space)) : below(30)};
    CHECK(num_calls < NUM_OF(calls));
    calls[num_calls] = cohort__async_at_from(fake.process, rank, "some function", &in,
                                             below(4) ? &results[num_calls] : NULL);
    num_calls++;
}

static void end_calls(void)
{
    for (size_t i = 0; i < num_calls; i++) {
        CHECK(cohort_future_ready(calls[i]));
        cohort_future_unref(calls[i]);
        cohort_object_fini(&results[i]);
    }
    num_calls = 0;
}

static void on_message(void *context, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    num_arrived++;
    CHECK(envelope->source_locality > 0 && envelope->source_locality < FAKE_SIZE);
    if (below(2)) {
        struct cohort__arrival *kept = cohort__arrival_keep(arrival);
        CHECK(kept);
        cohort__arrival_park(kept);
        arrival = kept;
        envelope = &arrival->envelope;
    }
    if (envelope->kind == COHORT__KIND_ANNOUNCE && fake.num_fetches < FAKE_KEPT / 2)
        begin_fetch(envelope->source_locality, envelope->handle);
    cohort__arrival_release(arrival);
}

/* After BROKEN nothing more begins. */
static uint64_t some_type(void)
{
    static const uint64_t at_home[] = {COHORT__REGISTRY_JOIN,   COHORT__REGISTRY_JOIN,
                                       COHORT__REGISTRY_JOIN,   COHORT__REGISTRY_JOIN,
                                       COHORT__REGISTRY_REVOKE, COHORT__REGISTRY_LEAVE};
    uint64_t type = 1 + below(COHORT__REGISTRY_REVOKED);
    if (is_home_round && below(10))
        return at_home[below(NUM_OF(at_home))];
    return type != COHORT__REGISTRY_BROKEN || below(8) == 0 ? type : COHORT__REGISTRY_REVOKED;
}

static size_t registry_payload(unsigned char *payload)
{
    struct cohort__packer packer = {0};
    const char *name = some_name();
    cohort__pack_map(&packer, 17);
    const uint64_t type = some_type();
    cohort__pack_field_signed(&packer, "failed",
                              type == COHORT__REGISTRY_WITHDRAW ? COHORT_ERR_TIMEOUT : COHORT_OK);
    cohort__pack_field_bool(&packer, "agrees", below(2));
    cohort__pack_field_unsigned(&packer, "value", below(9));
    cohort__pack_field_unsigned(&packer, "view", below(2));
    cohort__pack_field_unsigned(&packer, "type", type);
    cohort__pack_field_bytes(&packer, "name", name, strlen(name));
    cohort__pack_field_unsigned(&packer, "site", below(MAX_SITES));
    cohort__pack_field_unsigned(&packer, "num_sites",
                                below(is_home_round ? 80 : 4) ? MAX_SITES : below(9));
    cohort__pack_field_bytes(&packer, "terms", "terms", below(is_home_round ? 80 : 8) ? 5 : 4);
    cohort__pack_field_bytes(&packer, "settings", "settings", below(4) ? 0 : below(9));
    cohort__pack_field_unsigned(&packer, "instance", some_instance());
    cohort__pack_field_unsigned(&packer, "sequence", below(3));
    cohort__pack_field_unsigned(&packer, "number", below(9));
    cohort__pack_field_unsigned(&packer, "of", 0);
    cohort__pack_field_bytes(&packer, "of_name", "", 0);
    if (below(2)) {
        cohort__pack_field_signed(&packer, "status", COHORT_ERR_MISMATCH);
        cohort__pack_field_bytes(&packer, "text", "because", 7);
    } else if (below(2)) {
        cohort__pack_field_bytes(&packer, "localities", "\0\0\0\1\0\2\0\3\0\0\0\1\0",
                                 2 * MAX_SITES - !below(9));
        cohort__pack_field_bool(&packer, "more", true);
    } else {
        cohort__pack_text(&packer, "runs");
        cohort__pack_array(&packer, 6);
        for (uint64_t i = 0, split = below(MAX_SITES + 1); i < 6; i++)
            cohort__pack_unsigned(&packer, i == 0   ? 0
                                           : i == 1 ? split
                                           : i == 3 ? split
                                           : i == 4 ? MAX_SITES - split
                                                    : below(FAKE_SIZE));
        cohort__pack_field_bool(&packer, "more", true);
    }
    CHECK(!packer.status && packer.bytes <= MAX_PAYLOAD);
    size_t bytes = packer.bytes;
    memcpy(payload, packer.data, bytes);
    cohort__packer_fini(&packer);
    return bytes;
}

static uint32_t num_parts;
static uint64_t num_letters[FAKE_SIZE]; /* by source */

static size_t valid_message(unsigned char *data)
{
    struct cohort__envelope envelope = {
        .kind = (enum cohort__kind)(1 + below(COHORT__KIND_END - 1)),
        .source_locality = 1 + (uint32_t)below(FAKE_SIZE - 1),
        .job_key = FAKE_JOB_KEY,
        .epoch = FAKE_EPOCH,
        .credit = below(2) ? (uint32_t)below(FAKE_BUDGET) : 0,
        .handle = below(300),
    };
    if (below(3) == 0 || (is_home_round && below(8)))
        envelope.kind = COHORT__KIND_REGISTRY;
    if (envelope.kind == COHORT__KIND_ANNOUNCE) {
        envelope.payload_bytes = COHORT__ENVELOPE_TOKEN_BYTES;
        envelope.total_bytes = 1 + below(sizeof(space));
    } else if (envelope.kind == COHORT__KIND_REGISTRY) {
        envelope.payload_bytes = (uint32_t)registry_payload(data + COHORT__ENVELOPE_BYTES);
        envelope.tag = envelope.payload_bytes + (below(20) == 0); /* a part is missing */
        if (below(20))                                            /* else it is not in order */
            envelope.handle = num_letters[envelope.source_locality]++;
    } else if (envelope.kind == COHORT__KIND_FRAGMENT) { /* of several that are under way */
        enum { FRAGMENT = 10, NUM = 4 };
        envelope.payload_bytes = FRAGMENT;
        envelope.total_bytes = (uint64_t)NUM * FRAGMENT;
        envelope.handle = num_parts / NUM;
        envelope.offset = num_parts++ % NUM * FRAGMENT;
        num_parts += below(50) == 0; /* one is missing */
    } else if (envelope.kind == COHORT__KIND_DATA || envelope.kind == COHORT__KIND_ERROR) {
        envelope.payload_bytes = 1 + (uint32_t)below(MAX_PAYLOAD);
    }
    bool is_remote = envelope.kind != COHORT__KIND_REGISTRY && below(2);
    if (is_remote) {
        envelope.instance = COHORT__INSTANCE_REMOTE;
        envelope.tag = (uint32_t)below(COHORT__REMOTE_NUM_TAGS);
        envelope.generation = below(NUM_EACH + 2);
        envelope.fingerprint = below(2) ? cohort__remote_hash("some function") : below(3);
        envelope.dest_site = (uint32_t)below(FAKE_SIZE + 1);
        envelope.source_site = below(2) ? (uint32_t)below(5) : 0;
    }
    envelope.number = fake_net_next_number(&fake, envelope.source_locality);
    cohort__envelope_encode(&envelope, data);
    return COHORT__ENVELOPE_BYTES + envelope.payload_bytes;
}

static void deliver_one(void)
{
    unsigned char data[COHORT__ENVELOPE_BYTES + MAX_PAYLOAD] = {0};
    size_t bytes = valid_message(data);
    for (uint64_t i = below(3) ? 0 : 1 + below(3); i > 0; i--) {
        size_t at = below(2) ? below(bytes) : COHORT__ENVELOPE_BYTES * (bytes > 100);
        at += at == COHORT__ENVELOPE_BYTES ? below(bytes - at) : 0;
        if (below(2))
            data[at] = (unsigned char)below(256);
        else
            data[at] ^= (unsigned char)(1u << below(8));
    }
    if (below(32) == 0)
        bytes = below(sizeof(data));
    num_delivered++;
    fake_net_deliver_bytes(&fake, data, bytes);
}

/* What else happens: the transport refuses some requests, and completes others. */
static size_t turn_transport(size_t num_fetched)
{
    if (below(8) == 0)
        fake.accepts = (unsigned)below(20);
    if (below(4) == 0)
        fake_net_writable(&fake, 1 + (uint32_t)below(FAKE_SIZE - 1));
    while (num_fetched < fake.num_fetches && below(4))
        fake_net_fetched(&fake, num_fetched++, below(8) ? COHORT_OK : COHORT_ERR_NETWORK);
    return num_fetched;
}

/* The launcher takes its time, so that messages of who has sent nonsense go on to come. */
static void on_accused(void *context, uint32_t rank, bool at_fault, const char *why)
{
    CHECK(why);
    num_accused++;
}

static void tell_death(uint32_t rank)
{
    struct cohort__death death = {.rank = rank, .order = rank};
    cohort__death_set_why(&death, "was killed", strlen("was killed"));
    cohort__process_death_told(fake.process, &death);
}

static void round_of(uint64_t seed)
{
    size_t num_fetched = 0;
    random_of = cohort__random_seeded(seed);
    is_home_round = seed % 3 == 0;
    memset(num_letters, 0, sizeof(num_letters));
    fake_net_open_launched(&fake, on_accused, NULL, NULL);
    CHECK_OK(cohort__remote_tasks_create(fake.process));
    cohort__process_set_handlers(fake.process,
                                 &(struct cohort__process_handlers){.message = on_message});
    cohort__registry_set_revoked(cohort__process_registry(fake.process), hear_revoked, NULL);
    for (int i = 0; i < MESSAGES; i++) {
        if (i % (MESSAGES / NUM_EACH) == 0) {
            begin_send(1 + (uint32_t)below(FAKE_SIZE - 1));
            begin_join();
            begin_revocation();
            begin_call(1 + (uint32_t)below(FAKE_SIZE - 1));
        }
        if (below(20) == 0)
            cohort__process_tick(fake.process, 0);
        deliver_one();
        num_fetched = turn_transport(num_fetched);
        if (below(200) == 0)
            tell_death(1 + (uint32_t)below(2));
    }
    cohort__process_stop(fake.process);
    while (num_fetched < fake.num_fetches)
        fake_net_fetched(&fake, num_fetched++, COHORT_ERR_CANCELLED);
    CHECK(num_ended == num_begun);
    fake_net_close(&fake);
    end_calls();
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    CHECK_OK(cohort_remote_register("some function", no_function, NULL));
    for (uint64_t i = 0; i < ROUNDS; i++)
        round_of(seed * ROUNDS + i);
    fprintf(stderr, "seed %llu: %llu of %llu messages arrived; %llu operations ended\n",
            (unsigned long long)seed, (unsigned long long)num_arrived,
            (unsigned long long)num_delivered, (unsigned long long)num_ended);
    CHECK(num_revoked > ROUNDS && num_accused > ROUNDS);
    CHECK(num_arrived > num_delivered / 16 && num_arrived < num_delivered);
    return 0;
}
