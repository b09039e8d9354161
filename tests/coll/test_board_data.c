/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/net/board.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Localities that meet on a board with data of all sizes: beside a post's head, copied at once or
 * by works, and as much as fits into an arena. Many calls are in flight at the same time, so that
 * their data wraps around in the arena. Sites fail while the data is copied. */

enum { BEYOND = 64 * 1024 };

/* No site has to ask another one. */
static const uint64_t never = UINT64_C(120000000000);

static const char all_shared[] =
    "all_reduce=shared,broadcast=shared,all_to_all=shared,all_gather=shared,scatter=shared";

struct job {
    uint32_t num_localities;
    uint32_t num_sites;
    uint32_t slow; /* the site that calls only after all others; num_sites: none */
    bool is_in_place;
    _Atomic uint32_t num_called;
};

static void run(const char *name, struct job *job,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    struct cluster *cluster = cluster_create(1, job->num_localities, 0);
    cohort_status status = cluster_sites(cluster, (struct sites){
                                                      .name = name,
                                                      .options = {.num_sites = job->num_sites,
                                                                  .stall_after = never,
                                                                  .algorithms = all_shared},
                                                      .run = site,
                                                      .arg = job,
                                                  });
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
    cluster_destroy(cluster);
}

/* How much a site of a locality may bring, in elements of 8 bytes. */
static size_t share_of(const struct job *job)
{
    uint32_t sites = (job->num_sites + job->num_localities - 1) / job->num_localities;
    return COHORT__BOARD_POST / sites / 8;
}

/* One call ---------------------------------------------------------------------------------- */

enum what { ALL_REDUCE, BROADCAST, ALL_TO_ALL, ALL_GATHER, NUM_WHATS };

struct call {
    enum what what;
    size_t count; /* elements in a block */
    uint64_t generation;
    int64_t *in, *out;
    cohort_future *done;
};

/* With a sanitizer only some elements of long blocks are written and looked at. The others are 0.
 */
static size_t stride_of(size_t count)
{
    return count > BEYOND / 8 ? test_rounds(1, 61) : 1;
}

static int64_t element(uint64_t generation, uint32_t from, uint32_t to, size_t i)
{
    return (int64_t)(generation * 1000003 + from * 10007 + to * 101 + i % 97);
}

static uint32_t blocks_in(const struct call *call, uint32_t num_sites)
{
    return call->what == ALL_TO_ALL ? num_sites : 1;
}

static uint32_t blocks_out(const struct call *call, uint32_t num_sites)
{
    return call->what == ALL_TO_ALL || call->what == ALL_GATHER ? num_sites : 1;
}

static void begin(struct call *call, cohort_comm *comm, const struct job *job)
{
    uint32_t num_sites = job->num_sites, me = cohort_comm_this_site(comm);
    size_t count = call->count, num_in = blocks_in(call, num_sites) * count;
    size_t stride = stride_of(count);
    bool is_in_place = job->is_in_place && (call->what == ALL_REDUCE || call->what == ALL_TO_ALL);
    call->out = calloc(blocks_out(call, num_sites) * count + 1, sizeof(*call->out));
    call->in = is_in_place ? call->out : calloc(num_in + 1, sizeof(*call->in));
    CHECK(call->in && call->out);
    for (uint32_t block = 0; block < blocks_in(call, num_sites); block++)
        for (size_t i = 0; i < count; i += stride)
            call->in[block * count + i] = element(call->generation, me, block, i);
    const void *in = is_in_place ? COHORT_IN_PLACE : call->in;
    if (call->what == ALL_REDUCE)
        call->done = cohort_all_reduce(comm, in, call->out, count, COHORT_INT64, COHORT_SUM,
                                       call->generation);
    else if (call->what == ALL_TO_ALL)
        call->done = cohort_all_to_all(comm, in, call->out, count, COHORT_INT64, call->generation);
    else if (call->what == ALL_GATHER)
        call->done =
            cohort_all_gather(comm, call->in, call->out, count, COHORT_INT64, call->generation);
    else if (me == 0)
        call->done = cohort_broadcast_to(comm, call->in, count, COHORT_INT64, call->generation);
    else
        call->done = cohort_broadcast_from(comm, call->out, count, COHORT_INT64, call->generation);
}

static int64_t expected(const struct call *call, uint32_t num_sites, uint32_t me, uint32_t block,
                        size_t i)
{
    int64_t sum = 0;
    switch (call->what) {
    case ALL_REDUCE:
        for (uint32_t site = 0; site < num_sites; site++)
            sum += element(call->generation, site, 0, i);
        return sum;
    case ALL_TO_ALL:
        return element(call->generation, block, me, i);
    case ALL_GATHER:
        return element(call->generation, block, 0, i);
    default:
        return element(call->generation, 0, 0, i);
    }
}

/* The call's buffers are overwritten and freed as soon as it is over. */
static void finish(struct call *call, const cohort_comm *comm)
{
    uint32_t num_sites = cohort_comm_num_sites(comm), me = cohort_comm_this_site(comm);
    size_t num_in = blocks_in(call, num_sites) * call->count, stride = stride_of(call->count);
    if (cohort_await(call->done))
        FAIL("site %u: %s", me, cohort_error_message());
    if (call->in != call->out)
        memset(call->in, 0xee, num_in * sizeof(*call->in));
    uint32_t num_blocks = call->what == BROADCAST && me == 0 ? 0 : blocks_out(call, num_sites);
    for (uint32_t block = 0; block < num_blocks; block++)
        for (size_t i = 0; i < call->count; i += stride) {
            int64_t got = call->out[block * call->count + i];
            int64_t want = expected(call, num_sites, me, block, i);
            if (got != want) /* a call for each element would take most of the test's time */
                CHECK_INT(got, want);
        }
    if (call->in != call->out)
        free(call->in);
    free(call->out);
}

/* Sizes ------------------------------------------------------------------------------------- */

/* Each collective with blocks of each of NUM sizes, one after the other. */
static void call_each(cohort_comm *comm, const struct job *job, const size_t *counts, size_t num)
{
    uint64_t generation = 0;
    for (size_t i = 0; i < num; i++)
        for (int what = 0; what < NUM_WHATS; what++) {
            size_t count = what == ALL_TO_ALL ? counts[i] / job->num_sites : counts[i];
            struct call call = {(enum what)what, count, ++generation, NULL, NULL, NULL};
            begin(&call, comm, job);
            finish(&call, comm);
        }
}

/* Sizes around each limit. */
static cohort_status sizes(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    size_t share = share_of(job);
    const size_t counts[] = {0,     1,         4,         5,        BEYOND / 8, BEYOND / 8 + 1,
                             share, share / 2, share - 1, share / 3};
    call_each(comm, job, counts, NUM_OF(counts));
    return COHORT_OK;
}

TEST(sizes)
{
    for (uint64_t in_place = 0; in_place < test_rounds(2, 1); in_place++) {
        run("sizes", &(struct job){.num_localities = 2, .num_sites = 2, .is_in_place = in_place},
            sizes);
        run("sizes", &(struct job){.num_localities = 3, .num_sites = 7, .is_in_place = !in_place},
            sizes);
    }
}

/* So many localities that all their data together is larger than most caches. The bytes beside the
 * limits at which data is cut into pieces stay as they are. */
static cohort_status large(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    size_t share = share_of(job);
    const struct call calls[] = {
        {ALL_TO_ALL, share / job->num_sites, 1, NULL, NULL, NULL},
        {ALL_TO_ALL, share / job->num_sites - 3, 2, NULL, NULL, NULL},
        {ALL_GATHER, share - 5, 3, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < NUM_OF(calls); i++) {
        struct call call = calls[i];
        begin(&call, comm, job);
        finish(&call, comm);
    }
    return COHORT_OK;
}

TEST(large)
{
    run("large", &(struct job){.num_localities = 7, .num_sites = 7}, large);
    run("large", &(struct job){.num_localities = 7, .num_sites = 8, .is_in_place = true}, large);
}

/* More data than that goes in segments. */
static cohort_status segments(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    size_t share = share_of(job);
    const size_t counts[] = {share + 1, share + share / 2, 5 * share / 2 - 3, 3 * share};
    call_each(comm, job, counts, test_rounds(NUM_OF(counts), 2));
    return COHORT_OK;
}

TEST(segments)
{
    for (uint64_t in_place = 0; in_place < test_rounds(2, 1); in_place++) {
        run("segments", &(struct job){.num_localities = 2, .num_sites = 2, .is_in_place = in_place},
            segments);
        run("segments",
            &(struct job){.num_localities = 3, .num_sites = 7, .is_in_place = !in_place}, segments);
    }
}

/* Segments that would have too little of each block are refused at all sites, if a meeting is the
 * only way. */
static cohort_status too_much(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    size_t count = share_of(job) / job->num_sites + 1;
    struct call call = {ALL_TO_ALL, count, 1, NULL, NULL, NULL};
    begin(&call, comm, job);
    CHECK(cohort_await(call.done) != COHORT_OK);
    CHECK_CONTAINS(cohort_error_message(), "shared");
    free(call.in);
    free(call.out);
    return COHORT_OK;
}

TEST_CALL(too_much, run("too much", &(struct job){.num_localities = 3, .num_sites = 24}, too_much))

/* Large and small calls are in flight at the same time. There are more calls than places, and one
 * site may start only when all others have made all of their calls. */
enum { NUM_IN_FLIGHT = 24 };

static cohort_status mixture(cohort_comm *comm, void *arg)
{
    struct job *job = arg;
    struct call calls[NUM_IN_FLIGHT];
    size_t share = share_of(job);
    const size_t counts[] = {1, share, 100, share / 2, share / 3, 3, 2 * share + 1, BEYOND / 8 + 1};
    YIELD_WHILE(cohort_comm_this_site(comm) == job->slow && job->num_called < job->num_sites - 1);
    for (uint64_t i = 0; i < NUM_IN_FLIGHT; i++) {
        enum what what = (enum what)(i % 5 % NUM_WHATS);
        size_t count = counts[i % 8];
        calls[i] = (struct call){.what = what, .generation = i + 1};
        calls[i].count = what == ALL_TO_ALL ? count / job->num_sites : count;
        begin(&calls[i], comm, job);
    }
    job->num_called++;
    for (uint64_t i = 0; i < NUM_IN_FLIGHT; i++)
        finish(&calls[i], comm);
    return COHORT_OK;
}

TEST(mixture)
{
    for (uint32_t slow = 0; slow < test_rounds(4, 1); slow++) {
        run("mixture", &(struct job){.num_localities = 3, .num_sites = 3, .slow = slow}, mixture);
        run("mixture", &(struct job){.num_localities = 3, .num_sites = 5, .slow = slow + 2},
            mixture);
    }
}

/* Failing ----------------------------------------------------------------------------------- */

enum { LARGE = COHORT__BOARD_POST / 8 / 3, IN_SEGMENTS = 3 * COHORT__BOARD_POST / 8 };

/* With one worker, which runs the culprit, the culprit's data has not been copied yet when it
 * leaves. With more workers, the call may have reached any point, including its end. When the
 * future of the culprit's call is ready, its buffers belong to it again. */
struct leaving {
    struct job job; /* first */
    uint32_t culprit;
    size_t count;
    struct call call; /* the call of the culprit */
};

static cohort_status leave(cohort_comm *comm, void *arg)
{
    struct leaving *leaving = arg;
    uint32_t me = cohort_comm_this_site(comm);
    struct call call = {ALL_REDUCE, leaving->count, 1, NULL, NULL, NULL};
    if (me == leaving->culprit) {
        YIELD_WHILE(leaving->job.num_called < leaving->job.num_sites - 1);
        begin(&call, comm, &leaving->job);
        leaving->call = call;
        return COHORT_OK; /* sites_run() releases its endpoint */
    }
    begin(&call, comm, &leaving->job);
    leaving->job.num_called++;
    char who[64];
    snprintf(who, sizeof(who), "site %u", leaving->culprit);
    if (cohort_await(call.done))
        CHECK_CONTAINS(cohort_error_message(), who);
    else
        CHECK(NUM_WORKERS > 1);
    memset(call.in, 0xee, call.count * sizeof(*call.in));
    free(call.in);
    free(call.out);
    return COHORT_OK;
}

static void check_leave(size_t count)
{
    for (uint32_t culprit = 0; culprit < 6; culprit += (uint32_t)test_rounds(1, 2)) {
        struct leaving leaving = {
            .job = {.num_localities = 3, .num_sites = 6}, .culprit = culprit, .count = count};
        run("leave", &leaving.job, leave);
        cohort_status status = cohort_await(leaving.call.done);
        CHECK(status == COHORT_ERR_CANCELLED || (NUM_WORKERS > 1 && !status));
        memset(leaving.call.in, 0xee, count * sizeof(*leaving.call.in));
        free(leaving.call.in);
        free(leaving.call.out);
    }
}

TEST(leave)
{
    check_leave(LARGE);
    check_leave(IN_SEGMENTS);
}

/* A site whose part is posted leaves, and then the last site calls. The localities that reduce
 * their shares don't wait for the share that will never be there. */
static cohort_status leave_posted(cohort_comm *comm, void *arg)
{
    struct leaving *leaving = arg;
    uint32_t me = cohort_comm_this_site(comm), last = (leaving->culprit + 1) % 3;
    struct call call = {ALL_REDUCE, 4096, 1, NULL, NULL, NULL};
    if (me == leaving->culprit) {
        begin(&leaving->call, comm, &leaving->job);
        leaving->job.num_called++;
        return COHORT_OK;
    }
    YIELD_WHILE(me == last &&
                (leaving->job.num_called < 2 || !cohort_future_ready(leaving->call.done)));
    begin(&call, comm, &leaving->job);
    leaving->job.num_called++;
    char who[64];
    snprintf(who, sizeof(who), "site %u", leaving->culprit);
    CHECK(cohort_await(call.done) != COHORT_OK);
    CHECK_CONTAINS(cohort_error_message(), who);
    CHECK_CONTAINS(cohort_error_message(), "has left the communicator meanwhile");
    free(call.in);
    free(call.out);
    return COHORT_OK;
}

TEST(leave_posted)
{
    for (uint32_t culprit = 0; culprit < 3; culprit++) {
        struct leaving leaving = {.job = {.num_localities = 3, .num_sites = 3},
                                  .culprit = culprit,
                                  .call = {ALL_REDUCE, 4096, 1, NULL, NULL, NULL}};
        run("leave posted", &leaving.job, leave_posted);
        CHECK_INT(cohort_await(leaving.call.done), COHORT_ERR_CANCELLED);
        free(leaving.call.in);
        free(leaving.call.out);
    }
}

/* The culprit calls last, so that its call begins to reduce its locality's share, and leaves. With
 * one worker, which runs the culprit, works still have to reduce that share then. The share of
 * locality 2 is the smallest and is reduced at once, and those of the other localities are waited
 * for. In both cases the culprit's share will be there, so nothing is missing for the other
 * localities. */
enum { REDUCED_BYTES = 64 * 1024 }; /* of all sites of a locality; larger data is posted by works */

static cohort_status leave_reducing(cohort_comm *comm, void *arg)
{
    struct leaving *leaving = arg;
    uint32_t me = cohort_comm_this_site(comm), num_sites = leaving->job.num_sites;
    struct call call = leaving->call;
    if (me == leaving->culprit) {
        YIELD_WHILE(leaving->job.num_called < num_sites - 1);
        begin(&leaving->call, comm, &leaving->job);
        CHECK(NUM_WORKERS > 1 || !cohort_future_ready(leaving->call.done));
        return COHORT_OK;
    }
    begin(&call, comm, &leaving->job);
    leaving->job.num_called++;
    if (me % leaving->job.num_localities != leaving->culprit % leaving->job.num_localities) {
        finish(&call, comm);
        return COHORT_OK;
    }
    char who[64];
    snprintf(who, sizeof(who), "site %u", leaving->culprit);
    if (cohort_await(call.done))
        CHECK_CONTAINS(cohort_error_message(), who);
    else
        CHECK(NUM_WORKERS > 1);
    free(call.in);
    free(call.out);
    return COHORT_OK;
}

TEST(leave_reducing)
{
    for (uint32_t num_local = 1; num_local < 3; num_local++)
        for (uint32_t culprit = 0; culprit < 3 * num_local; culprit++) {
            struct leaving leaving = {
                .job = {.num_localities = 3, .num_sites = 3 * num_local},
                .culprit = culprit,
                .call = {ALL_REDUCE, REDUCED_BYTES / num_local / 8, 1, NULL, NULL, NULL}};
            run("leave reducing", &leaving.job, leave_reducing);
            cohort_status status = cohort_await(leaving.call.done);
            CHECK(status == COHORT_ERR_CANCELLED || (NUM_WORKERS > 1 && !status));
            memset(leaving.call.in, 0xee, leaving.call.count * sizeof(*leaving.call.in));
            free(leaving.call.in);
            free(leaving.call.out);
        }
}

int main(int argc, char **argv)
{
    return cluster_test(argc, argv, NUM_WORKERS);
}
