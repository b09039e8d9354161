/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cohort/cohort.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_life.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* One site makes a wrong call, or no call, and all calls still end. The sites that depend on it are
 * told, and the other sites get their data. Each case is a program that once hung or gave wrong
 * data. It runs on one locality, on two and on three. */

enum { MAX_SITES = 6, SOON = 10000000 };
static const uint64_t never = UINT64_C(3600000000000);
static const uint64_t limit = UINT64_C(60000000000); /* a call that takes so long is a hang */

/* More elements of 8 bytes than fit on a board. */
enum { MANY = 300000 };

struct scene {
    uint32_t num_localities;
    uint32_t num_sites;
    _Atomic uint32_t num_over; /* sites that have done what others wait for */
};

static void run(const char *name, uint32_t num_localities, cohort_comm_options options,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    struct scene scene = {.num_localities = num_localities, .num_sites = options.num_sites};
    struct cluster *cluster = cluster_create(1, num_localities, 0);
    cohort_status status = cluster_sites(cluster, (struct sites){
                                                      .name = name,
                                                      .options = options,
                                                      .run = site,
                                                      .arg = &scene,
                                                  });
    if (status)
        FAIL("%s, %u localities: %s", name, num_localities, cohort_error_message());
    cluster_destroy(cluster);
}

/* On one locality, on two and on three, with SITES_EACH sites on each, but at least two sites. */
static void run_all(const char *name, uint32_t sites_each, uint64_t stall_after,
                    cohort_status (*site)(cohort_comm *comm, void *arg))
{
    for (uint32_t num = 1; num <= 3; num++) {
        uint32_t num_sites = num * sites_each > 2 ? num * sites_each : 2;
        run(name, num, (cohort_comm_options){.num_sites = num_sites, .stall_after = stall_after},
            site);
    }
}

/* The status of FUTURE, which belongs to COMM's call of GENERATION. The call must not hang. */
static cohort_status ended(cohort_comm *comm, uint64_t generation, cohort_future *future)
{
    void *text = NULL;
    cohort_status status = await_within(future, limit);
    if (status == COHORT_ERR_TIMEOUT && !cohort_await_value(cohort_comm_roll_call(comm), &text))
        FAIL("\"%s\", generation %" PRIu64 " hangs at site %u:\n%s", cohort_comm_name(comm),
             generation, cohort_comm_this_site(comm), (const char *)text);
    return status;
}

static void check_right(cohort_comm *comm, uint64_t generation, cohort_future *future)
{
    if (ended(comm, generation, future))
        FAIL("site %u, generation %" PRIu64 ": %s", cohort_comm_this_site(comm), generation,
             cohort_error_message());
}

/* The call fails with STATUS. WHAT, the culprit or the reason, is in the message. */
static void check_wrong(cohort_comm *comm, uint64_t generation, cohort_future *future,
                        cohort_status status, const char *what)
{
    cohort_status got = ended(comm, generation, future);
    if (got != status)
        FAIL("site %u, generation %" PRIu64 ": %s: %s", cohort_comm_this_site(comm), generation,
             cohort_status_name(got), got ? cohort_error_message() : "");
    CHECK_CONTAINS(cohort_error_message(), what);
}

static void check_usable(cohort_comm *comm, uint64_t generation)
{
    int64_t in = cohort_comm_this_site(comm), out = -1, num_sites = cohort_comm_num_sites(comm);
    check_right(comm, generation,
                cohort_all_reduce(comm, &in, &out, 1, COHORT_INT64, COHORT_SUM, generation));
    CHECK_INT(out, num_sites * (num_sites - 1) / 2);
}

static void is_over(struct scene *scene)
{
    atomic_fetch_add(&scene->num_over, 1);
}

static void await_over(struct scene *scene, uint32_t num)
{
    YIELD_WHILE(atomic_load(&scene->num_over) < num);
}

/* Calls that there is no memory to tell of ---------------------------------------------------- */

/* Two of them, while another thread has the endpoint's turn. */
static cohort_status call_untold(cohort_comm *comm, void *arg)
{
    struct scene *scene = arg;
    if (cohort_comm_this_site(comm) == 0) {
        YIELD_WHILE(!cohort__actor_turn_begin(&comm->actor)); /* somebody asks it already */
        cohort__endpoint_leave_out(comm, 1);
        cohort__endpoint_leave_out(comm, 2);
        cohort__actor_turn_end(&comm->actor);
        await_over(scene, scene->num_sites - 1); /* its next call would tell, too */
    } else {
        for (uint64_t generation = 1; generation <= 2; generation++)
            check_wrong(comm, generation, cohort_barrier(comm, generation), COHORT_ERR_MOVED_PAST,
                        "site 0");
        is_over(scene);
    }
    check_usable(comm, 3);
    return COHORT_OK;
}

TEST_CALL(untold, run_all("untold", 2, SOON, call_untold))

/* An exchange is not the same as the one before ----------------------------------------------- */

/* Sites 0 and 1 send in turn, and the blocks are the same. The others have no neighbours. */
TEST_SITE(exchange_turns, run_all("exchange turns", 1, SOON, site))
{
    uint32_t me = cohort_comm_this_site(comm);
    for (uint64_t generation = 1; generation <= 6; generation++) {
        const size_t count = generation <= 3 ? 1 : 64;
        int64_t in[64], out[64] = {0};
        const cohort_neighbour other = {.site = 1 - me, .count = count};
        bool sends = me < 2 && generation % 2 == me, receives = me < 2 && !sends;
        for (size_t i = 0; i < count; i++)
            in[i] = (int64_t)(generation * 100 + i);
        check_right(comm, generation,
                    cohort_exchange(comm, in, sends ? &other : NULL, sends, out,
                                    receives ? &other : NULL, receives, COHORT_INT64, generation));
        for (size_t i = 0; i < count; i++)
            CHECK_INT(out[i], receives ? (int64_t)(generation * 100 + i) : 0);
    }
}

/* Site 0 receives. Then its call has a block to send, but no buffer. A plan without sends would
 * tell no other site of it. */
TEST_SITE(exchange_rejected, run_all("exchange rejected", 1, never, site))
{
    uint32_t me = cohort_comm_this_site(comm);
    int64_t in[2] = {1, 2}, out[2] = {0};
    for (uint64_t generation = 1; generation <= 2; generation++) {
        const cohort_neighbour other = {.site = 1 - me, .count = 2};
        bool sends = me < 2 && generation % 2 == me, receives = me < 2 && !sends;
        cohort_future *future =
            cohort_exchange(comm, generation == 1 ? in : NULL, sends ? &other : NULL, sends, out,
                            receives ? &other : NULL, receives, COHORT_INT64, generation);
        if (generation == 1)
            check_right(comm, generation, future);
        else if (me < 2)
            check_wrong(comm, generation, future, COHORT_ERR_BAD_PARAMETER,
                        "site 0, cohort_exchange: no buffer");
        else
            (void)ended(comm, generation, future);
    }
    check_usable(comm, 3);
}

/* Site 0 sends itself a block that it does not expect, and a block to site 1. */
TEST_SITE(exchange_with_oneself, run_all("exchange with oneself", 1, never, site))
{
    uint32_t me = cohort_comm_this_site(comm);
    double in[2] = {1, 2}, out[1];
    const cohort_neighbour to[] = {{1 - me, 0, 1}, {0, 1, 1}}, from = {1 - me, 0, 1};
    size_t num_to = me == 0 ? 2 : me == 1 ? 1 : 0;
    cohort_future *future =
        cohort_exchange(comm, in, to, num_to, out, &from, num_to > 0, COHORT_DOUBLE, 1);
    if (me < 2)
        check_wrong(comm, 1, future, COHORT_ERR_BAD_PARAMETER,
                    "site 0, cohort_exchange: what this site sends itself");
    else
        (void)ended(comm, 1, future);
    check_usable(comm, 2);
}

/* Each site of a ring has blocks for the next one and for the one before. All leave out the last
 * ones for the one before; of two sites, which are both to each other, those for the other. So each
 * waits for a site whose call is not over either. */
TEST_SITE(exchange_left_out, run_all("exchange left out", 1, SOON, site))
{
    enum { BLOCKS = 5, LEFT_OUT = 2 };
    const uint32_t me = cohort_comm_this_site(comm), num = cohort_comm_num_sites(comm);
    const uint32_t after = (me + 1) % num, before = (me + num - 1) % num;
    const cohort_neighbour to[] = {{after, 0, 1}, {before, 1, 1}, {after, 2, 1}};
    const cohort_neighbour from[BLOCKS] = {
        {before, 0, 1}, {after, 1, 1}, {before, 2, 1}, {after, 3, 1}, {after, 4, 1}};
    int64_t in[BLOCKS] = {0}, out[BLOCKS];
    check_wrong(
        comm, 1,
        cohort_exchange(comm, in, to, BLOCKS - LEFT_OUT, out, from, BLOCKS, COHORT_INT64, 1),
        COHORT_ERR_MISMATCH, ") has left out 2 of the blocks that this site expects of it");
    check_usable(comm, 2);
}

/* A site's own blocks differ, in an all_to_allv: the message still has the reason. */
TEST_SITE(own_blocks, run_all("own blocks", 2, never, site))
{
    uint32_t me = cohort_comm_this_site(comm);
    double in[1] = {1}, out[2];
    size_t in_counts[MAX_SITES] = {0}, out_counts[MAX_SITES] = {0};
    in_counts[me] = 1;
    out_counts[me] = 2;
    check_wrong(
        comm, 1,
        cohort_all_to_allv(comm, in, in_counts, NULL, out, out_counts, NULL, COHORT_DOUBLE, 1),
        COHORT_ERR_BAD_PARAMETER, "what this site sends itself");
    check_usable(comm, 2);
}

/* What depends on buffers is checked at each call --------------------------------------------- */

static cohort_status object_from_nowhere(cohort_comm *comm, void *arg)
{
    char text[64] = "right";
    for (uint64_t generation = 1; generation <= 3; generation++) {
        bool is_wrong = generation == 2;
        cohort_object out[MAX_SITES];
        const cohort_object in = {is_wrong && cohort_comm_this_site(comm) == 0 ? NULL : text,
                                  sizeof(text)};
        cohort_future *future = cohort_all_gather_objects(comm, &in, out, generation);
        if (is_wrong)
            check_wrong(comm, generation, future, COHORT_ERR_BAD_PARAMETER,
                        "site 0, cohort_all_gather_objects: object 0 of IN");
        else
            check_right(comm, generation, future);
        cohort_objects_fini(out, cohort_comm_num_sites(comm));
    }
    return COHORT_OK;
}

TEST(objects_again)
{
    run_all("objects again", 1, never, object_from_nowhere);
    run_all("objects again", 2, never, object_from_nowhere);
}

/* A wrong call is reported at once, and only its own generation fails ------------------------- */

/* Sums of MANY elements, more than fits on a board. Site 0's call is wrong. No site has to ask. */
static cohort_status wrong_and_large(cohort_comm *comm, void *arg)
{
    enum { NUM_WRONG = 9 };
    double *in = test_calloc(MANY, sizeof(*in)), *out = test_calloc(MANY, sizeof(*out));
    for (uint64_t generation = 1; generation <= NUM_WRONG; generation++)
        check_wrong(comm, generation,
                    cohort_all_reduce(comm, cohort_comm_this_site(comm) == 0 ? NULL : in, out, MANY,
                                      COHORT_DOUBLE, COHORT_SUM, generation),
                    COHORT_ERR_BAD_PARAMETER, "site 0, cohort_all_reduce: no input");
    check_usable(comm, NUM_WRONG + 1);
    free(in);
    free(out);
    return COHORT_OK;
}

TEST(large)
{
    run_all("large", 1, never, wrong_and_large);
    run_all("large", 2, never, wrong_and_large);
}

enum { LATE_WRONG = 9 }; /* a board has room for 8 */

/* Site 0 makes right calls and then a wrong one, before its neighbour makes the first call. */
static cohort_status run_ahead(cohort_comm *comm, struct scene *scene, uint64_t step)
{
    uint32_t me = cohort_comm_this_site(comm);
    double in[1] = {1}, out[LATE_WRONG + 1];
    cohort_future *done[LATE_WRONG + 1];
    if (me == scene->num_localities)
        await_over(scene, 1);
    for (uint64_t generation = 1; generation <= LATE_WRONG; generation += step)
        done[generation] =
            cohort_all_reduce(comm, me == 0 && generation == LATE_WRONG ? NULL : in,
                              &out[generation], 1, COHORT_DOUBLE, COHORT_SUM, generation);
    if (me == 0)
        is_over(scene);
    check_wrong(comm, LATE_WRONG, done[LATE_WRONG], COHORT_ERR_BAD_PARAMETER,
                "site 0, cohort_all_reduce: no input");
    for (uint64_t generation = 1; generation < LATE_WRONG; generation += step) {
        check_right(comm, generation, done[generation]);
        CHECK(out[generation] == scene->num_sites);
    }
    check_usable(comm, LATE_WRONG + 1);
    return COHORT_OK;
}

static cohort_status run_ahead_of_eight(cohort_comm *comm, void *arg)
{
    return run_ahead(comm, arg, 1);
}

static cohort_status run_ahead_of_one(cohort_comm *comm, void *arg)
{
    return run_ahead(comm, arg, LATE_WRONG - 1);
}

TEST(wrong_ahead)
{
    run_all("wrong ahead of eight", 2, never, run_ahead_of_eight);
    run_all("wrong ahead of one", 2, never, run_ahead_of_one);
}

/* Site 0 makes NUM_LEFT_OUT calls in generations that the others leave out. */
static cohort_status call_alone(cohort_comm *comm, void *arg)
{
    enum { NUM_LEFT_OUT = 9 };
    double in[4] = {1}, out[NUM_LEFT_OUT][4];
    cohort_future *done[NUM_LEFT_OUT];
    bool is_alone = cohort_comm_this_site(comm) == 0;
    check_usable(comm, 1);
    for (uint64_t i = 0; is_alone && i < NUM_LEFT_OUT; i++)
        done[i] = cohort_all_reduce(comm, in, out[i], 4, COHORT_DOUBLE, COHORT_SUM, 2 + i);
    check_usable(comm, 2 + NUM_LEFT_OUT);
    for (uint64_t i = 0; is_alone && i < NUM_LEFT_OUT; i++)
        check_wrong(comm, 2 + i, done[i], COHORT_ERR_MOVED_PAST, "has left out this generation");
    return COHORT_OK;
}

TEST(left_out)
{
    run_all("left out", 1, SOON, call_alone);
    run_all("left out", 2, SOON, call_alone);
}

/* Long ago ------------------------------------------------------------------------------------ */

/* Site 2 calls a gather, where site 3 waits for site 2 in a broadcast with the tree. Then site 2
 * makes so many calls that it forgets the gather. */
static cohort_status go_far_ahead(cohort_comm *comm, void *arg)
{
    enum { AHEAD = 64 };
    struct scene *scene = arg;
    uint32_t me = cohort_comm_this_site(comm);
    int64_t in = me, out = 0;
    if (me == 3)
        await_over(scene, 1);
    cohort_future *done = me == 2   ? cohort_gather_there(comm, &in, 1, COHORT_INT64, 1)
                          : me == 0 ? cohort_broadcast_to(comm, &in, 1, COHORT_INT64, 1)
                                    : cohort_broadcast_from(comm, &out, 1, COHORT_INT64, 1);
    for (uint64_t i = 2; me == 2 && i < 2 + AHEAD; i++)
        check_right(comm, i, cohort_gather_there(comm, &in, 1, COHORT_INT64, i));
    if (me == 2)
        is_over(scene);
    if (me == 3)
        check_wrong(comm, 1, done, COHORT_ERR_MISMATCH, "site 2");
    else
        (void)ended(comm, 1, done);
    is_over(scene);
    await_over(scene, scene->num_sites + 1); /* so that no site is told that another one leaves */
    return COHORT_OK;
}

TEST(forgotten)
{
    for (uint32_t num_localities = 1; num_localities <= 3; num_localities++)
        run("forgotten", num_localities,
            (cohort_comm_options){.num_sites = 4,
                                  .arity = 2,
                                  .flat_fallback_threshold = COHORT_FORCE_TREE,
                                  .algorithms = "broadcast=hierarchical,gather=linear",
                                  .stall_after = SOON},
            go_far_ahead);
}

/* Site 0 has called a gather where site 1 waits for it in a meeting, and has forgotten that when it
 * comes to the next meeting. The last site, the root, stays away meanwhile. */
static cohort_status come_from_afar(cohort_comm *comm, void *arg)
{
    enum { NUM_GATHERS = 70 };
    struct scene *scene = arg;
    uint32_t me = cohort_comm_this_site(comm);
    double in = 1, out = 0;
    for (uint64_t i = 1; me == 0 && i <= NUM_GATHERS; i++)
        check_right(comm, i, cohort_gather_there(comm, &in, 1, COHORT_DOUBLE, i));
    if (me == 1) {
        await_over(scene, 1);
        bool meets = comm->group->is_whole || comm->group->has_board;
        const char *row = meets ? "shared" : "linear"; /* so that it waits for site 0 */
        CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.algorithm = row}));
        cohort_future *done = cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 1);
        is_over(scene);
        check_wrong(comm, 1, done, COHORT_ERR_MISMATCH, "is through with this generation");
    }
    if (me < 2)
        is_over(scene);
    await_over(scene, me == 0 ? 2 : 3); /* that site 1 waits, or that it has got its answer */
    check_usable(comm, NUM_GATHERS + 1);
    return COHORT_OK;
}

TEST(from_afar)
{
    for (uint32_t num_localities = 1; num_localities <= 3; num_localities++)
        run("from afar", num_localities,
            (cohort_comm_options){
                .num_sites = 3, .root_site = 2, .algorithms = "gather=linear", .stall_after = SOON},
            come_from_afar);
}

/* Site 0 makes more wrong calls than a site remembers before the others make their first call. A
 * site that has forgotten says so. Then the message does not name site 0. */
static cohort_status many_wrong(cohort_comm *comm, void *arg)
{
    enum { NUM_WRONG = 150, EACH = 50 };
    struct scene *scene = arg;
    bool is_wrong = cohort_comm_this_site(comm) == 0;
    double in = 1, out[EACH];
    cohort_future *done[EACH];
    if (!is_wrong)
        await_over(scene, 1);
    for (uint64_t first = 1; first <= NUM_WRONG; first += EACH) {
        for (uint64_t i = 0; i < EACH; i++)
            done[i] = cohort_all_reduce(comm, is_wrong ? NULL : &in, &out[i], 1, COHORT_DOUBLE,
                                        COHORT_SUM, first + i);
        for (uint64_t i = 0; i < EACH; i++) {
            cohort_status status = ended(comm, first + i, done[i]);
            CHECK(status == COHORT_ERR_BAD_PARAMETER ||
                  (status == COHORT_ERR_MISMATCH && !is_wrong));
            CHECK_CONTAINS(cohort_error_message(), status == COHORT_ERR_MISMATCH
                                                       ? "is through with this generation"
                                                       : "site 0, cohort_all_reduce: no input");
        }
    }
    is_over(scene);
    check_usable(comm, NUM_WRONG + 1);
    return COHORT_OK;
}

TEST(many_wrong)
{
    run_all("many wrong", 1, SOON, many_wrong);
    run_all("many wrong", 2, SOON, many_wrong);
}

/* A call that needs no other site ------------------------------------------------------------- */

enum { SHIFT_BY_0, SHIFT_BY_ALL, EXCHANGE_WITH_NOBODY, NUM_ALONE };
enum { BARRIER, SHIFT, ALL_GATHER, ALL_TO_ALL, GATHER, BROADCAST, NUM_OTHERS };

static cohort_future *complete_alone(cohort_comm *comm, int kind, int64_t *in, int64_t *out,
                                     uint64_t generation)
{
    int64_t q = kind == SHIFT_BY_0 ? 0 : cohort_comm_num_sites(comm);
    return kind == EXCHANGE_WITH_NOBODY
               ? cohort_exchange(comm, NULL, NULL, 0, NULL, NULL, 0, COHORT_INT64, generation)
               : cohort_shift(comm, in, out, 1, COHORT_INT64, q, generation);
}

static cohort_future *need_others(cohort_comm *comm, int kind, int64_t *in, int64_t *out,
                                  uint64_t generation)
{
    bool is_root = cohort_comm_this_site(comm) == cohort_comm_root_site(comm);
    switch (kind) {
    case BARRIER:
        return cohort_barrier(comm, generation);
    case SHIFT:
        return cohort_shift(comm, in, out, 1, COHORT_INT64, 1, generation);
    case ALL_GATHER:
        return cohort_all_gather(comm, in, out, 1, COHORT_INT64, generation);
    case ALL_TO_ALL:
        return cohort_all_to_all(comm, in, out, 1, COHORT_INT64, generation);
    case GATHER:
        return is_root ? cohort_gather_here(comm, in, out, 1, COHORT_INT64, generation)
                       : cohort_gather_there(comm, in, 1, COHORT_INT64, generation);
    default:
        return is_root ? cohort_broadcast_to(comm, in, 1, COHORT_INT64, generation)
                       : cohort_broadcast_from(comm, out, 1, COHORT_INT64, generation);
    }
}

/* Whether COMM's site needs data from site 0. The root is the last site. */
static bool depends_on_0(const cohort_comm *comm, int kind)
{
    uint32_t me = cohort_comm_this_site(comm);
    bool is_root = me == cohort_comm_root_site(comm);
    return kind == SHIFT ? me == 1 : kind == GATHER ? is_root : kind != BROADCAST;
}

static cohort_status alone_against_others(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    uint64_t generation = 0;
    for (int alone = 0; alone < NUM_ALONE; alone++)
        for (int other = 0; other < NUM_OTHERS; other++) {
            int64_t in[MAX_SITES] = {0}, out[MAX_SITES];
            generation++;
            cohort_future *done = me == 0 ? complete_alone(comm, alone, in, out, generation)
                                          : need_others(comm, other, in, out, generation);
            if (me > 0 && depends_on_0(comm, other))
                check_wrong(comm, generation, done, COHORT_ERR_MISMATCH, "site 0");
            else
                (void)ended(comm, generation, done);
        }
    check_usable(comm, generation + 1);
    return COHORT_OK;
}

TEST(completed_alone)
{
    for (uint32_t num_localities = 1; num_localities <= 3; num_localities++)
        for (uint32_t num_sites = 2; num_sites <= MAX_SITES; num_sites += 2)
            run("completed alone", num_localities,
                (cohort_comm_options){
                    .num_sites = num_sites, .root_site = num_sites - 1, .stall_after = SOON},
                alone_against_others);
}

/* Differences that are hard to see ------------------------------------------------------------ */

enum { NUM_DIFFERENT = 400, IN_FLIGHT = 50 };

static cohort_status add(void *result, const void *left, const void *right, size_t count,
                         cohort_datatype datatype, void *arg)
{
    for (size_t i = 0; i < count; i++)
        ((double *)result)[i] = ((const double *)left)[i] + ((const double *)right)[i];
    return COHORT_OK;
}

static cohort_future *sum_by(cohort_comm *comm, const char *name, const double *in, double *out,
                             uint64_t generation)
{
    cohort_op *op;
    CHECK_OK(cohort_op_create(
        &op, &(struct cohort_op_options){.name = name, .function = add, .commutative = true}));
    cohort_future *done = cohort_all_reduce(comm, in, out, 1, COHORT_DOUBLE, op, generation);
    cohort_op_unref(op);
    return done;
}

/* Site 0's operation always has the same name, and the others' operation has another name. */
static cohort_status different_operations(cohort_comm *comm, void *arg)
{
    for (uint64_t first = 1; first <= NUM_DIFFERENT; first += IN_FLIGHT) {
        double in = 1, out[IN_FLIGHT];
        cohort_future *done[IN_FLIGHT];
        for (uint64_t i = 0; i < IN_FLIGHT; i++) {
            char name[32];
            snprintf(name, sizeof(name), "n%" PRIu64, first + i);
            bool is_other = cohort_comm_this_site(comm) == 0;
            done[i] = sum_by(comm, is_other ? "base" : name, &in, &out[i], first + i);
        }
        for (uint64_t i = 0; i < IN_FLIGHT; i++)
            check_wrong(comm, first + i, done[i], COHORT_ERR_MISMATCH, "site 0");
    }
    return COHORT_OK;
}

/* The same number of bytes, with elements of another size. */
static cohort_status different_types(cohort_comm *comm, void *arg)
{
    enum { BYTES = 720 };
    static char out[MAX_SITES][MAX_SITES * BYTES];
    char in[BYTES] = {0};
    uint64_t generation = 0;
    for (size_t size = 1; size < BYTES; size++) {
        if (BYTES % size)
            continue;
        bool is_other = cohort_comm_this_site(comm) == 0;
        size_t mine = is_other ? BYTES : size;
        generation++;
        check_wrong(comm, generation,
                    cohort_all_gather(comm, in, out[cohort_comm_this_site(comm)], BYTES / mine,
                                      cohort_datatype_of_bytes(mine), generation),
                    COHORT_ERR_MISMATCH, "site 0");
    }
    return COHORT_OK;
}

TEST(different)
{
    run_all("different operations", 1, SOON, different_operations);
    run_all("different types", 2, SOON, different_types);
}
