/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "cohort/channel.h"
#include "cohort/collectives.h"
#include "cohort/split.h"
#include "cohort/task.h"
#include "runtime/base/ledger.h"
#include "runtime/base/ledger_read.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* What the ledger says of sites, their calls, and of communicators that are not complete, as a
 * reader outside finds it. Both localities write into the same one, since they are one process. */

enum { MOST = 32 };

static struct {
    struct cohort__site_line sites[MOST];
    struct cohort__group_line groups[MOST];
    struct cohort__join_line joins[MOST];
    struct cohort__wait_line waits[MOST];
    struct cohort__pending_line pending[MOST];
    unsigned num_sites, num_groups, num_joins, num_waits, num_pending;
    uint64_t num_calls, num_ends, num_received, num_of_channels; /* among the events */
    uint32_t last_number;                                        /* of the last event */
    uint64_t last_generation;
} found;

static void add_site(void *context, const void *line)
{
    CHECK(found.num_sites < MOST);
    memcpy(&found.sites[found.num_sites++], line, sizeof(found.sites[0]));
}

static void add_group(void *context, const void *line)
{
    CHECK(found.num_groups < MOST);
    memcpy(&found.groups[found.num_groups++], line, sizeof(found.groups[0]));
}

static void add_join(void *context, const void *line)
{
    CHECK(found.num_joins < MOST);
    memcpy(&found.joins[found.num_joins++], line, sizeof(found.joins[0]));
}

static void add_wait(void *context, const void *line)
{
    CHECK(found.num_waits < MOST);
    memcpy(&found.waits[found.num_waits++], line, sizeof(found.waits[0]));
}

static void add_pending(void *context, const void *line)
{
    CHECK(found.num_pending < MOST);
    memcpy(&found.pending[found.num_pending++], line, sizeof(found.pending[0]));
}

static void add_events(void *context, const void *line)
{
    const struct cohort__worker_line *worker = line;
    CHECK(worker->thread != 0);
    const uint64_t num = worker->event_bytes / sizeof(worker->events[0]);
    CHECK(num <= COHORT__LEDGER_EVENTS);
    for (uint64_t i = 0; i < num; i++) {
        uint64_t what = worker->events[i].what;
        CHECK(worker->events[i].at <= worker->seen_at);
        const uint64_t kind = what >> COHORT__EVENT_KIND_SHIFT & 15;
        found.num_calls += kind == COHORT__EVENT_CALL;
        found.num_ends += kind == COHORT__EVENT_END;
        found.num_received += kind == COHORT__EVENT_RECEIVED;
        found.num_of_channels += kind == COHORT__EVENT_CHANNEL;
        found.last_number = (uint32_t)what & 0xfffff;
        found.last_generation = what >> COHORT__EVENT_GENERATION_SHIFT;
    }
}

static void read_ledger(void)
{
    static struct cohort__ledger_view view;
    int memory;
    uint32_t slot;
    memset(&found, 0, sizeof(found));
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_SITES, add_site, NULL));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_GROUPS, add_group, NULL));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_JOINS, add_join, NULL));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_WAITS, add_wait, NULL));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_PENDING, add_pending, NULL));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_WORKERS, add_events, NULL));
    close(memory);
}

/* What the task at TASK waits for, which is with its stamp, or only an address. */
static uintptr_t what_of(uintptr_t task)
{
    for (unsigned i = 0; i < found.num_waits; i++)
        if (found.waits[i].task == task || (found.waits[i].task & COHORT__LEDGER_ADDRESS) == task)
            return found.waits[i].what;
    return 0;
}

static unsigned num_waits_for(enum cohort__wait_kind kind)
{
    unsigned num = 0;
    for (unsigned i = 0; i < found.num_waits; i++)
        num += found.waits[i].what % COHORT__WAIT_KINDS == (uintptr_t)kind;
    return num;
}

/* Reads the ledger again and again, until a task waits for KIND. */
static void read_when_it_waits(enum cohort__wait_kind kind)
{
    do {
        cohort_yield();
        read_ledger();
    } while (num_waits_for(kind) == 0);
}

/* Sites -------------------------------------------------------------------------------------- */

static void check_lines(uint64_t called_by_0, uint64_t called_by_1)
{
    CHECK_INT(found.num_sites, 2);
    CHECK_INT(found.num_groups, 2); /* one in each locality */
    for (unsigned i = 0; i < 2; i++) {
        const struct cohort__site_line *line = &found.sites[i];
        CHECK(line->instance == found.groups[0].instance);
        CHECK_INT(line->rank, line->site);
        CHECK(line->task != 0);
        CHECK_INT((long long)line->last_called,
                  (long long)(line->site == 0 ? called_by_0 : called_by_1));
        CHECK_TEXT(found.groups[i].name, "seen");
        CHECK_INT(found.groups[i].num_sites, 2);
    }
    CHECK_INT(found.groups[0].rank + found.groups[1].rank, 1);
    CHECK(found.sites[0].number != found.sites[1].number);
}

/* Site 1 is late in generation 4. */
static cohort_status be_late(cohort_comm *comm, void *arg)
{
    double in = 1, out = 0;
    uint32_t site = cohort_comm_this_site(comm);
    for (uint64_t generation = 1; generation <= 3; generation++)
        CHECK_OK(cohort_await(
            cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, generation)));
    if (site == 1) {
        do
            read_when_it_waits(COHORT__WAIT_COLLECTIVE);
        while (found.last_generation < 4);
        check_lines(4, 3);
        for (unsigned i = 0; i < 2; i++) {
            uintptr_t what = what_of(found.sites[i].task);
            CHECK_INT(what % 16, found.sites[i].site == 0 ? COHORT__WAIT_COLLECTIVE : 0);
        }
        CHECK_INT(found.num_calls, 7);
        CHECK_INT(found.num_ends, 6);
        CHECK_INT(found.last_generation, 4);
    }
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, UINT64_C(4)));
    read_ledger();
    for (unsigned i = 0; i < found.num_sites; i++) /* the other one may have left */
        CHECK_INT(found.sites[i].last_called, 4);
    return status;
}

static void run(cohort_status (*site)(cohort_comm *comm, void *arg))
{
    struct cluster *cluster = cluster_create(1, 2, 0);
    CHECK_OK(cluster_sites(
        cluster, (struct sites){.name = "seen", .options = {.num_sites = 2}, .run = site}));
    cluster_destroy(cluster);
    read_ledger(); /* all have left */
    CHECK_INT(found.num_sites, 0);
    CHECK_INT(found.num_joins, 0);
}

TEST(sites)
{
    run(be_late);
    CHECK_INT(found.num_calls, 8);
    CHECK_INT(found.num_ends, 8);
}

/* Channels have no generations, but messages. */
static cohort_status send_late(cohort_comm *comm, void *arg)
{
    uint32_t site = cohort_comm_this_site(comm);
    uint64_t value = 7;
    if (site == 0)
        return cohort_await(cohort_channel_get(comm, 1, 5, &value, sizeof(value), NULL));
    read_when_it_waits(COHORT__WAIT_GET);
    CHECK_INT(num_waits_for(COHORT__WAIT_GET), 1);
    uint64_t before = found.num_of_channels;
    CHECK_OK(cohort_await(cohort_channel_set(comm, 0, 5, &value, sizeof(value))));
    while (found.num_of_channels == before) {
        cohort_yield();
        read_ledger();
    }
    CHECK_INT(found.num_of_channels, before + 1);
    CHECK_INT(found.last_generation, 5); /* the tag */
    return COHORT_OK;
}

TEST_CALL(channel, run(send_late))

/* What ticks find ---------------------------------------------------------------------------- */

/* That of SITE, as the ledger says it for a get that waits for a message with TAG. NULL: it does
 * not yet. */
static const struct cohort__pending *find_pending(uint32_t site, enum cohort__wait_kind kind,
                                                  uint64_t number)
{
    for (unsigned i = 0; i < found.num_pending; i++)
        for (uint32_t k = 0; found.pending[i].site == site && k < found.pending[i].num; k++)
            if (found.pending[i].of[k].kind % COHORT__WAIT_KINDS == (uint32_t)kind &&
                found.pending[i].of[k].number == number)
                return &found.pending[i].of[k];
    return NULL;
}

static bool is_described(uint32_t site, uint64_t generation)
{
    for (unsigned i = 0; i < found.num_pending; i++)
        if (found.pending[i].site == site && found.pending[i].described == generation) {
            CHECK_CONTAINS(found.pending[i].text, "site 1");
            return true;
        }
    return false;
}

/* Site 0 waits for site 1 for some ticks, in a collective alone. Its questions are no events. */
static cohort_status stall_in_call(cohort_comm *comm, void *arg)
{
    if (cohort_comm_this_site(comm) == 0)
        return cohort_await(cohort_barrier(comm, 1));
    read_ledger();
    uint64_t before = found.num_received;
    for (int ticks = 0; ticks < 5; ticks++)
        do {
            CHECK_OK(cohort_await(cohort_sleep(1000000)));
            read_ledger();
        } while (!find_pending(0, COHORT__WAIT_COLLECTIVE, 1) || !is_described(0, 1));
    CHECK_INT(found.num_pending, 1);
    CHECK_INT(found.pending[0].num, 1);
    CHECK_INT(found.pending[0].of[0].kind, COHORT__WAIT_COLLECTIVE | COHORT__PENDING_NEEDS_ALL);
    CHECK(found.num_received <= before + 1); /* without a board, the call itself */
    return cohort_await(cohort_barrier(comm, 1));
}

/* The same in two gets, too. */
static cohort_status stall(cohort_comm *comm, void *arg)
{
    uint32_t site = cohort_comm_this_site(comm);
    uint64_t value = 7, any = 7;
    if (site == 0) {
        cohort_future *get = cohort_channel_get(comm, 1, 5, &value, sizeof(value), NULL);
        cohort_future *get_any = cohort_channel_get_any(comm, 6, &any, sizeof(any), NULL, NULL);
        CHECK_OK(cohort_await(cohort_barrier(comm, 1)));
        CHECK_OK(cohort_await(get));
        return cohort_await(get_any);
    }
    const struct cohort__pending *get, *get_any, *call;
    do {
        CHECK_OK(cohort_await(cohort_sleep(1000000)));
        read_ledger();
        get = find_pending(0, COHORT__WAIT_GET, 5);
        get_any = find_pending(0, COHORT__WAIT_GET, 6);
        call = find_pending(0, COHORT__WAIT_COLLECTIVE, 1);
    } while (!get || !get_any || !call || !is_described(0, 1));
    CHECK_INT(found.num_pending, 1);
    CHECK_INT(found.pending[0].num, 3);
    CHECK_INT(get->site, 1);
    CHECK_INT(get_any->site, COHORT_ANY_SITE);
    CHECK_INT(num_waits_for(COHORT__WAIT_COLLECTIVE), 1);
    for (unsigned i = 0; i < found.num_waits; i++)
        if (found.waits[i].what % COHORT__WAIT_KINDS == COHORT__WAIT_COLLECTIVE) {
            CHECK_INT(found.waits[i].what, call->future + COHORT__WAIT_COLLECTIVE);
            CHECK(found.waits[i].since < found.pending[0].at);
        }
    CHECK_OK(cohort_await(cohort_channel_set(comm, 0, 5, &value, sizeof(value))));
    CHECK_OK(cohort_await(cohort_channel_set(comm, 0, 6, &value, sizeof(value))));
    return cohort_await(cohort_barrier(comm, 1));
}

/* A broadcast, or blocks with counts of their own, which may be empty, may need no other site. */
static cohort_status stall_alone(cohort_comm *comm, void *arg)
{
    const uint32_t site = cohort_comm_this_site(comm);
    const size_t counts[2] = {1, 1}, places[2] = {0, 1};
    int32_t in[2] = {1, 2}, out[2];
    for (uint64_t generation = 1; generation <= 2; generation++) {
        if (site == 0) /* which is the root */
            for (const struct cohort__pending *call = NULL; !call;) {
                CHECK_OK(cohort_await(cohort_sleep(1000000)));
                read_ledger();
                call = find_pending(1, COHORT__WAIT_COLLECTIVE, generation);
                CHECK(!call || call->kind == COHORT__WAIT_COLLECTIVE);
            }
        cohort_future *future =
            generation == 2 ? cohort_all_to_allv(comm, in, counts, places, out, counts, places,
                                                 COHORT_INT32, generation)
            : site == 0     ? cohort_broadcast_to(comm, in, 1, COHORT_INT32, generation)
                            : cohort_broadcast_from(comm, out, 1, COHORT_INT32, generation);
        CHECK_OK(cohort_await(future));
    }
    return COHORT_OK;
}

/* A site asks after a nanosecond, so at each tick at first. */
static void run_stalled(cohort_status (*site)(cohort_comm *comm, void *arg))
{
    struct cluster *cluster = cluster_create(1, 2, 0);
    CHECK_OK(cluster_sites(cluster, (struct sites){.name = "stall",
                                                   .options = {.num_sites = 2, .stall_after = 1},
                                                   .run = site}));
    cluster_destroy(cluster);
    read_ledger();
    CHECK_INT(found.num_pending, 0);
}

TEST(pending_call)
{
    run_stalled(stall_in_call);
    run_stalled(stall_alone);
}

TEST_CALL(pending, run_stalled(stall))

/* Creations ---------------------------------------------------------------------------------- */

struct creation {
    struct cluster *cluster;
    uint32_t site;
    cohort_future *future;
};

static cohort_status create_one(void *arg)
{
    struct creation *creation = arg;
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = 2, .this_site = creation->site};
    creation->future = cluster_create_comm(creation->cluster, &comm, "not complete", &options);
    cohort_status status = cohort_await(creation->future);
    cohort_comm_unref(comm);
    return status;
}

TEST(creation)
{
    struct cluster *cluster = cluster_create(1, 2, 0);
    struct creation first = {cluster, 1, NULL}, second = {cluster, 0, NULL};
    cohort_future *task = cohort_async(create_one, &first);
    read_when_it_waits(COHORT__WAIT_PLAIN);
    CHECK_INT(found.num_joins, 1);
    CHECK_TEXT(found.joins[0].name, "not complete");
    CHECK_INT(found.joins[0].site, 1);
    CHECK_INT(found.joins[0].num_sites, 2);
    CHECK_INT(found.joins[0].rank, 1);
    CHECK_INT(found.joins[0].kind, COHORT__JOIN_NAME);
    CHECK(found.joins[0].since > 0);
    CHECK_INT(found.joins[0].future, (uintptr_t)first.future);
    CHECK_INT(what_of((uintptr_t)task), (uintptr_t)first.future + COHORT__WAIT_PLAIN);
    CHECK_OK(cohort_await(cohort_async(create_one, &second)));
    CHECK_OK(cohort_await(task));
    cluster_destroy(cluster);
    read_ledger();
    CHECK_INT(found.num_joins, 0);
}

/* Site 1 takes part in the split late. Its child has the parent's name. */
TEST_SITE(split, run(site))
{
    cohort_comm *child = NULL;
    CHECK_OK(cohort_await(cohort_comm_dup(&child, comm, 1)));
    read_ledger();
    for (unsigned i = 0; i < found.num_sites; i++)
        CHECK(found.sites[i].task != 0);
    cohort_comm_unref(child);
}

int main(int argc, char **argv)
{
    int memory, status = cluster_test(argc, argv, 1);
    uint32_t slot;
    cohort__ledger_close(); /* so nothing may be left */
    CHECK_INT(cohort__ledger_find(getpid(), &memory, &slot), COHORT_ERR_STATE);
    return status;
}
