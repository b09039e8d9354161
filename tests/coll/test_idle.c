/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "collectives/comm/hold.h"
#include "runtime/task/scheduler.h"
#include "tests/support/cluster.h"

/* What an endpoint has begun is over only when nobody touches its buffers any more, in the
 * endpoint's turn, whatever comes meanwhile. What is left to do for a call, like the unpacking of
 * its OUT, is a chore: the linker redirects these to this test (--wrap), which holds them back, and
 * a verdict. */

/* A message is copied on the spot, OUT is too long for that. */
enum { SITES = 2, COUNT = 600, STRIDE = 3, MOST_CHORES = 4 };

static struct cohort__work *chores[MOST_CHORES];
static uint32_t num_chores;
static bool are_held;

void __real_cohort__chore_post(struct cohort__work *work);

void __wrap_cohort__chore_post(struct cohort__work *work)
{
    if (!are_held) {
        __real_cohort__chore_post(work);
        return;
    }
    CHECK(num_chores < MOST_CHORES);
    chores[num_chores++] = work;
}

static struct tell {
    struct cohort__hold *hold;
    enum cohort__outcome outcome;
    const struct cohort__error *error;
} tells[SITES];
static uint32_t num_tells;
static bool are_tells_held;

void __real_cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                              const struct cohort__error *error);

void __wrap_cohort__hold_tell(struct cohort__hold *hold, enum cohort__outcome outcome,
                              const struct cohort__error *error)
{
    if (!are_tells_held) {
        __real_cohort__hold_tell(hold, outcome, error);
        return;
    }
    CHECK(num_tells < SITES);
    tells[num_tells++] = (struct tell){hold, outcome, error};
}

static void tell_all(void)
{
    are_tells_held = false;
    while (num_tells > 0) {
        const struct tell tell = tells[--num_tells];
        __real_cohort__hold_tell(tell.hold, tell.outcome, tell.error);
    }
}

static void await_chores(uint32_t num)
{
    YIELD_WHILE(num_chores < num);
}

static void let_go(void)
{
    are_held = false;
    while (num_chores > 0)
        __real_cohort__chore_post(chores[--num_chores]);
}

/* A call of two sites, the second of which unpacks its OUT. */
struct scene {
    struct cluster *cluster;
    cohort_comm *comms[SITES];
    cohort_layout *layout;
    int32_t *in, *out;
    cohort_future *calls[SITES];
    cohort_future *rows[SITES];
    cohort_future *idle; /* of site 1 */
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){.cluster = cluster_create(1, 1, 0)};
    cluster_create_comms(scene->cluster, scene->comms, "idle",
                         (cohort_comm_options){.num_sites = SITES});
    CHECK_OK(cohort_layout_create_vector(&scene->layout, SITES * COUNT, 1, STRIDE));
    scene->in = test_calloc(SITES * COUNT, sizeof(*scene->in));
    scene->out = test_calloc(SITES * COUNT * STRIDE, sizeof(*scene->out));
    for (int32_t i = 0; i < SITES * COUNT; i++)
        scene->in[i] = i + 1;
    are_held = true;
}

/* Now all of the data has come, and is not unpacked yet. Site 0 has completed. */
static void called(struct scene *scene)
{
    scene->idle = cohort_comm_idle(scene->comms[1]);
    CHECK_OK(cohort_await(scene->calls[0]));
    await_chores(1);
}

/* A call that each site completes only with the others. */
static void all_gather(struct scene *scene, cohort_future **ret_rows)
{
    static int32_t plain[SITES * COUNT];
    cohort_comm *const *comms = scene->comms;
    CHECK_OK(cohort_comm_next_call(
        comms[1], &(cohort_call_options){.out_layout = scene->layout, .ret_rows = ret_rows}));
    scene->calls[0] = cohort_all_gather(comms[0], scene->in, plain, COUNT, COHORT_INT32, 1);
    scene->calls[1] =
        cohort_all_gather(comms[1], scene->in + COUNT, scene->out, COUNT, COHORT_INT32, 1);
    called(scene);
}

/* A call that site 0 completes alone. */
static void gather(struct scene *scene, uint64_t deadline)
{
    static const uint32_t root = 1;
    cohort_comm *const *comms = scene->comms;
    CHECK_OK(cohort_comm_next_call(comms[0], &(cohort_call_options){.root_site = &root}));
    scene->calls[0] = cohort_gather_there(comms[0], scene->in, COUNT, COHORT_INT32, 1);
    CHECK_OK(cohort_comm_next_call(comms[1], &(cohort_call_options){.deadline = deadline,
                                                                    .out_layout = scene->layout,
                                                                    .root_site = &root}));
    scene->calls[1] =
        cohort_gather_here(comms[1], scene->in + COUNT, scene->out, COUNT, COHORT_INT32, 1);
    called(scene);
}

static bool is_unpacked(const struct scene *scene)
{
    for (int32_t i = 0; i < SITES * COUNT; i++)
        if (scene->out[i * STRIDE] != i + 1)
            return false;
    return true;
}

/* Then OUT is the caller's again. */
static void end(struct scene *scene, cohort_status status)
{
    CHECK(!cohort_future_ready(scene->calls[1]));
    CHECK(!cohort_future_ready(scene->idle));
    CHECK(!is_unpacked(scene));
    let_go();
    CHECK_OK(cohort_await(scene->idle));
    CHECK(cohort_future_ready(scene->calls[1]));
    CHECK(is_unpacked(scene));
    CHECK_INT(cohort_await(scene->calls[1]), status);
}

static void scene_fini(struct scene *scene)
{
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(scene->comms[site]);
    cohort_layout_unref(scene->layout);
    free(scene->in);
    free(scene->out);
    cluster_destroy(scene->cluster);
}

static struct scene scene;

#define TEST_SCENE(name) TEST_BETWEEN(name, scene_init(&scene), scene_fini(&scene))

TEST_SCENE(unpacking)
{
    void *text;
    all_gather(&scene, scene.rows);
    CHECK_OK(cohort_await_value(cohort_comm_roll_call(scene.comms[1]), &text));
    CHECK_CONTAINS(text, "generation 1, all_gather");
    CHECK_CONTAINS(text, "waits for a worker that unpacks OUT");
    free(text);
    for (uint32_t site = 0; site < SITES; site++)
        CHECK(!cohort_future_ready(scene.rows[site]));
    end(&scene, COHORT_OK);
    for (uint32_t site = 0; site < SITES; site++)
        CHECK_OK(cohort_await(scene.rows[site]));
}

/* Site 0 has completed, so the call is left as it is. */
TEST_SCENE(cancelled)
{
    all_gather(&scene, NULL);
    for (uint32_t site = 0; site < SITES; site++)
        CHECK_OK(cohort_comm_cancel(scene.comms[site], 1));
    end(&scene, COHORT_OK);
}

/* Where a site completes without the others, a call is taken back. */
TEST_SCENE(taken_back)
{
    gather(&scene, 0);
    CHECK_OK(cohort_comm_cancel(scene.comms[0], 1));
    end(&scene, COHORT_ERR_CANCELLED);
    /* The communicator goes on. */
    for (uint32_t site = 0; site < SITES; site++)
        scene.calls[site] = cohort_barrier(scene.comms[site], 2);
    CHECK_OK(cohort_await(cohort_when_all(scene.calls, SITES)));
}

/* The verdict comes when the data has come, which it had not when the call was frozen: it is longer
 * than what is copied on the spot. */
TEST_SCENE(told_late)
{
    cohort_comm *const *comms = scene.comms;
    are_tells_held = true;
    CHECK_OK(cohort_comm_next_call(comms[1], &(cohort_call_options){.out_layout = scene.layout}));
    scene.calls[1] = cohort_broadcast_from(comms[1], scene.out, SITES * COUNT, COHORT_INT32, 1);
    scene.calls[0] = cohort_broadcast_to(comms[0], scene.in, SITES * COUNT, COHORT_INT32, 1);
    scene.idle = cohort_comm_idle(comms[1]);
    await_chores(1);
    CHECK_OK(cohort_comm_cancel(comms[0], 1));
    CHECK_INT(num_tells, SITES);
    __real_cohort__chore_post(chores[--num_chores]); /* copies */
    await_chores(1);                                 /* to unpack */
    tell_all();
    end(&scene, COHORT_ERR_CANCELLED);
    CHECK_INT(cohort_await(scene.calls[0]), COHORT_ERR_CANCELLED);
}

/* A call that unpacks has its deadline still. */
TEST_SCENE(deadline)
{
    are_tells_held = true;
    gather(&scene, 1000000);
    while (num_tells < SITES)
        CHECK_OK(cohort_await(cohort_sleep(1000000)));
    tell_all();
    end(&scene, COHORT_ERR_TIMEOUT);
}

TEST_SCENE(left)
{
    all_gather(&scene, NULL);
    for (uint32_t site = 0; site < SITES; site++) {
        cohort_comm_unref(scene.comms[site]);
        scene.comms[site] = NULL;
    }
    end(&scene, COHORT_ERR_CANCELLED);
}

/* The call needs nobody any more. */
TEST_SCENE(revoked)
{
    all_gather(&scene, NULL);
    CHECK_OK(cohort_await(cohort_comm_revoke(scene.comms[0])));
    CHECK_INT(cohort_await(cohort_barrier(scene.comms[1], 2)), COHORT_ERR_REVOKED);
    end(&scene, COHORT_OK);
}

/* What makes communicators, or agrees, ends at other places. */
static void check_open(struct scene *scene, cohort_future *futures[SITES], uint32_t num)
{
    cohort_future *idle[SITES];
    for (uint32_t site = 0; site < SITES; site++)
        idle[site] = cohort_comm_idle(scene->comms[site]);
    await_chores(num);
    for (uint32_t site = 0; site < SITES; site++) {
        CHECK(!cohort_future_ready(futures[site]));
        CHECK(!cohort_future_ready(idle[site]));
    }
    let_go();
    for (uint32_t site = 0; site < SITES; site++) {
        CHECK_OK(cohort_await(idle[site]));
        CHECK(cohort_future_ready(futures[site]));
        CHECK_OK(cohort_await(futures[site]));
    }
}

/* Who calls last joins at once, and waits for the other one. */
TEST_SCENE(divided)
{
    cohort_comm *children[SITES];
    cohort_future *futures[SITES];
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = cohort_comm_dup(&children[site], scene.comms[site], 1);
    check_open(&scene, futures, 1);
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(children[site]);
    are_held = true;
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = cohort_comm_split(&children[site], scene.comms[site], 0, 0, 2);
    check_open(&scene, futures, 1);
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(children[site]);
}

TEST_SCENE(agreed)
{
    cohort_agreed agreed[SITES];
    cohort_future *futures[SITES];
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = cohort_comm_agree(scene.comms[site], 1, &agreed[site]);
    check_open(&scene, futures, SITES);
    cohort_comm *survivors[SITES];
    are_held = true;
    for (uint32_t site = 0; site < SITES; site++)
        futures[site] = cohort_comm_shrink(&survivors[site], scene.comms[site]);
    check_open(&scene, futures, SITES);
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(survivors[site]);
}
