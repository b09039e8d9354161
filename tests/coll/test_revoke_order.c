/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cohort/channel.h"
#include "cohort/collectives.h"
#include "cohort/split.h"
#include "cohort/survivors.h"
#include "cohort/task.h"

#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "collectives/comm/reception.h"
#include "collectives/comm/verdict.h"
#include "runtime/base/clock.h"
#include "runtime/names/home.h"
#include "runtime/proc/arrival.h"
#include "runtime/proc/boards.h"
#include "runtime/proc/process.h"
#include "runtime/proc/registry.h"
#include "runtime/wire/pack.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"
#include "tests/support/scarce.h"

/* A revocation, and what comes before or after it: messages are held back in some localities until
 * the test lets them go. */

enum { SITES = 6, LOCALITIES = 3, LAST = SITES - 1 };
static const uint64_t patience = 60 * UINT64_C(1000000000);

struct row {
    struct cluster *cluster;
    cohort_comm *comms[SITES];
    bool has_loss; /* one locality has given up another one */
};

/* In a broadcast all wait for the root, whichever row would be chosen where things take longer. */
static void begin_creation(struct row *row, cohort_future **futures)
{
    cluster_place(row->cluster, CLUSTER_BLOCKS);
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = cluster_create_comm(row->cluster, &row->comms[site], "row",
                                            &(cohort_comm_options){
                                                .num_sites = SITES,
                                                .this_site = site,
                                                .root_site = LAST,
                                                .stall_after = 1000000,
                                                .algorithms = "broadcast=linear",
                                            });
}

static void begin(struct row *row)
{
    cohort_future *futures[SITES];
    row->has_loss = false;
    row->cluster = cluster_create(0, LOCALITIES, 0);
    begin_creation(row, futures);
    CHECK_OK(cohort_await(cohort_when_all(futures, SITES)));
}

static void end(struct row *row)
{
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(row->comms[site]);
    if (row->has_loss)
        cluster_abandon(row->cluster);
    else
        cluster_destroy(row->cluster);
}

static void check_revoked(cohort_future *future, uint32_t by)
{
    char who[] = "site 0";
    who[5] = (char)('0' + by);
    CHECK_FAILS(await_within(future, patience), COHORT_ERR_REVOKED, who);
}

/* Letters ----------------------------------------------------------------------------------- */

/* Those of one type, at one locality or all, are kept. The home does not write to itself. */
struct letter {
    struct cohort__registry *registry;
    uint32_t source;
    size_t bytes;
    unsigned char *data;
};
enum { MOST_LETTERS = 8, NUM_TYPES = COHORT__REGISTRY_REVOKED + 1 };
static struct letter letters[MOST_LETTERS];
static uint32_t num_letters;
static uint64_t held_type;                     /* 0: none */
static const struct cohort__registry *held_at; /* NULL: everywhere */
static struct cluster *held_in;
static uint32_t num_of_type[NUM_TYPES];

enum { NONE_FAILS = -1 };
static long failing = NONE_FAILS; /* the allocation for the news of a revocation that fails */
static const struct cohort__registry *scarce_at;
static bool has_failed;

void __real_cohort__registry_message(struct cohort__registry *registry, uint32_t source,
                                     const void *data, size_t bytes);

static uint64_t type_of(const void *data, size_t bytes)
{
    struct cohort__unpacked *unpacked;
    uint64_t type = 0;
    CHECK_OK(cohort__unpack(&unpacked, data, bytes, "letter"));
    CHECK_OK(cohort__get_unsigned(unpacked, cohort__unpacked_root(unpacked), "type", NUM_TYPES - 1,
                                  &type));
    cohort__unpacked_destroy(unpacked);
    return type;
}

/* What a locality tells itself it hears at once. Some linkers wrap that call, too, which is from
 * the file of what it calls. */
static bool is_own(const struct cohort__registry *registry, uint32_t source)
{
    return source < LOCALITIES &&
           registry == cohort__process_registry(cluster_process(held_in, source));
}

void __wrap_cohort__registry_message(struct cohort__registry *registry, uint32_t source,
                                     const void *data, size_t bytes)
{
    uint64_t type = type_of(data, bytes);
    num_of_type[type]++;
    bool is_scarce =
        failing != NONE_FAILS && registry == scarce_at && type == COHORT__REGISTRY_REVOKED;
    if (is_scarce)
        scarce_begin(failing);
    if (type != held_type || (held_at && held_at != registry) || is_own(registry, source)) {
        __real_cohort__registry_message(registry, source, data, bytes);
        if (is_scarce) {
            has_failed = scarce_end();
            failing = NONE_FAILS;
        }
        return;
    }
    CHECK(num_letters < MOST_LETTERS);
    struct letter *letter = &letters[num_letters++];
    *letter = (struct letter){registry, source, bytes, malloc(bytes)};
    memcpy(letter->data, data, bytes);
}

static void hold_letters(struct row *row, enum cohort__registry_type type, int32_t locality)
{
    held_type = type;
    held_in = row->cluster;
    held_at = locality < 0
                  ? NULL
                  : cohort__process_registry(cluster_process(row->cluster, (uint32_t)locality));
    num_letters = 0;
    memset(num_of_type, 0, sizeof(num_of_type));
}

static void release_letters(void)
{
    held_type = 0;
    for (uint32_t i = 0; i < num_letters; i++) {
        __real_cohort__registry_message(letters[i].registry, letters[i].source, letters[i].data,
                                        letters[i].bytes);
        free(letters[i].data);
    }
}

/* Messages to endpoints, and about verdicts -------------------------------------------------- */

static uint32_t num_gone[2]; /* answers that have been taken: of channels, and of calls */

void __real_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message);

void __wrap_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    bool is_gone = message->kind == COHORT__KIND_ANSWER && message->tag == COHORT__ANSWER_GONE;
    bool is_of_call = message->generation != 0;
    __real_cohort__endpoint_receive(comm, message);
    num_gone[is_of_call] += is_gone;
}

static bool holds_verdicts; /* at all but the decider */
enum { MOST_ARRIVALS = 8 };
static struct cohort__arrival *arrivals[MOST_ARRIVALS];
static struct cohort__group *groups[MOST_ARRIVALS];
static uint32_t num_arrivals;

bool __real_cohort__verdict_arrive(struct cohort__group *group, struct cohort__arrival *arrival);

bool __wrap_cohort__verdict_arrive(struct cohort__group *group, struct cohort__arrival *arrival)
{
    if (!holds_verdicts || group->rank == 0)
        return __real_cohort__verdict_arrive(group, arrival);
    CHECK(num_arrivals < MOST_ARRIVALS);
    cohort__group_ref(group);
    groups[num_arrivals] = group;
    arrivals[num_arrivals] = cohort__arrival_keep(arrival);
    CHECK(arrivals[num_arrivals++]);
    return true;
}

static void release_verdicts(void)
{
    holds_verdicts = false;
    for (uint32_t i = 0; i < num_arrivals; i++) {
        CHECK(__real_cohort__verdict_arrive(groups[i], arrivals[i]));
        cohort__group_unref(groups[i]);
    }
    num_arrivals = 0;
}

/* ------------------------------------------------------------------------------------------- */

static uint32_t home_of(const struct row *row)
{
    return row->comms[0]->group->membership->home;
}

/* The last site revokes and leaves. In a locality that has not heard of it yet sites ask after it,
 * and learn that it has gone, but not that it has gone by itself: they wait for the reason. */
TEST(gone_before_the_reason)
{
    struct row row;
    cohort_future *calls[2];
    unsigned char out[3][8];
    begin(&row);
    uint32_t unaware = home_of(&row) == 1 ? 0 : 1, site = 2 * unaware;
    hold_letters(&row, COHORT__REGISTRY_REVOKED, (int32_t)unaware);
    CHECK_OK(await_within(cohort_comm_revoke(row.comms[LAST]), patience));
    cohort_comm_unref(row.comms[LAST]);
    row.comms[LAST] = NULL;
    num_gone[0] = num_gone[1] = 0;
    for (uint32_t i = 0; i < 2; i++)
        calls[i] =
            cohort_broadcast_from(row.comms[site + i], out[i], sizeof(out[i]), COHORT_UINT8, 1);
    cohort_future *get = cohort_channel_get(row.comms[site], LAST, 9, out[2], sizeof(out[2]), NULL);
    YIELD_WHILE(num_gone[0] == 0 || num_gone[1] == 0);
    CHECK(!cohort_future_ready(calls[0]) && !cohort_future_ready(calls[1]));
    CHECK(!cohort_future_ready(get));
    release_letters();
    check_revoked(calls[0], LAST);
    check_revoked(calls[1], LAST);
    check_revoked(get, LAST);
    end(&row);
}

/* Locality 0 has asked the others for their votes, which never come: it does not wait for them. */
TEST(no_votes)
{
    struct row row;
    begin(&row);
    cohort_future *held = cohort_barrier(row.comms[0], 1);
    holds_verdicts = true;
    CHECK_OK(cohort_comm_cancel(row.comms[0], 1));
    YIELD_WHILE(num_arrivals < LOCALITIES - 1);
    cohort_future *late = cohort_barrier(row.comms[1], 1);
    CHECK_OK(await_within(cohort_comm_revoke(row.comms[LAST]), patience));
    check_revoked(held, LAST);
    check_revoked(late, LAST);
    release_verdicts();
    for (uint32_t site = 2; site < SITES; site++)
        check_revoked(cohort_barrier(row.comms[site], 1), LAST);
    end(&row);
}

/* The map of a child comes where its sites do not wait for it any more. They leave it there, so its
 * home forgets it when the others have left it, too. */
TEST(late_map)
{
    struct row row;
    cohort_future *futures[SITES];
    cohort_comm *twins[SITES] = {0};
    uint32_t num_made = 0;
    begin(&row);
    hold_letters(&row, COHORT__REGISTRY_MAP, -1);
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = cohort_comm_dup(&twins[site], row.comms[site], 1);
    YIELD_WHILE(num_letters < LOCALITIES - 1);
    CHECK_OK(await_within(cohort_comm_revoke(row.comms[3]), patience));
    for (uint32_t site = 0; site < SITES; site++) {
        cohort_status status = await_within(futures[site], patience);
        CHECK(status == COHORT_OK || status == COHORT_ERR_REVOKED);
        num_made += status == COHORT_OK;
    }
    CHECK_INT(num_made, SITES / LOCALITIES); /* at the home of the child */
    memset(num_of_type, 0, sizeof(num_of_type));
    release_letters();
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(twins[site]);
    YIELD_WHILE(num_of_type[COHORT__REGISTRY_LEAVE] < SITES - num_made ||
                num_of_type[COHORT__REGISTRY_RETURN] < LOCALITIES - 1 ||
                num_of_type[COHORT__REGISTRY_END] < LOCALITIES - 1);
    end(&row);
}

/* A locality that is not the home has no memory for the news of a revocation. The others know of it
 * anyway, and it gives up whose news it has lost. Returns whether an allocation has failed. */
static bool revoke_without_memory(long number)
{
    struct row row;
    begin(&row);
    const uint32_t unaware = home_of(&row) == 1 ? 0 : 1;
    scarce_at = cohort__process_registry(cluster_process(row.cluster, unaware));
    failing = number;
    cohort_future *revoked = cohort_comm_revoke(row.comms[LAST]);
    YIELD_WHILE(failing != NONE_FAILS || !cohort_future_ready(revoked));
    for (uint32_t site = 0; site < SITES; site++)
        if (site / 2 == unaware && cohort__process_any_dead(cluster_process(row.cluster, unaware)))
            CHECK_INT(await_within(cohort_barrier(row.comms[site], 1), patience),
                      COHORT_ERR_PEER_DIED);
        else
            check_revoked(cohort_barrier(row.comms[site], 1), LAST);
    row.has_loss = has_failed;
    cohort_status status = await_within(revoked, patience);
    CHECK(status == COHORT_OK || (has_failed && status == COHORT_ERR_NO_MEMORY));
    end(&row);
    return has_failed;
}

TEST(no_memory)
{
    long number = 0;
    while (revoke_without_memory(number))
        number++;
    CHECK(number > 0);
}
