/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cohort/cohort.h>

#include "collectives/comm/arenas.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/meeting.h"
#include "runtime/base/container.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* Localities that share memory and meet on boards. If something goes wrong, all sites are told in
 * time, and the message says which site did it. Each wrong call is followed by a right one. All
 * calls are forced onto the row that uses boards, whatever other rows cost. */

enum { SOON = 20000000 };
static const uint64_t never = UINT64_C(3600000000000);

/* More elements of 8 bytes than fit into a post. */
enum { MANY = COHORT__BOARD_POST / 8 + 1 };

struct wrong {
    uint32_t culprit;
    uint32_t absent; /* a site that calls only after all others have been told; UINT32_MAX: none */
    cohort_status status;
    const char *what; /* the message contains this */
    cohort_future *(*call)(cohort_comm *comm, void *buffer);
    _Atomic uint32_t num_told;
};

static void run_in(struct cluster *cluster, const char *name, uint32_t num_sites, uint64_t stall,
                   cohort_status (*site)(cohort_comm *comm, void *arg), void *arg)
{
    cohort_status status =
        cluster_sites(cluster, (struct sites){
                                   .name = name,
                                   .options = {.num_sites = num_sites, .stall_after = stall},
                                   .run = site,
                                   .arg = arg,
                               });
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
}

/* Uses each placement in turn. */
static void run(const char *name, uint32_t num_localities, uint32_t num_sites, uint64_t stall,
                cohort_status (*site)(cohort_comm *comm, void *arg), void *arg)
{
    static uint32_t number;
    struct cluster *cluster = cluster_create(number, num_localities, 0);
    cluster_place(cluster, number++ % CLUSTER_NUM_PLACEMENTS);
    run_in(cluster, name, num_sites, stall, site, arg);
    cluster_destroy(cluster);
}

static void use_board(cohort_comm *comm)
{
    CHECK_OK(cohort_comm_next_call(comm, &(cohort_call_options){.algorithm = "shared"}));
}

static cohort_future *call_right(cohort_comm *comm, int32_t *in, int32_t *out, uint64_t generation)
{
    *in = (int32_t)cohort_comm_this_site(comm);
    *out = -1;
    use_board(comm);
    return cohort_all_reduce(comm, in, out, 1, COHORT_INT32, COHORT_SUM, generation);
}

static void check_right(const cohort_comm *comm, cohort_future *future, const int32_t *out)
{
    int32_t num_sites = (int32_t)cohort_comm_num_sites(comm);
    if (cohort_await(future))
        FAIL("site %u: %s", cohort_comm_this_site(comm), cohort_error_message());
    CHECK_INT(*out, num_sites * (num_sites - 1) / 2);
}

static void check_usable(cohort_comm *comm, uint64_t generation)
{
    int32_t in, out;
    cohort_future *future = call_right(comm, &in, &out, generation);
    check_right(comm, future, &out);
}

/* Nothing is sent -------------------------------------------------------------------------- */

struct silence {
    struct cluster *cluster;
    uint64_t num_calls;
    _Atomic uint32_t num_ready;
    uint64_t sent_before, num_sent;
    _Atomic bool is_counted;
};

static cohort_status silent_calls(cohort_comm *comm, void *arg)
{
    struct silence *silence = arg;
    check_usable(comm, 1);
    if (atomic_fetch_add(&silence->num_ready, 1) + 1 == cohort_comm_num_sites(comm)) {
        silence->sent_before = cluster_num_sent(silence->cluster);
        silence->is_counted = true;
    }
    YIELD_WHILE(!silence->is_counted);
    for (uint64_t generation = 2; generation <= silence->num_calls; generation++)
        check_usable(comm, generation);
    if (atomic_fetch_sub(&silence->num_ready, 1) == 1) {
        silence->num_sent = cluster_num_sent(silence->cluster) - silence->sent_before;
        silence->is_counted = false;
    }
    YIELD_WHILE(silence->is_counted); /* leaving sends messages */
    return COHORT_OK;
}

TEST(silence)
{
    struct silence silence = {.cluster = cluster_create(1, 3, 0), .num_calls = 100};
    run_in(silence.cluster, "silence", 7, never, silent_calls, &silence);
    CHECK_INT((long long)silence.num_sent, 0);
    cluster_destroy(silence.cluster);
}

/* Wrong calls ------------------------------------------------------------------------------ */

static cohort_status one_wrong(cohort_comm *comm, void *arg)
{
    struct wrong *wrong = arg;
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    int64_t *buffer = test_calloc(2 * MANY, sizeof(*buffer));
    int32_t in, out;
    YIELD_WHILE(me == wrong->absent && wrong->num_told < num_sites - 1);
    use_board(comm);
    cohort_future *future =
        me == wrong->culprit ? wrong->call(comm, buffer) : call_right(comm, &in, &out, 1);
    cohort_status status = cohort_await(future);
    if (status != wrong->status)
        FAIL("site %u, site %u is wrong: %s", me, wrong->culprit, cohort_error_message());
    char who[32];
    snprintf(who, sizeof(who), "site %u", wrong->culprit);
    CHECK_CONTAINS(cohort_error_message(), who);
    CHECK_CONTAINS(cohort_error_message(), wrong->what);
    free(buffer);
    atomic_fetch_add(&wrong->num_told, 1);
    check_usable(comm, 2);
    return COHORT_OK;
}

static cohort_future *barrier(cohort_comm *comm, void *buffer)
{
    return cohort_barrier(comm, 1);
}

static cohort_future *two(cohort_comm *comm, void *buffer)
{
    return cohort_all_reduce(comm, buffer, (int32_t *)buffer + 2, 2, COHORT_INT32, COHORT_SUM, 1);
}

/* In segments. */
static cohort_future *many(cohort_comm *comm, void *buffer)
{
    return cohort_all_reduce(comm, buffer, (int64_t *)buffer + MANY, MANY, COHORT_INT64, COHORT_SUM,
                             1);
}

static cohort_future *of_floats(cohort_comm *comm, void *buffer)
{
    return cohort_all_reduce(comm, buffer, (float *)buffer + 1, 1, COHORT_FLOAT, COHORT_SUM, 1);
}

static cohort_future *maximum(cohort_comm *comm, void *buffer)
{
    return cohort_all_reduce(comm, buffer, (int32_t *)buffer + 1, 1, COHORT_INT32, COHORT_MAX, 1);
}

static cohort_future *nowhere(cohort_comm *comm, void *buffer)
{
    return cohort_all_reduce(comm, buffer, NULL, 1, COHORT_INT32, COHORT_SUM, 1);
}

static cohort_future *all_gather(cohort_comm *comm, void *buffer)
{
    return cohort_all_gather(comm, buffer, (int32_t *)buffer + 1, 1, COHORT_INT32, 1);
}

/* With one site in each locality, and with several. */
static void run_wrong(const char *name, struct wrong wrong, uint64_t stall)
{
    struct wrong same = wrong;
    run(name, 6, 6, stall, one_wrong, &wrong);
    run(name, 3, 7, stall, one_wrong, &same);
}

TEST(wrong)
{
    static const struct {
        const char *name;
        cohort_future *(*call)(cohort_comm *, void *);
        cohort_status status;
        const char *what;
    } all[] = {
        {"barrier", barrier, COHORT_ERR_MISMATCH, "called barrier"},
        {"count", two, COHORT_ERR_MISMATCH, "of 2 int32"},
        {"large", many, COHORT_ERR_MISMATCH, " int64"},
        {"type", of_floats, COHORT_ERR_MISMATCH, "of 1 float"},
        {"operation", maximum, COHORT_ERR_MISMATCH, "max"},
        {"all_gather", all_gather, COHORT_ERR_MISMATCH, "called all_gather"},
        {"rejected", nowhere, COHORT_ERR_BAD_PARAMETER, "all_reduce"},
    };
    for (size_t i = 0; i < NUM_OF(all); i++)
        for (uint32_t culprit = 0; culprit < 6; culprit += 2) {
            run_wrong(all[i].name,
                      (struct wrong){.culprit = culprit,
                                     .absent = UINT32_MAX,
                                     .status = all[i].status,
                                     .what = all[i].what,
                                     .call = all[i].call},
                      never);
        }
}

/* A call in many segments, and one site that has called another. Each locality tells the others
 * once, and not for each segment. */
enum { LONG_CALL = 16 * COHORT__BOARD_POST / 8, MOST_TOLD = 40 };

struct long_call {
    struct cluster *cluster;
    _Atomic uint32_t num_ready, num_told;
    _Atomic uint64_t sent_before;
    _Atomic bool is_counted;
};

static cohort_status one_differs(cohort_comm *comm, void *arg)
{
    struct long_call *all = arg;
    uint32_t me = cohort_comm_this_site(comm), num_sites = cohort_comm_num_sites(comm);
    int64_t *in = test_calloc(LONG_CALL, sizeof(*in)), *out = test_calloc(LONG_CALL, sizeof(*out));
    if (atomic_fetch_add(&all->num_ready, 1) + 1 == num_sites)
        all->sent_before = 1 + cluster_num_sent(all->cluster);
    YIELD_WHILE(all->sent_before == 0);
    size_t count = me == 1 ? 1 : LONG_CALL;
    use_board(comm);
    CHECK_INT(cohort_await(cohort_all_reduce(comm, in, out, count, COHORT_INT64, COHORT_SUM, 1)),
              COHORT_ERR_MISMATCH);
    if (atomic_fetch_add(&all->num_told, 1) + 1 == num_sites) {
        uint64_t num_sent = cluster_num_sent(all->cluster) + 1 - all->sent_before;
        if (num_sent > MOST_TOLD)
            FAIL("%llu messages", (unsigned long long)num_sent);
        all->is_counted = true;
    }
    YIELD_WHILE(!all->is_counted); /* leaving sends messages */
    free(in);
    free(out);
    return COHORT_OK;
}

TEST(told_once)
{
    struct long_call all = {.cluster = cluster_create(1, 4, 0)};
    run_in(all.cluster, "told once", 4, never, one_differs, &all);
    cluster_destroy(all.cluster);
}

/* Before the last site has called, all others are told: at once of a failure, and of a different
 * call when they begin to ask. */
TEST(absent)
{
    for (uint32_t absent = 0; absent < 6; absent++)
        for (uint32_t culprit = 0; culprit < 6; culprit++) {
            if (absent == culprit)
                continue;
            struct wrong wrong = {.culprit = culprit,
                                  .absent = absent,
                                  .status = COHORT_ERR_BAD_PARAMETER,
                                  .what = "all_reduce",
                                  .call = nowhere};
            run("absent", 3, 6, never, one_wrong, &wrong);
            wrong = (struct wrong){.culprit = culprit,
                                   .absent = absent,
                                   .status = COHORT_ERR_MISMATCH,
                                   .what = "called barrier",
                                   .call = barrier};
            run("absent", 3, 6, SOON, one_wrong, &wrong);
        }
}

/* Left out, and left ------------------------------------------------------------------------- */

static cohort_status skip(cohort_comm *comm, void *arg)
{
    const uint32_t *culprit = arg;
    uint32_t me = cohort_comm_this_site(comm);
    int32_t in[3], out[3];
    cohort_future *done[3];
    for (uint64_t i = 0; i < 3; i++)
        done[i] = i == 1 && me == *culprit ? NULL : call_right(comm, &in[i], &out[i], i + 1);
    check_right(comm, done[0], &out[0]);
    if (done[1]) {
        char who[32];
        snprintf(who, sizeof(who), "site %u", *culprit);
        CHECK_INT(cohort_await(done[1]), COHORT_ERR_MOVED_PAST);
        CHECK_CONTAINS(cohort_error_message(), who);
    }
    check_right(comm, done[2], &out[2]);
    check_usable(comm, 4);
    return COHORT_OK;
}

TEST(skip)
{
    for (uint32_t culprit = 0; culprit < 6; culprit++) {
        run("skip", 6, 6, SOON, skip, &culprit);
        run("skip", 3, 7, SOON, skip, &culprit);
    }
}

static cohort_status leave(cohort_comm *comm, void *arg)
{
    const uint32_t *culprit = arg;
    check_usable(comm, 1);
    if (cohort_comm_this_site(comm) == *culprit)
        return COHORT_OK;
    int32_t in[2], out[2];
    cohort_future *done[] = {call_right(comm, &in[0], &out[0], 2),
                             call_right(comm, &in[1], &out[1], 3)};
    char who[32];
    snprintf(who, sizeof(who), "site %u", *culprit);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(cohort_await(done[i]), COHORT_ERR_GONE);
        CHECK_CONTAINS(cohort_error_message(), who);
    }
    return COHORT_OK;
}

TEST(leave)
{
    for (uint32_t culprit = 0; culprit < 6; culprit++) {
        run("leave", 6, 6, SOON, leave, &culprit);
        run("leave", 3, 7, SOON, leave, &culprit);
    }
}

/* Many ------------------------------------------------------------------------------------- */

enum { NUM_IN_FLIGHT = 64 };

static cohort_status in_flight(cohort_comm *comm, void *arg)
{
    int32_t in[NUM_IN_FLIGHT], out[NUM_IN_FLIGHT];
    cohort_future *done[NUM_IN_FLIGHT];
    for (uint64_t first = 1; first <= 5 * NUM_IN_FLIGHT; first += NUM_IN_FLIGHT) {
        for (uint64_t i = 0; i < NUM_IN_FLIGHT; i++)
            done[i] = call_right(comm, &in[i], &out[i], first + i);
        for (uint64_t i = 0; i < NUM_IN_FLIGHT; i++)
            check_right(comm, done[i], &out[i]);
    }
    return COHORT_OK;
}

TEST(in_flight)
{
    run("in flight", 4, 4, never, in_flight, NULL);
    run("in flight", 4, 11, never, in_flight, NULL);
}

/* All communicators at the same time, with two calls on each. Counts the messages of the second
 * calls. */
struct many {
    struct cluster *cluster;
    bool has_boards; /* for all of them; else some may need another row */
    _Atomic uint32_t num_there, num_done;
    _Atomic bool is_counted;
};

static void await(const _Atomic uint32_t *counter, uint32_t num)
{
    YIELD_WHILE(*counter < num);
}

static void call_one(cohort_comm *comm, const struct many *many, uint64_t generation)
{
    int32_t in = (int32_t)cohort_comm_this_site(comm), out = -1;
    if (many->has_boards)
        use_board(comm);
    check_right(comm, cohort_all_reduce(comm, &in, &out, 1, COHORT_INT32, COHORT_SUM, generation),
                &out);
}

static cohort_status nest(cohort_comm *comm, void *arg)
{
    struct many *many = arg;
    call_one(comm, many, 1);
    atomic_fetch_add(&many->num_there, 1);
    YIELD_WHILE(!many->is_counted);
    call_one(comm, many, 2);
    atomic_fetch_add(&many->num_done, 1);
    YIELD_WHILE(many->is_counted); /* leaving sends messages */
    return COHORT_OK;
}

struct one_of_many {
    struct many *many;
    uint32_t number;
};

enum { SITES_OF_ONE = 3, NUM_AGAIN = 64, MANY_COMMS = 1000, FEW_COMMS = 100 };

static cohort_status run_one(void *arg)
{
    const struct one_of_many *one = arg;
    char name[32];
    snprintf(name, sizeof(name), "number %u", one->number);
    run_in(one->many->cluster, name, SITES_OF_ONE, never, nest, one->many);
    return COHORT_OK;
}

static uint64_t run_many(struct cluster *cluster, uint32_t num, bool has_boards)
{
    struct many many = {.cluster = cluster, .has_boards = has_boards};
    struct one_of_many all[MANY_COMMS];
    cohort_future *done[MANY_COMMS];
    for (uint32_t i = 0; i < num; i++) {
        all[i] = (struct one_of_many){&many, i};
        done[i] = cohort_async(run_one, &all[i]);
    }
    await(&many.num_there, num * SITES_OF_ONE);
    uint64_t before = cluster_num_sent(cluster);
    many.is_counted = true;
    await(&many.num_done, num * SITES_OF_ONE);
    uint64_t sent = cluster_num_sent(cluster) - before;
    many.is_counted = false;
    CHECK_OK(cohort_await(cohort_when_all(done, num)));
    return sent;
}

TEST(many_comms)
{
    struct cluster *cluster = cluster_create(1, 3, 0);
    uint32_t num = (uint32_t)test_rounds(MANY_COMMS, FEW_COMMS);
    CHECK_INT((long long)run_many(cluster, num, true), 0);
    cluster_destroy(cluster);
}

/* More communicators than there may be memory for, with calls so large that each board uses more
 * than a MiB of it. They call in turn, so that the boards of all others are idle. */
enum { LARGE = 8192, NUM_LARGE = 100, FEW_LARGE = 20, LARGE_CALLS = 24 };

struct large {
    struct cluster *cluster;
    uint32_t num;              /* of communicators */
    _Atomic uint32_t num_done; /* sites */
    /* Of each communicator: it is its turn; and of one more: all are through. */
    cohort_promise *promises[NUM_LARGE + 1];
    cohort_future *turns[NUM_LARGE + 1];
};

struct one_large {
    struct large *large;
    uint32_t number;
};

/* Without polling: hundreds of sites wait, and each look of theirs would take time from the three
 * that have their turn. */
static void await_turn(const struct large *large, uint32_t number)
{
    CHECK_OK(cohort_await(cohort_future_ref(large->turns[number])));
}

static void end_turn(struct large *large)
{
    uint32_t num_done = atomic_fetch_add(&large->num_done, 1) + 1;
    if (num_done % SITES_OF_ONE == 0)
        cohort_promise_fulfil(large->promises[num_done / SITES_OF_ONE], NULL);
}

static void call_large(cohort_comm *comm, uint64_t generation, uint64_t *in)
{
    uint64_t *out = in + LARGE, first = generation * LARGE * SITES_OF_ONE;
    size_t bytes, all_bytes;
    uint32_t stride = (uint32_t)test_rounds(1, 61); /* the other elements stay 0 */
    for (uint32_t i = 0; i < LARGE; i += stride)
        in[i] = first + cohort_comm_this_site(comm) * LARGE + i;
    use_board(comm);
    CHECK_OK(cohort_await(cohort_all_gather(comm, in, out, LARGE, COHORT_UINT64, generation)));
    for (uint32_t block = 0; block < SITES_OF_ONE; block++)
        for (uint32_t i = block * LARGE; i < (block + 1) * LARGE; i += stride)
            if (out[i] != first + i) /* a call for each would take most of the test's time */
                CHECK_INT((long long)out[i], (long long)(first + i));
    cohort__meetings_arena(comm->group, &bytes, &all_bytes);
    if (generation > LARGE_CALLS)
        return; /* others may have taken it back already */
    CHECK(bytes >= LARGE * sizeof(*in) && bytes <= all_bytes);
    CHECK(all_bytes <= COHORT__ARENAS_MOST + 2 * COHORT__BOARD_ARENA);
}

static cohort_status large_site(cohort_comm *comm, void *arg)
{
    const struct one_large *one = arg;
    uint64_t *in = test_calloc(LARGE * (1 + SITES_OF_ONE), sizeof(*in));
    await_turn(one->large, one->number);
    for (uint64_t generation = 1; generation <= LARGE_CALLS; generation++)
        call_large(comm, generation, in);
    end_turn(one->large);
    await_turn(one->large, one->large->num);
    call_large(comm, LARGE_CALLS + 1, in); /* all at the same time */
    free(in);
    return COHORT_OK;
}

static cohort_status run_large(void *arg)
{
    const struct one_large *one = arg;
    char name[32];
    snprintf(name, sizeof(name), "large %u", one->number);
    run_in(one->large->cluster, name, SITES_OF_ONE, never, large_site, arg);
    return COHORT_OK;
}

TEST(large_comms)
{
    struct large large = {.cluster = cluster_create(1, SITES_OF_ONE, 0),
                          .num = (uint32_t)test_rounds(NUM_LARGE, FEW_LARGE)};
    struct one_large all[NUM_LARGE];
    cohort_future *done[NUM_LARGE];
    for (uint32_t i = 0; i <= large.num; i++)
        large.promises[i] = new_promise(&large.turns[i]);
    cohort_promise_fulfil(large.promises[0], NULL);
    for (uint32_t i = 0; i < large.num; i++) {
        all[i] = (struct one_large){&large, i};
        done[i] = cohort_async(run_large, &all[i]);
    }
    CHECK_OK(cohort_await(cohort_when_all(done, large.num)));
    for (uint32_t i = 0; i <= large.num; i++)
        cohort_future_unref(large.turns[i]);
    cluster_destroy(large.cluster);
}

/* Two posts of a MiB end behind 2 MiB, but not behind the arena. */
enum { HALF = 1 << 17 };

static cohort_status fill_arena(cohort_comm *comm, void *arg)
{
    uint64_t *in = calloc(3 * HALF, sizeof(*in));
    size_t bytes, all_bytes;
    CHECK(in);
    for (uint64_t generation = 1; generation <= 3; generation++) {
        use_board(comm);
        CHECK_OK(
            cohort_await(cohort_all_gather(comm, in, in + HALF, HALF, COHORT_UINT64, generation)));
    }
    free(in);
    cohort__meetings_arena(comm->group, &bytes, &all_bytes);
    CHECK_INT(bytes, COHORT__BOARD_ARENA);
    return COHORT_OK;
}

TEST_CALL(full_arena, run("full", 2, 2, never, fill_arena, NULL))

/* Many boards at the same time, again and again: those that have been given back, which may take a
 * moment, are used again. */
TEST(many_again)
{
    struct cluster *cluster = cluster_create(1, 3, 0);
    for (uint64_t round = 0; round < test_rounds(3, 1); round++)
        CHECK_INT((long long)run_many(cluster, NUM_AGAIN, true), 0);
    cluster_destroy(cluster);
}

/* Uses the same name again and again. A board is free once all have left it, and then it is as good
 * as new. */
TEST(again)
{
    struct silence silence = {.cluster = cluster_create(1, 3, 0), .num_calls = 12};
    for (uint64_t i = 0; i < test_rounds_of(300, 100, 40) || silence.num_sent > 0; i++)
        run_in(silence.cluster, "again", 5, never, silent_calls, &silence);
    cluster_destroy(silence.cluster);
}

/* Answers -------------------------------------------------------------------------------------- */

/* An endpoint waits in generation 1 for site 1. This is the item that gives it site 1's answers. */
struct turn {
    struct cohort__item item;
    bool looks_again; /* once more after the answers */
    atomic_bool is_over;
};

static void run_turn(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct turn *turn = COHORT_CONTAINER_OF(item, struct turn, item);
    struct cohort__operation *operation = cohort__endpoint_find(comm, 1);
    CHECK(operation != NULL);
    operation->handlers->stalled(operation);
    for (int i = 0; i < 2; i++)
        operation->handlers->answer(operation, 1, COHORT__ANSWER_COMPLETED);
    CHECK_OK(operation->failure.status);
    if (turn->looks_again)
        operation->handlers->stalled(operation); /* the operation may no longer exist then */
    atomic_store(&turn->is_over, true);
}

/* Site 1 calls only after it has answered, twice, that it is through. It looks as if both questions
 * had reached site 1 late and both answers had come back before its post was looked at. */
static cohort_status answered(cohort_comm *comm, void *arg)
{
    struct turn *turn = arg;
    int32_t in, out;
    uint32_t me = cohort_comm_this_site(comm);
    YIELD_WHILE(me == 1 && !atomic_load(&turn->is_over));
    cohort_future *future = call_right(comm, &in, &out, 1);
    if (me == 0)
        cohort__endpoint_post(comm, &turn->item);
    if (!turn->looks_again) {
        check_right(comm, future, &out);
    } else if (me == 1) {
        (void)!cohort_await(future); /* may succeed, as site 0's data may be there */
    } else {
        CHECK_INT(cohort_await(future), COHORT_ERR_MISMATCH);
        CHECK_CONTAINS(cohort_error_message(), "site 1 (locality ");
        CHECK_CONTAINS(cohort_error_message(), "is through with this generation");
    }
    check_usable(comm, 2);
    return COHORT_OK;
}

TEST(through)
{
    for (uint32_t num_localities = 1; num_localities <= 2; num_localities++)
        for (int looks_again = 0; looks_again < 2; looks_again++) {
            struct turn turn = {.item.run = run_turn, .looks_again = looks_again};
            run("through", num_localities, 2, never, answered, &turn);
        }
}

/* Each site but the last one leaves something in the same place, as the root of a broadcast. The
 * last one takes none of it, and leaves. Then none of the others has a place, and so all are
 * missing, one more than are asked at a time. All are right except the last one. */
static cohort_status take_nothing(cohort_comm *comm, void *arg)
{
    uint32_t this_site = cohort_comm_this_site(comm), last = cohort_comm_num_sites(comm) - 1;
    struct exercise_options options = {.has_root = true, .algorithm = "shared"};
    struct exercise exercise;
    uint64_t generation = 1;
    if (this_site == last)
        return COHORT_OK;
    for (; options.root < last; options.root++, generation += COHORT__BOARD_DEPTH) {
        exercise_begin_with(&exercise, comm, EXERCISE_BROADCAST, 1, generation, options);
        CHECK_OK(exercise_end(&exercise));
    }
    exercise_begin(&exercise, comm, EXERCISE_BARRIER, 1, generation);
    CHECK_INT(exercise_end(&exercise), COHORT_ERR_GONE);
    CHECK_CONTAINS(cohort_error_message(), "has left the communicator after generation 0");
    return COHORT_OK;
}

TEST(all_missing)
{
    enum { NUM = 8 };
    struct cluster *cluster = cluster_create(1, NUM, 0);
    run_in(cluster, "all missing", NUM, SOON, take_nothing, NULL);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    return cluster_test(argc, argv, 3);
}
