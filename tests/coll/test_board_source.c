/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/base/clock.h"
#include "runtime/net/board.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Broadcasts and scatters on a board. The root posts and is done, as long as there is room. Each of
 * the other sites waits only for the root. */

enum { SOON = 100000000, NUM_CALLS = 3 * COHORT__BOARD_DEPTH };

/* No site has to ask another one. */
static const uint64_t never = UINT64_C(120000000000);

struct job {
    uint32_t num_localities;
    uint32_t num_sites;
    uint32_t root;
    size_t count;         /* elements of 8 bytes in a block */
    uint64_t stall_after; /* 0: never */
    bool only_root_asks;
    uint32_t culprit;
    _Atomic uint32_t num_over; /* sites that have done what others wait for */
};

struct stage {
    struct cluster *cluster;
    const struct job *job;
};

static cohort_future *create(void *context, cohort_comm **ret_comm, const char *name,
                             const cohort_comm_options *options)
{
    const struct stage *stage = context;
    cohort_comm_options own = *options;
    if (stage->job->only_root_asks && options->this_site != stage->job->root)
        own.stall_after = never;
    return cluster_create_comm(stage->cluster, ret_comm, name, &own);
}

static void run(const char *name, struct job *job,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    struct stage stage = {cluster_create(1, job->num_localities, 0), job};
    cohort_status status = sites_run(&(struct sites){
        .name = name,
        .options = {.num_sites = job->num_sites,
                    .root_site = job->root,
                    .stall_after = job->stall_after ? job->stall_after : never,
                    .algorithms = "broadcast=shared,scatter=shared,all_reduce=shared"},
        .create = create,
        .context = &stage,
        .run = site,
        .arg = job,
    });
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
    cluster_destroy(stage.cluster);
}

static bool is_root(const cohort_comm *comm, const struct job *job)
{
    return cohort_comm_this_site(comm) == job->root;
}

static void await_over(struct job *job, uint32_t num)
{
    YIELD_WHILE(atomic_load(&job->num_over) < num);
}

/* Calls: of even generations scatters, of odd ones broadcasts ------------------------------- */

struct call {
    uint64_t generation;
    int64_t *in, *out;
    cohort_future *done;
};

static int64_t element(uint64_t generation, uint32_t to, size_t i)
{
    return (int64_t)(generation * 1000003 + to * 101 + i % 97);
}

static bool is_scatter(const struct call *call)
{
    return call->generation % 2 == 0;
}

static void begin(struct call *call, uint64_t generation, cohort_comm *comm, const struct job *job)
{
    size_t count = job->count;
    *call = (struct call){.generation = generation};
    uint32_t num_blocks = is_scatter(call) ? job->num_sites : 1;
    call->in = test_calloc(num_blocks * count, sizeof(*call->in));
    call->out = test_calloc(count, sizeof(*call->out));
    for (size_t i = 0; i < num_blocks * count; i++)
        call->in[i] = element(generation, (uint32_t)(i / count), i % count);
    if (is_scatter(call) && is_root(comm, job))
        call->done = cohort_scatter_to(comm, call->in, call->out, count, COHORT_INT64, generation);
    else if (is_scatter(call))
        call->done = cohort_scatter_from(comm, call->out, count, COHORT_INT64, generation);
    else if (is_root(comm, job))
        call->done = cohort_broadcast_to(comm, call->in, count, COHORT_INT64, generation);
    else
        call->done = cohort_broadcast_from(comm, call->out, count, COHORT_INT64, generation);
}

static void call_free(struct call *call)
{
    free(call->in);
    free(call->out);
}

/* The root's input is overwritten as soon as its call is over. */
static void finish(struct call *call, const cohort_comm *comm, const struct job *job)
{
    uint32_t me = cohort_comm_this_site(comm);
    if (cohort_await(call->done))
        FAIL("site %u, generation %llu: %s", me, (unsigned long long)call->generation,
             cohort_error_message());
    memset(call->in, 0xee, job->count * sizeof(*call->in));
    for (size_t i = 0; i < job->count; i++)
        if (is_scatter(call) || !is_root(comm, job))
            CHECK_INT(call->out[i], element(call->generation, is_scatter(call) ? me : 0, i));
    call_free(call);
}

static void check_failed(struct call *call, cohort_status status, uint32_t culprit)
{
    char who[32];
    snprintf(who, sizeof(who), "site %u", culprit);
    if (cohort_await(call->done) != status)
        FAIL("generation %llu: %s", (unsigned long long)call->generation, cohort_error_message());
    CHECK_CONTAINS(cohort_error_message(), who);
    call_free(call);
}

/* The root is ahead ------------------------------------------------------------------------- */

/* The root's calls are over before any other site has made one. Calls for which there is no place
 * any more wait until the others have read the first ones. */
static cohort_status go_ahead(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    struct call calls[NUM_CALLS];
    size_t bytes = job->num_sites * job->count * sizeof(int64_t);
    int num_ahead = COHORT__BOARD_POST / bytes < COHORT__BOARD_DEPTH ? 1 : COHORT__BOARD_DEPTH;
    bool is_here =
        cohort_comm_this_site(comm) % job->num_localities == job->root % job->num_localities;
    if (!is_here)
        await_over(job, 1);
    for (int i = 0; i < NUM_CALLS; i++)
        begin(&calls[i], (uint64_t)i + 1, comm, job);
    for (int i = 0; i < NUM_CALLS; i++) {
        if (is_root(comm, job) && i == num_ahead) {
            CHECK(!cohort_future_ready(calls[NUM_CALLS - 1].done));
            job->num_over = 1;
        }
        finish(&calls[i], comm, job);
    }
    return COHORT_OK;
}

TEST(ahead)
{
    static const size_t counts[] = {1, 4, 100, 9000, 30000};
    for (size_t i = 0; i < NUM_OF(counts); i++)
        for (uint32_t root = 0; root < 3; root++) {
            if (counts[i] > 1000 && root != i % 3)
                continue; /* one such case is enough, since it takes long */
            struct job one = {
                .num_localities = 3, .num_sites = 3, .root = root, .count = counts[i]};
            struct job several = one;
            run("ahead", &one, go_ahead);
            several.num_sites = 4;
            run("ahead", &several, go_ahead);
        }
}

/* Mixed with calls in which all wait for all, and with one site that calls only when the others
 * can't go on. */
static cohort_status mixture(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    struct call calls[NUM_CALLS];
    cohort_future *sums[NUM_CALLS];
    int64_t in[NUM_CALLS], out[NUM_CALLS];
    uint32_t num_sites = job->num_sites, me = cohort_comm_this_site(comm);
    if (me == job->culprit)
        await_over(job, num_sites - 1);
    for (uint64_t i = 0; i < NUM_CALLS; i++) {
        begin(&calls[i], 1 + i + i / 3, comm, job);
        in[i] = me;
        if (i % 3 == 2)
            sums[i] = cohort_all_reduce(comm, &in[i], &out[i], 1, COHORT_INT64, COHORT_SUM,
                                        2 + i + i / 3);
    }
    atomic_fetch_add(&job->num_over, 1);
    for (uint64_t i = 0; i < NUM_CALLS; i++) {
        finish(&calls[i], comm, job);
        if (i % 3 != 2)
            continue;
        CHECK_OK(cohort_await(sums[i]));
        CHECK_INT(out[i], num_sites * (num_sites - 1) / 2);
    }
    return COHORT_OK;
}

TEST(mixture)
{
    for (uint32_t slow = 0; slow < 4; slow++)
        for (uint32_t root = 0; root < 4; root++) {
            struct job job = {.num_localities = 4,
                              .num_sites = slow % 2 ? 4 : 7,
                              .root = root,
                              .count = 3000,
                              .culprit = slow};
            run("mixture", &job, mixture);
        }
}

/* What goes wrong --------------------------------------------------------------------------- */

/* A site leaves after the first call. The root continues as long as there is room. Then it is told
 * which site has left, for all calls that it has queued at once: if it had to ask for one call
 * after the other, each question would come SOON after the one before. The root then tells the
 * sites that wait for what it has not posted. */
static cohort_status leave(cohort_comm *comm, void *arg)
{
    enum { NUM_QUEUED = 64, NUM = 1 + COHORT__BOARD_DEPTH + NUM_QUEUED };
    struct job *job = arg;
    struct call calls[NUM];
    uint64_t told_first = 0;
    begin(&calls[0], 1, comm, job);
    finish(&calls[0], comm, job);
    if (cohort_comm_this_site(comm) == job->culprit)
        return COHORT_OK;
    for (int i = 1; i < NUM; i++)
        begin(&calls[i], (uint64_t)i + 1, comm, job);
    bool is_beside = /* its locality needs a call of the culprit */
        cohort_comm_this_site(comm) % job->num_localities == job->culprit % job->num_localities;
    /* Then that locality fails what is posted, and passes it. */
    bool has_neighbour = job->culprit + job->num_localities < job->num_sites;
    for (int i = 1; i < NUM; i++)
        if ((has_neighbour || i <= COHORT__BOARD_DEPTH) && !is_beside) {
            finish(&calls[i], comm, job);
        } else {
            check_failed(&calls[i], COHORT_ERR_GONE, job->culprit);
            told_first = told_first ? told_first : cohort__clock_now();
        }
    CHECK(!told_first || cohort__clock_now() - told_first < (uint64_t)NUM_QUEUED * SOON);
    return COHORT_OK;
}

TEST(leave)
{
    for (uint32_t culprit = 0; culprit < 4; culprit++) {
        if (culprit == 2)
            continue;
        struct job job = {.num_localities = 4,
                          .num_sites = 4,
                          .root = 2,
                          .count = 10,
                          .stall_after = SOON,
                          .only_root_asks = true,
                          .culprit = culprit};
        run("leave", &job, leave);
        job.num_sites = 7;
        if (culprit + job.num_localities < job.num_sites)
            job.stall_after = 0; /* else an answer may come before the neighbour's call */
        run("leave", &job, leave);
    }
}

/* The root leaves as soon as its calls are over, before any site has read what it has posted. */
static cohort_status root_leaves(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    struct call calls[COHORT__BOARD_DEPTH + 1];
    int num = is_root(comm, job) ? COHORT__BOARD_DEPTH : COHORT__BOARD_DEPTH + 1;
    if (!is_root(comm, job))
        await_over(job, 1);
    for (int i = 0; i < num; i++)
        begin(&calls[i], (uint64_t)i + 1, comm, job);
    for (int i = 0; i < COHORT__BOARD_DEPTH; i++)
        finish(&calls[i], comm, job);
    job->num_over = 1;
    if (!is_root(comm, job))
        check_failed(&calls[COHORT__BOARD_DEPTH], COHORT_ERR_GONE, job->root);
    return COHORT_OK;
}

TEST(root_leaves)
{
    for (uint32_t root = 0; root < 3; root++)
        run("root leaves",
            &(struct job){.num_localities = 3,
                          .num_sites = 3,
                          .root = root,
                          .count = 10,
                          .stall_after = SOON},
            root_leaves);
}

/* The root's call is refused. All sites are told, whether they called before it or call afterwards.
 */
static cohort_status refuse(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    struct call call;
    if (is_root(comm, job)) {
        await_over(job, 1);
        cohort_future *done = cohort_broadcast_to(comm, NULL, job->count, COHORT_INT64, 1);
        CHECK_INT(cohort_await(done), COHORT_ERR_BAD_PARAMETER);
        job->num_over = 2;
    } else {
        if (cohort_comm_this_site(comm) == job->culprit)
            await_over(job, 2);
        begin(&call, 1, comm, job);
        job->num_over += cohort_comm_this_site(comm) != job->culprit;
        check_failed(&call, COHORT_ERR_BAD_PARAMETER, job->root);
    }
    begin(&call, 2, comm, job);
    finish(&call, comm, job);
    return COHORT_OK;
}

TEST(refuse)
{
    for (uint32_t root = 0; root < 3; root++)
        run("refuse",
            &(struct job){.num_localities = 3,
                          .num_sites = 3,
                          .root = root,
                          .count = 10,
                          .culprit = (root + 1) % 3},
            refuse);
}

/* A site calls with another count, or another collective. It is told, and no other site is
 * affected. */
static cohort_status differ(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    struct call call;
    int64_t out[2];
    if (cohort_comm_this_site(comm) == job->culprit) {
        await_over(job, job->num_sites - 1); /* its question would fail a call in flight */
        cohort_future *done = job->count == 1 ? cohort_broadcast_from(comm, out, 2, COHORT_INT64, 1)
                                              : cohort_barrier(comm, 1);
        CHECK_INT(cohort_await(done), COHORT_ERR_MISMATCH);
        char who[32];
        snprintf(who, sizeof(who), "site %u", job->root);
        CHECK_CONTAINS(cohort_error_message(), who);
    } else {
        begin(&call, 1, comm, job);
        finish(&call, comm, job);
        atomic_fetch_add(&job->num_over, 1);
    }
    for (uint64_t generation = 2; generation < NUM_CALLS; generation++) {
        begin(&call, generation, comm, job);
        finish(&call, comm, job);
    }
    return COHORT_OK;
}

TEST(differ)
{
    for (uint32_t culprit = 1; culprit < 3; culprit++)
        for (size_t count = 1; count < 3; count++)
            run("differ",
                &(struct job){
                    .num_localities = 3, .num_sites = 3, .count = count, .culprit = culprit},
                differ);
}

int main(int argc, char **argv)
{
    return cluster_test(argc, argv, NUM_WORKERS);
}
