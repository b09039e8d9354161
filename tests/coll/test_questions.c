/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "collectives/comm/operation.h"
#include "runtime/base/container.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Site 0 waits for site 1, which does not get to its messages. However often site 0 looks, it asks
 * once for each call that it has in flight, and once for all of its channels. When site 1 has
 * answered it is asked again. The linker redirects what comes in to this test (--wrap), which keeps
 * the questions until site 1 is to answer them. */

enum { ROOT, SILENT, OTHER, NUM_SITES };
enum { ROUNDS = 3, LOOKS = 100, MOST_CALLS = 100, TOKEN = 1000 };
enum kind { CALLS, GETS, GETS_FROM_ANY };

struct job {
    enum kind kind;
    uint32_t num; /* of the calls, or gets */
};

static struct cohort__list held; /* in the turn of the silent site, as what follows */
static bool is_silent;
static bool is_about_calls;        /* the others, of tokens, are answered at once */
static _Atomic uint32_t num_asked; /* since it is silent; of all sites, if none is */

void __real_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message);

void __wrap_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    bool is_question = comm->this_site == SILENT && message->kind == COHORT__KIND_ASK &&
                       (message->generation > 0) == is_about_calls;
    if (!is_silent && message->kind == COHORT__KIND_ASK && message->generation == 0)
        atomic_fetch_add(&num_asked, 1);
    if (!is_question || !is_silent) {
        __real_cohort__endpoint_receive(comm, message);
        return;
    }
    if (message->arrival)
        cohort__arrival_park(message->arrival);
    cohort__list_push_back(&held, &message->parked);
    atomic_fetch_add(&num_asked, 1);
}

/* What an endpoint does in one of its turns. */
struct turn {
    struct cohort__item item;
    bool is_last;
    atomic_bool is_over;
};

static void take_turn(cohort_comm *comm, bool is_last,
                      void (*run)(struct cohort__actor *actor, struct cohort__item *item))
{
    struct turn turn = {.item.run = run, .is_last = is_last};
    cohort__endpoint_post(comm, &turn.item);
    YIELD_WHILE(!atomic_load(&turn.is_over));
}

/* All calls have waited for longer than `stall_after`, each time. */
static void look(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__event tick = {.item.run = cohort__endpoint_of(actor)->tick.item.run};
    for (int i = 0; i < LOOKS; i++)
        tick.item.run(actor, &tick.item);
    atomic_store(&COHORT_CONTAINER_OF(item, struct turn, item)->is_over, true);
}

static void answer(struct cohort__actor *actor, struct cohort__item *item)
{
    struct turn *turn = COHORT_CONTAINER_OF(item, struct turn, item);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&held)))
        __real_cohort__endpoint_receive(cohort__endpoint_of(actor),
                                        COHORT_CONTAINER_OF(link, struct cohort__message, parked));
    is_silent = !turn->is_last;
    atomic_store(&turn->is_over, true);
}

/* Messages from one site to another come in their order, so a token comes after what was asked or
 * answered before it. */
static void pass(cohort_comm *comm, uint32_t site)
{
    CHECK_OK(cohort_await(cohort_channel_set(comm, site, TOKEN, NULL, 0)));
}

static void await_token(cohort_comm *comm, uint32_t site)
{
    CHECK_OK(cohort_await(cohort_channel_get(comm, site, TOKEN, NULL, 0, NULL)));
}

static void be_asked(cohort_comm *comm, const struct job *job)
{
    uint32_t most = job->kind != CALLS ? 1 : job->num < COHORT__WINDOW ? job->num : COHORT__WINDOW;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        await_token(comm, ROOT);
        CHECK_INT(atomic_load(&num_asked), round * most);
        take_turn(comm, round == ROUNDS, answer);
        pass(comm, ROOT);
    }
}

static void ask(cohort_comm *comm)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        take_turn(comm, false, look);
        pass(comm, SILENT);
        await_token(comm, SILENT);
    }
}

static cohort_future *begin(cohort_comm *comm, const struct job *job, uint32_t i, int64_t *out)
{
    static const int64_t in = 5;
    const uint32_t me = cohort_comm_this_site(comm);
    if (job->kind == CALLS && me == ROOT)
        return cohort_gather_here(comm, &in, out, 1, COHORT_INT64, i + 1);
    if (job->kind == CALLS)
        return cohort_gather_there(comm, &in, 1, COHORT_INT64, i + 1);
    if (me == SILENT)
        return cohort_channel_set(comm, ROOT, i, &in, sizeof(in));
    if (me == OTHER)
        return cohort_future_of_value(NULL);
    return job->kind == GETS ? cohort_channel_get(comm, SILENT, i, out, sizeof(in), NULL)
                             : cohort_channel_get_any(comm, i, out, sizeof(in), NULL, NULL);
}

static cohort_status wait_for_silent(cohort_comm *comm, void *arg)
{
    const struct job *job = arg;
    const uint32_t me = cohort_comm_this_site(comm);
    cohort_future *done[MOST_CALLS];
    int64_t out[MOST_CALLS][NUM_SITES];
    if (me == SILENT)
        be_asked(comm, job);
    for (uint32_t i = 0; i < job->num; i++)
        done[i] = begin(comm, job, i, out[i]);
    if (me == ROOT)
        ask(comm);
    for (uint32_t i = 0; i < job->num; i++)
        CHECK_OK(cohort_await(done[i]));
    return COHORT_OK;
}

static void run(enum kind kind, uint64_t stall_after,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    for (uint32_t num_localities = 1; num_localities <= NUM_SITES; num_localities += 2)
        for (uint32_t num = 1; num <= MOST_CALLS; num *= 10) {
            struct cluster *cluster = cluster_create(1, num_localities, 0);
            struct job job = {kind, num};
            cohort__list_init(&held);
            is_silent = site == wait_for_silent;
            is_about_calls = kind == CALLS;
            num_asked = 0;
            CHECK_OK(
                cluster_sites(cluster, (struct sites){.name = "questions",
                                                      .options = {.num_sites = NUM_SITES,
                                                                  .stall_after = stall_after,
                                                                  .root_site = ROOT,
                                                                  .algorithms = "gather=linear"},
                                                      .run = site,
                                                      .arg = &job}));
            cluster_destroy(cluster);
        }
}

/* Leaving ---------------------------------------------------------------------------------- */

/* Only the first call asks. */
static void look_at_first(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__operation *first = cohort__endpoint_find(cohort__endpoint_of(actor), 1);
    if (first)
        first->handlers->stalled(first);
    atomic_store(&COHORT_CONTAINER_OF(item, struct turn, item)->is_over, true);
}

/* Site 1 leaves. The first call of site 0 learns it, and all others, though they have not waited
 * for `stall_after`, nor some of them even begun. */
static cohort_status wait_for_leaver(cohort_comm *comm, void *arg)
{
    const struct job *job = arg;
    const uint32_t me = cohort_comm_this_site(comm);
    cohort_future *done[MOST_CALLS];
    int64_t out[MOST_CALLS][NUM_SITES];
    if (me == SILENT)
        return COHORT_OK;
    for (uint32_t i = 0; i < job->num; i++)
        done[i] = begin(comm, job, i, out[i]);
    while (me == ROOT && !cohort_future_ready(done[0])) {
        take_turn(comm, false, look_at_first);
        cohort_yield();
    }
    for (uint32_t i = 0; i < job->num; i++)
        CHECK_INT(cohort_await(done[i]), me == ROOT ? COHORT_ERR_GONE : COHORT_OK);
    return COHORT_OK;
}

TEST_CALL(leaver, run(CALLS, UINT64_C(3600000000000), wait_for_leaver))

/* From any of many -------------------------------------------------------------------------- */

/* Its channels have waited for longer than `stall_after`: for an hour, so no other tick asks. */
static void look_as_if_late(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    const uint64_t stall_after = comm->stall_after;
    comm->stall_after = 1;
    look(actor, item);
    comm->stall_after = stall_after;
}

/* All sites wait for a message from any, which comes from site 0 after some rounds. */
static cohort_status wait_for_any(cohort_comm *comm, void *arg)
{
    const uint32_t num_sites = *(const uint32_t *)arg, me = cohort_comm_this_site(comm);
    cohort_future *any = cohort_channel_get_any(comm, 1, NULL, 0, NULL, NULL);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        take_turn(comm, false, look_as_if_late);
        CHECK_OK(cohort_await(cohort_barrier(comm, round)));
    }
    CHECK(atomic_load(&num_asked) <= ROUNDS * num_sites);
    CHECK(atomic_load(&num_asked) > 0);
    for (uint32_t site = 0; me == ROOT && site < num_sites; site++)
        CHECK_OK(cohort_await(cohort_channel_set(comm, site, 1, NULL, 0)));
    return cohort_await(any);
}

/* Site 0 waits, and all others leave. */
static cohort_status wait_for_nobody(cohort_comm *comm, void *arg)
{
    const uint32_t num_sites = *(const uint32_t *)arg;
    uint32_t num_looks = 0;
    if (cohort_comm_this_site(comm) != ROOT)
        return COHORT_OK;
    cohort_future *any = cohort_channel_get_any(comm, 1, NULL, 0, NULL, NULL);
    for (; !cohort_future_ready(any); num_looks++) {
        take_turn(comm, false, look_as_if_late);
        cohort_yield();
    }
    CHECK_INT(cohort_await(any), COHORT_ERR_GONE);
    CHECK(atomic_load(&num_asked) <= num_looks + 2 * num_sites);
    return COHORT_OK;
}

TEST(any_of_many)
{
    static cohort_status (*const sites[])(cohort_comm * comm, void *arg) = {wait_for_any,
                                                                            wait_for_nobody};
    for (uint32_t num_sites = 2; num_sites <= 200; num_sites *= 10)
        for (uint32_t i = 0; i < 4; i++) {
            struct cluster *cluster = cluster_create(1, 1 + i / 2 * 2, 0);
            is_silent = is_about_calls = false;
            num_asked = 0;
            CHECK_OK(cluster_sites(
                cluster, (struct sites){.name = "any of many",
                                        .options = {.num_sites = num_sites,
                                                    .stall_after = UINT64_C(3600000000000)},
                                        .run = sites[i % 2],
                                        .arg = &num_sites}));
            cluster_destroy(cluster);
        }
}

TEST_CALL(calls, run(CALLS, 1, wait_for_silent))
TEST_CALL(gets, run(GETS, 1, wait_for_silent))
TEST_CALL(gets_from_any, run(GETS_FROM_ANY, 1, wait_for_silent))
