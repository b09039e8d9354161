/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/call.h"
#include "cohort/collectives.h"
#include "cohort/explain.h"
#include "cohort/layout.h"
#include "cohort/scope.h"
#include "cohort/split.h"
#include "cohort/survivors.h"
#include "cohort/task.h"
#include "collectives/comm/endpoint.h"
#include "runtime/base/clock.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* cohort_comm_cancel, case by case. All sites are played by one task, two in each locality. */

enum { SITES = 6, LOCALITIES = 3 };

struct row {
    struct cluster *cluster;
    cohort_comm *comms[SITES];
    int64_t in[SITES];
    int64_t out[COHORT__WINDOW][SITES]; /* calls in flight have memory of their own */
};

static struct row *row_create_with(cohort_comm_options options)
{
    struct row *row = calloc(1, sizeof(*row));
    cohort_future *made[SITES];
    CHECK(row);
    row->cluster = cluster_create(1, LOCALITIES, 0);
    cluster_place(row->cluster, CLUSTER_BLOCKS);
    options.num_sites = SITES;
    for (uint32_t site = 0; site < SITES; site++) {
        options.this_site = site;
        row->in[site] = 1;
        made[site] = cluster_create_comm(row->cluster, &row->comms[site], "row", &options);
    }
    CHECK_OK(cohort_await(cohort_when_all(made, SITES)));
    return row;
}

static struct row *row_create(void)
{
    return row_create_with((cohort_comm_options){0});
}

static void row_destroy(struct row *row)
{
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(row->comms[site]);
    cluster_destroy(row->cluster);
    free(row);
}

static int64_t *out_of(struct row *row, uint64_t generation)
{
    return row->out[generation % COHORT__WINDOW];
}

static cohort_future *add(struct row *row, uint32_t site, uint64_t generation)
{
    return cohort_all_reduce(row->comms[site], &row->in[site], &out_of(row, generation)[site], 1,
                             COHORT_INT64, COHORT_SUM, generation);
}

static void check_next(struct row *row, uint64_t generation)
{
    cohort_future *futures[SITES];
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = add(row, site, generation);
    CHECK_OK(cohort_await(cohort_when_all(futures, SITES)));
    for (uint32_t site = 0; site < SITES; site++)
        CHECK_INT(out_of(row, generation)[site], SITES);
}

static void check_refused(cohort_future *future, const char *text)
{
    CHECK_INT(cohort_await(future), COHORT_ERR_CANCELLED);
    CHECK_TEXT(cohort_error_message(), text);
}

#define TEST_ROW(name) TEST_WITH(name, struct row *, row, row_create(), row_destroy(row))

TEST_ROW(text)
{
    static const char text[] =
        "communicator \"row\", generation 1 all_reduce: 3 of 6 sites, missing 2 (locality 1, not "
        "called yet), 4 and 5 (locality 2, not called yet); site 3 has cancelled it";
    cohort_future *futures[SITES] = {
        [0] = add(row, 0, 1), [1] = add(row, 1, 1), [3] = add(row, 3, 1)};
    CHECK_OK(cohort_comm_cancel(row->comms[3], 1));
    CHECK_OK(cohort_await(cohort_comm_idle(row->comms[1])));
    CHECK(cohort_future_ready(futures[1]));
    for (uint32_t site = 0; site < SITES; site++)
        if (futures[site])
            check_refused(futures[site], text);
    check_refused(add(row, 2, 1), text);
    check_refused(add(row, 5, 1), text);
    check_next(row, 2); /* site 4 leaves it out */
}

/* Who has sent its block has completed, and keeps that. */
TEST(rooted)
{
    static const char text[] =
        "communicator \"row\", generation 1 gather: 3 of 6 sites, missing 1 (locality 0, not "
        "called "
        "yet), 4 and 5 (locality 2, not called yet); complete at 2 and 3; site 2 has cancelled it";
    struct row *row = row_create_with((cohort_comm_options){.algorithms = "gather=linear"});
    for (uint32_t site = 2; site < 4; site++)
        CHECK_OK(cohort_await(
            cohort_gather_there(row->comms[site], &row->in[site], 1, COHORT_INT64, 1)));
    cohort_future *root =
        cohort_gather_here(row->comms[0], &row->in[0], row->out[0], 1, COHORT_INT64, 1);
    CHECK_OK(cohort_comm_cancel(row->comms[2], 1));
    check_refused(root, text);
    check_refused(cohort_gather_there(row->comms[5], &row->in[5], 1, COHORT_INT64, 1), text);
    check_next(row, 2);
    row_destroy(row);
}

/* Nothing is taken back of what all have, and a second cancel is none. */
TEST_ROW(complete)
{
    check_next(row, 1);
    for (uint32_t site = 0; site < SITES; site++)
        CHECK_OK(cohort_comm_cancel(row->comms[site], 1));
    check_next(row, 2);
    cohort_future *future = add(row, 0, 3);
    CHECK_OK(cohort_comm_cancel(row->comms[5], 3));
    CHECK_OK(cohort_comm_cancel(row->comms[0], 3));
    CHECK_INT(cohort_await(future), COHORT_ERR_CANCELLED);
    CHECK_OK(cohort_comm_cancel(row->comms[0], 3));
    for (uint32_t site = 1; site < SITES; site++)
        CHECK_INT(cohort_await(add(row, site, 3)), COHORT_ERR_CANCELLED);
    /* As soon as all sites have gone on behind the ends of their calls, that is forgotten, so to
     * ask again is answered again. */
    uint64_t sent;
    int looks = 0;
    do {
        sent = cluster_num_sent(row->cluster);
        CHECK_OK(cohort_comm_cancel(row->comms[0], 3));
        CHECK(looks++ < 10000);
    } while (cluster_num_sent(row->cluster) < sent + 4 * (LOCALITIES - 1));
    check_next(row, 4);
}

/* All leave while a verdict is under way, and their group is freed: it gives its number back, of
 * which the home lends the lowest first. */
TEST(left_by_all)
{
    enum { ROUNDS = 12, MOST_LOOKS = 100000 };
    struct cluster *cluster = cluster_create(1, LOCALITIES, 0);
    cluster_place(cluster, CLUSTER_BLOCKS);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool is_lowest = false;
        for (uint32_t looks = 0; !is_lowest; looks++) {
            cohort_comm *comms[SITES];
            char name[24];
            snprintf(name, sizeof(name), "left %u %u", round, looks);
            cluster_create_comms(cluster, comms, name, (cohort_comm_options){.num_sites = SITES});
            is_lowest = comms[0]->group->membership->number < LOCALITIES;
            if (is_lowest)
                CHECK_OK(cohort_comm_cancel(comms[round % SITES], 1));
            for (uint32_t site = 0; site < SITES; site++)
                cohort_comm_unref(comms[site]);
            (void)cluster_num_sent(cluster);
            CHECK(looks < MOST_LOOKS);
        }
    }
    cluster_destroy(cluster);
}

/* Before anybody has called. */
TEST(in_advance)
{
    struct row *row = row_create_with((cohort_comm_options){.auto_generation = true});
    CHECK_OK(cohort_comm_cancel(row->comms[4], 2));
    (void)cluster_num_sent(row->cluster); /* all of that has arrived */
    check_next(row, COHORT_AUTO_GENERATION);
    for (uint32_t site = 0; site < SITES; site++)
        check_refused(
            add(row, site, COHORT_AUTO_GENERATION),
            "communicator \"row\", generation 2: 0 of 6 sites, missing 0, 1 (locality 0, "
            "not called yet), 2, 3 (locality 1, not called yet), 4 and 5 (locality 2, not "
            "called yet); site 4 has cancelled it");
    check_next(row, COHORT_AUTO_GENERATION);
    row_destroy(row);
}

/* A call that the window keeps waiting is refused at once. */
TEST_ROW(window)
{
    enum { CALLS = 70 };
    cohort_future *futures[CALLS + 1];
    int64_t in = 1, out[CALLS + 1];
    for (uint64_t generation = 1; generation <= CALLS; generation++)
        futures[generation] = cohort_all_reduce(row->comms[2], &in, &out[generation], 1,
                                                COHORT_INT64, COHORT_SUM, generation);
    CHECK_OK(cohort_comm_cancel(row->comms[2], CALLS - 1));
    CHECK_FAILS(cohort_await(futures[CALLS - 1]), COHORT_ERR_CANCELLED,
                "generation 69 all_reduce: 1 of 6 sites");
    CHECK(!cohort_future_ready(futures[1]) && !cohort_future_ready(futures[CALLS]));
    for (uint64_t generation = 1; generation <= CALLS; generation++)
        CHECK_OK(cohort_comm_cancel(row->comms[1], generation));
    for (uint64_t generation = 1; generation <= CALLS; generation++)
        if (generation != CALLS - 1)
            CHECK_INT(cohort_await(futures[generation]), COHORT_ERR_CANCELLED);
    check_next(row, CALLS + 1);
}

/* The same if it is called later. */
TEST_ROW(window_late)
{
    enum { CALLS = 66 };
    cohort_future *futures[CALLS + 1];
    int64_t in = 1, out[CALLS + 1];
    CHECK_OK(cohort_comm_cancel(row->comms[0], CALLS));
    (void)cluster_num_sent(row->cluster);
    for (uint64_t generation = 1; generation <= CALLS; generation++)
        futures[generation] = cohort_all_reduce(row->comms[2], &in, &out[generation], 1,
                                                COHORT_INT64, COHORT_SUM, generation);
    CHECK_INT(cohort_await(futures[CALLS]), COHORT_ERR_CANCELLED);
    CHECK(!cohort_future_ready(futures[1]) && !cohort_future_ready(futures[CALLS - 1]));
    for (uint64_t generation = 1; generation < CALLS; generation++)
        CHECK_OK(cohort_comm_cancel(row->comms[2], generation));
    for (uint64_t generation = 1; generation < CALLS; generation++)
        CHECK_INT(cohort_await(futures[generation]), COHORT_ERR_CANCELLED);
    check_next(row, CALLS + 1);
}

/* Sites leave while a verdict is under way. */
TEST(leaving)
{
    for (uint32_t leaver = 0; leaver < SITES; leaver++) {
        struct row *row = row_create();
        cohort_future *futures[SITES];
        for (uint32_t site = 0; site < SITES - 1; site++)
            futures[site] = add(row, site, 1);
        CHECK_OK(cohort_comm_cancel(row->comms[SITES - 2], 1));
        cohort_comm_unref(row->comms[leaver]);
        row->comms[leaver] = NULL;
        for (uint32_t site = 0; site < SITES - 1; site++) {
            cohort_status status = cohort_await(futures[site]);
            CHECK(status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE);
        }
        row_destroy(row);
    }
}

/* The hidden call of a split. */
TEST_ROW(split)
{
    cohort_comm *parts[SITES] = {NULL};
    cohort_future *futures[SITES];
    for (uint32_t site = 1; site < SITES; site++)
        futures[site] = cohort_comm_split(&parts[site], row->comms[site], 0, 0, 1);
    CHECK_OK(cohort_comm_cancel(row->comms[0], 1));
    futures[0] = NULL;
    for (uint32_t site = 1; site < SITES; site++) {
        CHECK_FAILS(cohort_await(futures[site]), COHORT_ERR_CANCELLED,
                    "generation 1 split: all_gather: 5 of 6 sites, "
                    "missing 0 (locality 0, not called yet)");
    }
    CHECK_INT(cohort_await(cohort_comm_split(&parts[0], row->comms[0], 0, 0, 1)),
              COHORT_ERR_CANCELLED);
    check_next(row, 2);
}

/* Sites cancel while others, in their locality too, are still being made. */
static cohort_status cancel_at_once(cohort_comm *comm, void *arg)
{
    int64_t in = 1, out;
    if (cohort_comm_this_site(comm) % 2 == 0)
        CHECK_OK(cohort_comm_cancel(comm, 1));
    cohort_status first =
        cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_INT64, COHORT_SUM, 1));
    CHECK(first == COHORT_OK || first == COHORT_ERR_CANCELLED);
    return cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_INT64, COHORT_SUM, 2));
}

TEST(at_once)
{
    struct cluster *cluster = cluster_create(3, LOCALITIES, 0);
    for (uint32_t round = 0; round < 50; round++) {
        char name[20];
        snprintf(name, sizeof(name), "at once %u", round);
        CHECK_OK(cluster_sites(cluster, (struct sites){.name = name,
                                                       .options = {.num_sites = 4 * SITES},
                                                       .run = cancel_at_once}));
    }
    cluster_destroy(cluster);
}

/* Deadlines ----------------------------------------------------------------------------------- */

enum { SHORT = 3000000, NEVER = 1000 }; /* ns, s */

static void set_deadline(struct row *row, uint32_t site, uint64_t nanoseconds)
{
    cohort_call_options options = {.deadline = nanoseconds};
    CHECK_OK(cohort_comm_next_call(row->comms[site], &options));
}

/* The shortest of different deadlines counts. */
TEST_ROW(deadline)
{
    cohort_future *futures[SITES];
    const uint32_t order[] = {1, 2, 4, 5, 3}; /* all others have called when that of 3 is over */
    const uint64_t begin = cohort__clock_now();
    for (int i = 0; i < 5; i++) {
        uint32_t site = order[i];
        if (site != 4)
            set_deadline(row, site, site == 3 ? SHORT : NEVER * UINT64_C(1000000000));
        futures[site] = add(row, site, 1);
    }
    for (uint32_t site = 1; site < SITES; site++) {
        CHECK_INT(cohort_await(futures[site]), COHORT_ERR_TIMEOUT);
        CHECK_TEXT(
            cohort_error_message(),
            "communicator \"row\", generation 1 all_reduce: 5 of 6 sites, missing 0 "
            "(locality 0, not called yet); the deadline of site 3 is over, 0.003 s after its "
            "call");
    }
    CHECK(cohort__clock_now() - begin >= SHORT);
    CHECK_INT(cohort_await(add(row, 0, 1)), COHORT_ERR_TIMEOUT);
    set_deadline(row, 2, NEVER * UINT64_C(1000000000)); /* and now it ends before */
    check_next(row, 2);
}

/* Who sets it has called, however long the call takes to be made: here it packs a column. */
TEST_ROW(deadline_of_a_long_call)
{
    enum { NUM = 1 << 18, CALLS = 20 };
    int64_t *in = calloc(2 * NUM, sizeof(*in)), *out = calloc(NUM, sizeof(*out));
    cohort_layout *column;
    CHECK(in && out);
    CHECK_OK(cohort_layout_create_vector(&column, NUM, 1, 2));
    for (uint64_t generation = 1; generation <= CALLS; generation++) {
        cohort_call_options options = {.deadline = 1, .in_layout = column};
        CHECK_OK(cohort_comm_next_call(row->comms[3], &options));
        CHECK_FAILS(cohort_await(cohort_all_reduce(row->comms[3], in, out, NUM, COHORT_INT64,
                                                   COHORT_SUM, generation)),
                    COHORT_ERR_TIMEOUT, "all_reduce: 1 of 6 sites, missing 0, 1");
    }
    cohort_layout_unref(column);
    free(in);
    free(out);
    check_next(row, CALLS + 1);
}

/* Of all calls; one of them has one of its own. Calls that end in time leave nothing. */
TEST(deadline_of_all)
{
    enum { MANY = 5000 };
    struct row *row = row_create_with((cohort_comm_options){.deadline = SHORT});
    cohort_future *waits[2];
    set_deadline(row, 4, NEVER * UINT64_C(1000000000)); /* both have called, however slow this is */
    waits[0] = add(row, 4, 1);
    waits[1] = add(row, 3, 1);
    for (int i = 0; i < 2; i++) {
        CHECK_FAILS(cohort_await(waits[i]), COHORT_ERR_TIMEOUT,
                    "generation 1 all_reduce: 2 of 6 sites");
        CHECK_CONTAINS(cohort_error_message(), "the deadline of site 3 is over");
    }
    row_destroy(row);
    row = row_create_with((cohort_comm_options){.deadline = NEVER * UINT64_C(1000000000)});
    for (uint64_t generation = 1; generation <= MANY; generation++)
        check_next(row, generation);
    set_deadline(row, 1, SHORT);
    CHECK_INT(cohort_await(add(row, 1, MANY + 1)), COHORT_ERR_TIMEOUT);
    row_destroy(row);
}

/* A site leaves, and the job ends, while its call has a deadline. */
TEST_ROW(deadline_left)
{
    set_deadline(row, 5, NEVER * UINT64_C(1000000000));
    cohort_future *future = add(row, 5, 1);
    cohort_comm_unref(row->comms[5]);
    row->comms[5] = NULL;
    CHECK_INT(cohort_await(future), COHORT_ERR_CANCELLED);
}

/* Scopes -------------------------------------------------------------------------------------- */

struct scoped {
    struct row *row;
    uint32_t site;
    uint64_t first, last;   /* generations */
    cohort_promise *called; /* told when all calls are made */
    cohort_status status;   /* of the last one */
    char text[300];
};

static cohort_status call_in_scope(void *arg)
{
    struct scoped *scoped = arg;
    cohort_future *futures[16];
    for (uint64_t generation = scoped->first; generation <= scoped->last; generation++)
        futures[generation - scoped->first] = add(scoped->row, scoped->site, generation);
    if (scoped->called)
        cohort_promise_fulfil(scoped->called, NULL);
    for (uint64_t generation = scoped->first; generation <= scoped->last; generation++) {
        scoped->status = cohort_await(futures[generation - scoped->first]);
        snprintf(scoped->text, sizeof(scoped->text), "%s",
                 scoped->status ? cohort_error_message() : "");
    }
    return COHORT_OK;
}

/* Of the calls of a site, those are taken back whose task is in the scope, and at all sites. */
TEST(scope)
{
    struct row *row = row_create();
    struct scoped scoped = {.row = row, .site = 3, .first = 2, .last = 4};
    cohort_future *called, *before = add(row, 3, 1), *after, *others[5];
    scoped.called = new_promise(&called);
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, call_in_scope, &scoped));
    CHECK_OK(cohort_await(called));
    after = add(row, 3, 5);
    for (uint64_t generation = 1; generation <= 4; generation++)
        others[generation] = add(row, 0, generation);
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK_INT(scoped.status, COHORT_ERR_CANCELLED);
    CHECK_CONTAINS(scoped.text, "generation 4 all_reduce: ");
    CHECK_CONTAINS(scoped.text, "; the scope of the task of site 3 is cancelled");
    for (uint64_t generation = 2; generation <= 4; generation++)
        CHECK_INT(cohort_await(others[generation]), COHORT_ERR_CANCELLED);
    CHECK(!cohort_future_ready(before) && !cohort_future_ready(after));
    for (uint32_t site = 0; site < SITES; site++)
        for (uint64_t generation = site == 0 ? 5 : 1; site != 3 && generation <= 5; generation++) {
            bool is_right = generation == 1 || generation == 5;
            cohort_future *future = add(row, site, generation);
            if (!is_right)
                CHECK_INT(cohort_await(future), COHORT_ERR_CANCELLED);
            else
                cohort_future_unref(future);
        }
    CHECK_OK(cohort_await(others[1]));
    CHECK_OK(cohort_await(before));
    CHECK_OK(cohort_await(after));
    check_next(row, 6);
    row_destroy(row);
}

/* Calls of the scope before and after one that is not of it. */
TEST(scope_around)
{
    struct row *row = row_create();
    struct scoped parts[2];
    cohort_future *between = NULL;
    cohort_scope *scope = new_scope();
    for (uint32_t i = 0; i < 2; i++) {
        cohort_future *called;
        parts[i] = (struct scoped){.row = row, .site = 2, .first = 1 + 2 * i, .last = 1 + 2 * i};
        parts[i].called = new_promise(&called);
        CHECK_OK(cohort_scope_async(scope, call_in_scope, &parts[i]));
        CHECK_OK(cohort_await(called));
        if (i == 0)
            between = add(row, 2, 2);
    }
    cohort_scope_cancel(scope);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
    CHECK(parts[0].status == COHORT_ERR_CANCELLED && parts[1].status == COHORT_ERR_CANCELLED);
    (void)cluster_num_sent(row->cluster);
    CHECK(!cohort_future_ready(between));
    CHECK_OK(cohort_comm_cancel(row->comms[2], 2));
    CHECK_INT(cohort_await(between), COHORT_ERR_CANCELLED);
    row_destroy(row);
}

/* A call that a task makes after its scope was cancelled; and many scopes, one after the other. */
static cohort_status call_too_late(void *arg)
{
    struct scoped *scoped = arg;
    cohort_scope_cancel(cohort_scope_current());
    return call_in_scope(scoped);
}

/* How many scopes a site watches. Those whose calls have ended are forgotten now and then. */
static uint32_t num_watched(cohort_comm *comm)
{
    uint32_t num = 0;
    pthread_mutex_lock(&comm->group->lock);
    for (struct cohort__list *link = comm->scoped.next; link != &comm->scoped; link = link->next)
        num++;
    pthread_mutex_unlock(&comm->group->lock);
    return num;
}

/* The scope may be cancelled before its task begins. The others, a third, call. */
TEST(scopes)
{
    enum { MANY = 900, FEW = 80 };
    uint32_t most = 0;
    struct row *row = row_create();
    for (uint64_t i = 0; i < MANY; i++) {
        bool is_late = i % 3 == 0;
        struct scoped scoped = {.row = row, .site = (uint32_t)i % 2, .first = i + 1, .last = i + 1};
        uint32_t num = num_watched(row->comms[0]);
        most = num > most ? num : most;
        cohort_scope *scope = new_scope();
        CHECK_OK(cohort_scope_async(scope, is_late ? call_too_late : call_in_scope, &scoped));
        if (!is_late)
            cohort_scope_cancel(scope);
        CHECK_INT(cohort_scope_await(scope), COHORT_ERR_CANCELLED);
        CHECK(scoped.status == COHORT_ERR_CANCELLED || (!is_late && scoped.status == COHORT_OK));
    }
    CHECK(most >= FEW / 2 && most <= FEW);
    check_next(row, MANY + 1);
    row_destroy(row);
}

/* Creating ------------------------------------------------------------------------------------ */

/* Who has not joined is named; who joins later is told, and then may join again as all others. */
TEST(creation)
{
    struct cluster *cluster = cluster_create(1, LOCALITIES, 0);
    cohort_comm *comms[SITES] = {NULL};
    cohort_future *made[SITES] = {NULL};
    cohort_comm_options options = {.num_sites = SITES};
    const uint32_t order[] = {0, 2, 5, 4};
    for (int i = 0; i < 4; i++) {
        options.this_site = order[i];
        options.create_deadline = order[i] == 4 ? SHORT : NEVER * UINT64_C(1000000000);
        if (order[i] == 4)
            (void)cluster_num_sent(cluster); /* the others' joins are there */
        made[order[i]] = cluster_create_comm(cluster, &comms[order[i]], "late", &options);
    }
    for (uint32_t site = 0; site < SITES; site++) {
        if (!made[site])
            continue;
        CHECK_INT(cohort_await(made[site]), COHORT_ERR_TIMEOUT);
        CHECK_CONTAINS(
            cohort_error_message(),
            "communicator \"late\": 4 of 6 sites have joined, missing 1 and 3; site 4 of "
            "locality 1 waits no longer: 0.003 s are over");
    }
    options.create_deadline = 0;
    for (uint32_t site = 1; site <= 3; site += 2) {
        options.this_site = site;
        CHECK_INT(cohort_await(cluster_create_comm(cluster, &comms[site], "late", &options)),
                  COHORT_ERR_TIMEOUT);
    }
    options.create_deadline = NEVER * UINT64_C(1000000000);
    for (uint32_t site = 0; site < SITES; site++) {
        options.this_site = site;
        made[site] = cluster_create_comm(cluster, &comms[site], "late", &options);
    }
    CHECK_OK(cohort_await(cohort_when_all(made, SITES)));
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(comms[site]);
    cluster_destroy(cluster);
}

/* The deadline is over while the last ones join: all have the same result. */
TEST(creation_race)
{
    struct cluster *cluster = cluster_create(2, LOCALITIES, 0);
    for (uint32_t round = 0; round < 100; round++) {
        cohort_comm *comms[SITES] = {NULL};
        cohort_future *made[SITES];
        char name[20];
        uint32_t num_ok = 0;
        snprintf(name, sizeof(name), "race %u", round);
        cohort_comm_options options = {.num_sites = SITES, .create_deadline = 1000 * (1 + round)};
        for (uint32_t site = 0; site < SITES; site++) {
            options.this_site = site;
            made[site] = cluster_create_comm(cluster, &comms[site], name, &options);
        }
        for (uint32_t site = 0; site < SITES; site++) {
            cohort_status status = cohort_await(made[site]);
            CHECK(status == COHORT_OK || status == COHORT_ERR_TIMEOUT);
            num_ok += status == COHORT_OK;
            cohort_comm_unref(status ? NULL : comms[site]);
        }
        CHECK(num_ok == 0 || num_ok == SITES);
    }
    cluster_destroy(cluster);
}

/* What waits for others to join or to agree. */
enum gathering { CREATE, AGREE, SHRINK, NUM_GATHERINGS };

struct joining {
    struct row *row;
    enum gathering gathering;
    uint32_t site;
    cohort_comm *made;
    cohort_agreed agreed;
    _Atomic bool has_called;
    cohort_status status;
    char text[300];
};

static cohort_future *call_to_join(struct joining *joining)
{
    const cohort_comm_options options = {.num_sites = SITES, .this_site = joining->site};
    cohort_comm *comm = joining->row->comms[joining->site];
    if (joining->gathering == CREATE)
        return cluster_create_comm(joining->row->cluster, &joining->made, "scoped", &options);
    return joining->gathering == AGREE ? cohort_comm_agree(comm, 1, &joining->agreed)
                                       : cohort_comm_shrink(&joining->made, comm);
}

static cohort_status join(void *arg)
{
    struct joining *joining = arg;
    cohort_future *joined = call_to_join(joining);
    joining->has_called = true;
    joining->status = cohort_await(joined);
    snprintf(joining->text, sizeof(joining->text), "%s",
             joining->status ? cohort_error_message() : "");
    return COHORT_OK;
}

/* Site 3 is in a scope that is cancelled; site 5 comes after that. Then all come once more. */
static void gather_in_scope(enum gathering gathering)
{
    struct row *row = row_create();
    struct joining all[SITES];
    cohort_future *joined[SITES] = {NULL};
    for (uint32_t site = 0; site < SITES; site++)
        all[site] = (struct joining){.row = row, .gathering = gathering, .site = site};
    for (uint32_t site = 0; site < SITES - 1; site++)
        if (site != 3)
            joined[site] = cohort_async(join, &all[site]);
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, join, &all[3]));
    YIELD_WHILE(!all[3].has_called);
    CHECK_INT(cohort_scope_fail(scope, COHORT_ERR_SYSTEM, "no ink"), COHORT_ERR_SYSTEM);
    CHECK_INT(cohort_scope_await(scope), COHORT_ERR_SYSTEM);
    joined[5] = cohort_async(join, &all[5]);
    for (uint32_t site = 0; site < SITES; site++) {
        if (site != 3)
            CHECK_OK(cohort_await(joined[site]));
        CHECK_INT(all[site].status, COHORT_ERR_CANCELLED);
        CHECK_CONTAINS(all[site].text, "of 6 sites have joined, missing ");
        CHECK_CONTAINS(all[site].text, "; site 3 of locality 1 waits no longer: its scope was "
                                       "cancelled: no ink");
    }
    for (uint32_t site = 0; site < SITES; site++)
        joined[site] = cohort_async(join, &all[site]);
    CHECK_OK(cohort_await(cohort_when_all(joined, SITES)));
    for (uint32_t site = 0; site < SITES; site++) {
        CHECK_OK(all[site].status);
        cohort_comm_unref(all[site].made);
    }
    row_destroy(row);
}

TEST(gathering_in_scope)
{
    for (enum gathering gathering = CREATE; gathering < NUM_GATHERINGS; gathering++)
        gather_in_scope(gathering);
}

TEST_ROW(wrong)
{
    CHECK_INT(cohort_comm_cancel(NULL, 1), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_comm_cancel(row->comms[1], 0), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(),
               "cohort_comm_cancel: communicator \"row\", site 1: there is no generation 0");
    CHECK_INT(cohort_comm_cancel(row->comms[1], COHORT_AUTO_GENERATION), COHORT_ERR_BAD_PARAMETER);
}
