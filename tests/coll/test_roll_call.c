/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/cohort.h"
#include "runtime/base/container.h"
#include "runtime/task/future.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* A call has sent all of its messages and only waits until other sites have taken them. Its
 * roll-call names these sites, and they are asked, like sites whose messages it waits for. */

enum { NUM_LOCALITIES = 2, NUM_SITES = 3 }; /* site 2 is in the locality of site 0 */

static unsigned char data[NUM_SITES][3 << 20];
static cohort_promise *others_may_come;
static cohort_future *others_come;

/* Until a roll-call, which is always of CALL, has both WANTED. It names no site twice. */
static void await_text(cohort_comm *comm, const char *call, const char *const *wanted)
{
    for (bool has_all = false; !has_all;) {
        void *text;
        CHECK_OK(cohort_await_value(cohort_comm_roll_call(comm), &text));
        CHECK_CONTAINS(text, call);
        const char *first = strstr(text, "waits for site 1 ");
        CHECK(!first || !strstr(first + 1, "waits for site 1 "));
        has_all = strstr(text, wanted[0]) && strstr(text, wanted[1]);
        free(text);
        if (!has_all)
            CHECK_OK(cohort_await(cohort_sleep(10000000)));
    }
}

static cohort_status broadcast(cohort_comm *comm, void *arg)
{
    static const char *const wanted[] = {"site 1 (locality 1), not called yet",
                                         "site 2 (locality 0), not called yet"};
    uint32_t me = cohort_comm_this_site(comm);
    cohort_call_options linear = {.algorithm = "linear"};
    CHECK_OK(cohort_comm_next_call(comm, &linear));
    if (me != 0) {
        CHECK_OK(cohort_await(cohort_future_ref(others_come)));
        return cohort_await(
            cohort_broadcast_from(comm, data[me], sizeof(data[me]), COHORT_UINT8, 1));
    }
    cohort_future *call = cohort_broadcast_to(comm, data[0], sizeof(data[0]), COHORT_UINT8, 1);
    await_text(comm, "generation 1, broadcast", wanted);
    CHECK(!cohort_future_ready(call));
    cohort_promise_fulfil(others_may_come, NULL);
    return cohort_await(call);
}

TEST(untaken)
{
    struct cluster *cluster = cluster_create(1, NUM_LOCALITIES, 0);
    others_may_come = new_promise(&others_come);
    CHECK_OK(
        cluster_sites(cluster, (struct sites){
                                   .name = "untaken",
                                   .options = {.num_sites = NUM_SITES, .stall_after = 10000000},
                                   .run = broadcast,
                               }));
    cohort_future_unref(others_come);
    cluster_destroy(cluster);
}

/* Site 0 waits for two blocks of site 1, and until that one has taken what it sends. */
static cohort_status exchange(cohort_comm *comm, void *arg)
{
    static const char *const wanted[] = {"site 1 (locality 1), not called yet;\n", ""};
    const uint32_t other = 1 - cohort_comm_this_site(comm);
    const size_t large = sizeof(data[0]) - 2;
    const cohort_neighbour to[] = {{other, 0, large}, {other, large, 1}};
    if (other == 0)
        CHECK_OK(cohort_await(cohort_future_ref(others_come)));
    cohort_future *call =
        cohort_exchange(comm, data[2], to, 2, data[1 - other], to, 2, COHORT_UINT8, 1);
    if (other == 1) {
        await_text(comm, "generation 1, exchange", wanted);
        cohort_promise_fulfil(others_may_come, NULL);
    }
    return cohort_await(call);
}

TEST(once)
{
    struct cluster *cluster = cluster_create(1, NUM_LOCALITIES, 0);
    others_may_come = new_promise(&others_come);
    CHECK_OK(
        cluster_sites(cluster, (struct sites){.name = "once",
                                              .options = {.num_sites = 2, .stall_after = 10000000},
                                              .run = exchange}));
    cohort_future_unref(others_come);
    cluster_destroy(cluster);
}

/* A row that follows the machine: two sites in each of two localities on each of two hosts. Site 5
 * comes late: site 4, of its locality, says that it meets it. Those who wait for a leader hear from
 * it who is waited for there, over all levels. */

enum { LATE = 5, NUM_COMPOSED = 8 };

static atomic_uint num_told; /* sites whose roll-call has named the late one */

static cohort_status reduce_late(cohort_comm *comm, void *arg)
{
    static const char *const meets[] = {"meets in its locality, and waits for site 5 (locality 2)",
                                        "not called yet"};
    static const char *const waits[] = {
        ", called there and not over, where site 5 (locality 2) is waited for", ""};
    uint32_t me = cohort_comm_this_site(comm);
    double in = 1, out = 0;
    if (me == LATE)
        CHECK_OK(cohort_await(cohort_future_ref(others_come)));
    cohort_future *call = cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 1);
    if (me != LATE) {
        await_text(comm, "generation 1, all_reduce (levels(", me == LATE - 1 ? meets : waits);
        if (atomic_fetch_add(&num_told, 1) + 1 == NUM_COMPOSED - 1)
            cohort_promise_fulfil(others_may_come, NULL);
    }
    CHECK_OK(cohort_await(call));
    CHECK(out == NUM_COMPOSED);
    return COHORT_OK;
}

TEST(composed)
{
    static const struct cohort__position positions[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}};
    struct cluster *cluster = cluster_create(1, 4, 0);
    cluster_place(cluster, CLUSTER_BLOCKS);
    cluster_locate(cluster, positions);
    others_may_come = new_promise(&others_come);
    CHECK_OK(cluster_sites(cluster, (struct sites){
                                        .name = "composed",
                                        .options = {.num_sites = NUM_COMPOSED,
                                                    .algorithms = "all_reduce=levels",
                                                    .stall_after = 10000000},
                                        .run = reduce_late,
                                    }));
    cohort_future_unref(others_come);
    cluster_destroy(cluster);
}

/* As the first call ends, the one that waits for the window has its line at once. */

enum { WINDOW = 64 }; /* of calls in flight */

struct asker {
    struct cohort__waiter waiter;
    cohort_comm *comm;
    cohort_future *roll_call;
};

static void ask(struct cohort__waiter *waiter)
{
    struct asker *asker = COHORT_CONTAINER_OF(waiter, struct asker, waiter);
    asker->roll_call = cohort_comm_roll_call(asker->comm);
}

static cohort_promise *others_may_end;
static cohort_future *others_end;

static cohort_status wait_for_window(cohort_comm *comm, void *arg)
{
    const bool is_late = cohort_comm_this_site(comm) == 1;
    if (is_late)
        CHECK_OK(cohort_await(cohort_future_ref(others_come)));
    cohort_future *first = cohort_barrier(comm, 1);
    if (is_late) {
        CHECK_OK(cohort_await(first));
        CHECK_OK(cohort_await(cohort_future_ref(others_end)));
        return cohort_await(cohort_barrier(comm, 1 + WINDOW));
    }
    struct asker asker = {.waiter = {.notify = ask}, .comm = comm};
    cohort_future *second = cohort_barrier(comm, 1 + WINDOW);
    void *text;
    CHECK(cohort__future_wait_with(first, &asker.waiter));
    cohort_promise_fulfil(others_may_come, NULL);
    CHECK_OK(cohort_await(first));
    CHECK_OK(cohort_await_value(asker.roll_call, &text));
    CHECK_CONTAINS(text, "generation 65, barrier");
    free(text);
    cohort_promise_fulfil(others_may_end, NULL);
    return cohort_await(second);
}

TEST(window)
{
    struct cluster *cluster = cluster_create(1, NUM_LOCALITIES, 0);
    others_may_come = new_promise(&others_come);
    others_may_end = new_promise(&others_end);
    CHECK_OK(cluster_sites(
        cluster,
        (struct sites){.name = "window", .options = {.num_sites = 2}, .run = wait_for_window}));
    cohort_future_unref(others_come);
    cohort_future_unref(others_end);
    cluster_destroy(cluster);
}

TEST(nothing)
{
    CHECK_FAILS(cohort_await(cohort_comm_roll_call(NULL)), COHORT_ERR_BAD_PARAMETER,
                "cohort_comm_roll_call");
    CHECK_FAILS(cohort_await(cohort_comm_idle(NULL)), COHORT_ERR_BAD_PARAMETER, "cohort_comm_idle");
}
