/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include <cohort/cohort.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/operation.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* In a checked gather, site 1 sends its block early. It comes to the root before what the sites
 * agree by, or after they have found that they disagree. The linker redirects what comes in, and
 * what is released, to this test (--wrap). */

enum { GENERATION = 1, ROOT = 0, COUNT = 2, BLOCK = 2 * COUNT, RUBBISH = 0x5a };

/* Two sites in the root's locality, and one elsewhere. */
enum { FAR = 1, LENDER = 2, LENT = 32 };

struct scene {
    cohort_datatype types[2]; /* by site */
    size_t counts[2];
    bool has_no_output;      /* the root's call is wrong */
    bool calls_late;         /* the root, when the block is there already */
    bool is_held;            /* the block, until the root's call is over */
    cohort_status status;    /* of the root's call, */
    const char *words[2];    /* and what each site says, if that is not COHORT_OK */
    cohort_status others[2]; /* what site 1's call may end with */
};

static const struct scene *scene;     /* NULL: there is none */
static struct cohort__message *early; /* site 1's block */
static struct cohort__message *held;  /* site 1's part of the agreement, or its block */
static atomic_bool has_called;        /* the root */
static atomic_bool has_come;          /* the block, to the root */
static atomic_bool is_released;       /* the block */
static atomic_bool has_asked;         /* the lender, and has got an answer */

void __real_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message);
void __real_cohort__message_release(struct cohort__message *message);

static void release_held(struct cohort_comm *comm)
{
    struct cohort__message *message = held;
    held = NULL;
    if (message)
        __real_cohort__endpoint_receive(comm, message);
}

static void receive_early(struct cohort_comm *comm, struct cohort__message *message)
{
    early = message;
    if (scene->is_held) {
        held = message;
    } else {
        __real_cohort__endpoint_receive(comm, message);
        release_held(comm);
    }
    atomic_store(&has_come, true);
}

static void receive_plain(struct cohort_comm *comm, struct cohort__message *message)
{
    bool is_answer = message->kind == COHORT__KIND_ANSWER;
    __real_cohort__endpoint_receive(comm, message);
    if (is_answer && comm->this_site == LENDER)
        atomic_store(&has_asked, true);
}

void __wrap_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    if (!scene) {
        receive_plain(comm, message);
        return;
    }
    bool is_here = comm->this_site == ROOT && message->kind == COHORT__KIND_DATA;
    bool is_of_call = is_here && message->generation == GENERATION;
    bool is_agreement = is_of_call && cohort__message_phase(message->tag) == 0;
    if (is_agreement && !early && !scene->is_held) {
        held = message;
    } else if (is_of_call && !is_agreement) {
        receive_early(comm, message);
    } else {
        CHECK(early || message->kind != COHORT__KIND_ANSWER); /* else it was not sent early */
        __real_cohort__endpoint_receive(comm, message);
    }
}

void __wrap_cohort__message_release(struct cohort__message *message)
{
    if (message && message == early)
        atomic_store(&is_released, true);
    __real_cohort__message_release(message);
}

static void check_result(uint32_t me, cohort_status status, const int32_t *out)
{
    bool is_expected = me == ROOT ? status == scene->status
                                  : status == scene->others[0] || status == scene->others[1];
    if (!is_expected)
        FAIL("site %u gets %s: %s", me, cohort_status_name(status), cohort_error_message());
    if (status)
        CHECK_CONTAINS(cohort_error_message(), scene->words[me]);
    for (uint32_t i = COUNT; me == ROOT && i < BLOCK; i++)
        CHECK_INT(out[i], status ? RUBBISH * 0x01010101 : 1); /* site 1's block */
}

/* The root's call is over. */
static void receive_held(cohort_comm *comm)
{
    YIELD_WHILE(!atomic_load(&has_come));
    CHECK(cohort__actor_turn_begin(&comm->actor));
    CHECK(!cohort__endpoint_find(comm, GENERATION));
    release_held(comm);
    cohort__actor_turn_end(&comm->actor);
}

static cohort_status gather(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    int32_t in[BLOCK] = {(int32_t)me, (int32_t)me}, out[BLOCK];
    cohort_future *future;
    memset(out, RUBBISH, sizeof(out));
    YIELD_WHILE(me == ROOT ? scene->calls_late && !atomic_load(&has_come)
                           : !scene->calls_late && !atomic_load(&has_called));
    if (me == ROOT)
        future = cohort_gather_here(comm, in, scene->has_no_output ? NULL : out, scene->counts[me],
                                    scene->types[me], GENERATION);
    else
        future = cohort_gather_there(comm, in, scene->counts[me], scene->types[me], GENERATION);
    if (me == ROOT)
        atomic_store(&has_called, true);
    check_result(me, cohort_await(future), out);
    if (me == ROOT && scene->is_held)
        receive_held(comm);
    return cohort_await(cohort_barrier(comm, GENERATION + 1));
}

static void play(const struct scene *what)
{
    struct cluster *cluster = cluster_create(1, 2, 0);
    scene = what;
    early = NULL;
    atomic_store(&has_called, false);
    atomic_store(&has_come, false);
    atomic_store(&is_released, false);
    CHECK_OK(
        cluster_sites(cluster, (struct sites){.name = "early",
                                              .options = {.num_sites = 2,
                                                          .root_site = ROOT,
                                                          .check_asymmetric = true,
                                                          .algorithms = "gather=linear",
                                                          .stall_after = UINT64_C(10000000000)},
                                              .run = gather}));
    CHECK(early && !held);
    CHECK(atomic_load(&is_released));
    cluster_destroy(cluster);
}

/* When the root's call is in flight, and before it. */
static void play_both(struct scene what)
{
    for (unsigned late = 0; late < 2; late++) {
        what.calls_late = late;
        play(&what);
    }
}

TEST(agree)
{
    play_both((struct scene){.types = {COHORT_INT32, COHORT_INT32}, .counts = {COUNT, COUNT}});
}

/* Each site finds it by itself. */
TEST(disagree)
{
    play_both((struct scene){
        .types = {COHORT_INT32, COHORT_FLOAT},
        .counts = {COUNT, COUNT},
        .status = COHORT_ERR_BAD_PARAMETER,
        .words = {"from int32 to float, this site int32", "from int32 to float, this site float"},
        .others = {COHORT_ERR_BAD_PARAMETER, COHORT_ERR_BAD_PARAMETER}});
}

/* The root's plan is the agreement alone, so it has no step for the block. */
TEST(wrong)
{
    play_both((struct scene){.types = {COHORT_INT32, COHORT_INT32},
                             .counts = {COUNT, COUNT},
                             .has_no_output = true,
                             .status = COHORT_ERR_BAD_PARAMETER,
                             .words = {"no output buffer", "the call of a site is wrong"},
                             .others = {COHORT_ERR_BAD_PARAMETER, COHORT_ERR_BAD_PARAMETER}});
}

/* Of counts they don't agree beforehand. Site 1 may be through by then. */
TEST(other_count)
{
    play_both((struct scene){.types = {COHORT_INT32, COHORT_INT32},
                             .counts = {COUNT, 1},
                             .status = COHORT_ERR_MISMATCH,
                             .words = {"site 0 called gather (linear) of 2 int32",
                                       "site 1 called gather (linear) of 1 int32"},
                             .others = {COHORT_OK, COHORT_ERR_MISMATCH}});
}

/* The block comes when nobody waits for it any more. */
TEST(held)
{
    play(&(struct scene){.types = {COHORT_INT32, COHORT_FLOAT},
                         .counts = {COUNT, COUNT},
                         .is_held = true,
                         .status = COHORT_ERR_BAD_PARAMETER,
                         .words = {"this site int32", "this site float"},
                         .others = {COHORT_ERR_BAD_PARAMETER, COHORT_ERR_BAD_PARAMETER}});
}

/* The block of a site in the root's locality is lent, and stays so while a site is missing. The
 * lender asks about the agreement only. */
static cohort_status lend(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    int32_t in[LENT] = {0}, out[3 * LENT];
    YIELD_WHILE(me == FAR && !atomic_load(&has_asked));
    cohort_datatype type = me == LENDER ? COHORT_FLOAT : COHORT_INT32;
    CHECK_FAILS(cohort_await(me == ROOT ? cohort_gather_here(comm, in, out, LENT, type, GENERATION)
                                        : cohort_gather_there(comm, in, LENT, type, GENERATION)),
                COHORT_ERR_BAD_PARAMETER, "no agreement: the sites gave different types");
    return cohort_await(cohort_barrier(comm, GENERATION + 1));
}

TEST(lent)
{
    struct cluster *cluster = cluster_create(1, 2, 0);
    scene = NULL;
    CHECK_OK(cluster_sites(
        cluster, (struct sites){.name = "lent",
                                .options = {.num_sites = 3,
                                            .root_site = ROOT,
                                            .check_asymmetric = true,
                                            .algorithms = "gather=linear,all_reduce=linear",
                                            .stall_after = 1000000},
                                .run = lend}));
    cluster_destroy(cluster);
}
