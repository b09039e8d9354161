/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* Rows that follow the machine, on three played hosts. The sites of one host call only when all
 * others have got the rows that do not come from it: these must not wait for the rest. */

enum { NUM_HOSTS = 3, NUM_LOCALITIES = 6, NUM_SITES = 12, ROOT = 7, LONG = 3000 };
static const uint64_t patience = 60 * UINT64_C(1000000000);

struct round {
    enum exercise_kind kind;
    enum cluster_placement placement;
    uint32_t held; /* the host */
    size_t count;
    _Atomic uint32_t num_left; /* sites that have yet to get their rows */
    cohort_promise *have_rows;
    cohort_future *may_call;
};

static uint32_t host_of(const struct round *round, uint32_t site)
{
    return cluster_locality(round->placement, 1, NUM_LOCALITIES, site, NUM_SITES) /
           (NUM_LOCALITIES / NUM_HOSTS);
}

static void await_rows(const struct round *round, const struct exercise *exercise)
{
    for (uint32_t row = 0; row < exercise->num_rows; row++) {
        cohort_future *future = exercise->rows[row];
        if (host_of(round, row) == round->held)
            continue;
        cohort_status status = await_within(cohort_future_ref(future), patience);
        if (status)
            FAIL("%s: site %u waits for row %u: %s", exercise_name(round->kind),
                 cohort_comm_this_site(exercise->comm), row, cohort_error_message());
    }
}

static cohort_status run_site(cohort_comm *comm, void *arg)
{
    struct round *round = arg;
    struct exercise exercise;
    const struct exercise_options options = {
        .rows = true, .has_root = true, .root = ROOT, .algorithm = "levels(linear)"};
    bool is_held = host_of(round, cohort_comm_this_site(comm)) == round->held;
    if (is_held)
        CHECK_OK(cohort_await(cohort_future_ref(round->may_call)));
    exercise_begin_with(&exercise, comm, round->kind, round->count, 1, options);
    if (!is_held) {
        await_rows(round, &exercise);
        if (--round->num_left == 0)
            cohort_promise_fulfil(round->have_rows, NULL);
    }
    return exercise_end(&exercise);
}

static void run(struct round round)
{
    struct cluster *cluster = cluster_create(1, NUM_LOCALITIES, 0);
    struct cohort__position positions[NUM_LOCALITIES] = {{0}};
    for (uint32_t i = 0; i < NUM_LOCALITIES; i++)
        positions[i].host = i / (NUM_LOCALITIES / NUM_HOSTS);
    cluster_locate(cluster, positions);
    cluster_place(cluster, round.placement);
    round.num_left = NUM_SITES - NUM_SITES / NUM_HOSTS;
    round.have_rows = new_promise(&round.may_call);
    CHECK_OK(cluster_sites(cluster, (struct sites){.name = "held back",
                                                   .options = {.num_sites = NUM_SITES, .arity = 2},
                                                   .run = run_site,
                                                   .arg = &round}));
    cohort_future_unref(round.may_call);
    cluster_destroy(cluster);
}

static void run_each_host(enum exercise_kind kind, size_t count, enum cluster_placement placement)
{
    for (uint32_t held = 0; held < NUM_HOSTS; held++)
        run((struct round){.kind = kind, .placement = placement, .held = held, .count = count});
}

/* The root's own host may be held back, too: then nobody else has rows to wait for. */
TEST(gather)
{
    run_each_host(EXERCISE_GATHER, 1, CLUSTER_BLOCKS);
    run_each_host(EXERCISE_GATHER, LONG, CLUSTER_BLOCKS);
    run_each_host(EXERCISE_GATHER, 1, CLUSTER_ROUND_ROBIN);
    run_each_host(EXERCISE_GATHER, LONG, CLUSTER_ROUND_ROBIN);
}

TEST_CALL(all_gather, run_each_host(EXERCISE_ALL_GATHER, LONG, CLUSTER_BLOCKS))

TEST(all_gatherv)
{
    run_each_host(EXERCISE_ALL_GATHERV, LONG, CLUSTER_BLOCKS);
    run_each_host(EXERCISE_ALL_GATHERV, LONG, CLUSTER_ROUND_ROBIN);
}

TEST_CALL(all_to_all, run_each_host(EXERCISE_ALL_TO_ALL, LONG, CLUSTER_BLOCKS))
