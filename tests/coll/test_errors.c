/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/program.h"
#include "tests/support/sites.h"
#include "tests/support/new.h"
#include "tests/support/test.h"

/* Wrong calls: sites that differ, and mistakes that cause no message. Each is followed by a right
 * one on the same communicator. */

enum { STALL_AFTER_NS = 200000000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void run(const char *name, uint32_t num_sites, uint32_t threshold,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cohort_status status = sites_run(&(struct sites){
        .name = name,
        .options = {.num_sites = num_sites,
                    .arity = 2,
                    .flat_fallback_threshold = threshold,
                    .stall_after = STALL_AFTER_NS},
        .run = site,
    });
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
}

/* Runs it flat, and with a tree of three levels. */
static void run_both(const char *name, cohort_status (*site)(cohort_comm *comm, void *arg))
{
    char full[64];
    snprintf(full, sizeof(full), "%s-flat", name);
    run(full, 6, 1024, site);
    snprintf(full, sizeof(full), "%s-tree", name);
    run(full, 6, COHORT_FORCE_TREE, site);
}

static void check_usable(cohort_comm *comm, uint64_t generation)
{
    int32_t in = (int32_t)cohort_comm_this_site(comm), out = -1;
    int32_t num_sites = (int32_t)cohort_comm_num_sites(comm);
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_INT32, COHORT_SUM, generation));
    if (status)
        FAIL("site %d: %s", in, cohort_error_message());
    CHECK_INT(out, num_sites * (num_sites - 1) / 2);
}

TEST_SITE(wrong_length, run_both("wrong-length", site))
{
    uint32_t me = cohort_comm_this_site(comm);
    int64_t in[64] = {0}, out[64];
    size_t count = me == 4 ? 5 : 3;
    CHECK_FAILS(cohort_await(cohort_all_to_all(comm, in, out, count, COHORT_INT64, 1)),
                COHORT_ERR_MISMATCH, "site 4 called all_to_all");
    CHECK_CONTAINS(cohort_error_message(), "of 5 int64");
    CHECK_CONTAINS(cohort_error_message(), "of 3 int64");
    check_usable(comm, 2);
}

TEST_SITE(wrong_generation, run_both("wrong-generation", site))
{
    CHECK_FAILS(cohort_await(cohort_barrier(comm, 0)), COHORT_ERR_BAD_PARAMETER, "generation 0");
    CHECK_FAILS(cohort_await(cohort_barrier(comm, COHORT_AUTO_GENERATION)),
                COHORT_ERR_BAD_PARAMETER, "auto_generation");
    check_usable(comm, 7);
    CHECK_FAILS(cohort_await(cohort_barrier(comm, 7)), COHORT_ERR_GENERATION,
                "generation 7 is not above the last one, 7");
    check_usable(comm, 8);
}

TEST_SITE(wrong_role, run_both("wrong-role", site))
{
    uint32_t me = cohort_comm_this_site(comm);
    int32_t in = 1, out[64];
    cohort_future *future = me == 3   ? cohort_gather_here(comm, &in, out, 1, COHORT_INT32, 1)
                            : me == 0 ? cohort_gather_here(comm, &in, out, 1, COHORT_INT32, 1)
                                      : cohort_gather_there(comm, &in, 1, COHORT_INT32, 1);
    cohort_status status = cohort_await(future);
    if (me == 3 || me == 0) { /* the site that did it, and the one that depends on it */
        CHECK_FAILS(status, COHORT_ERR_WRONG_ROLE, "site 3, cohort_gather_here");
    }
    check_usable(comm, 2);
}

static cohort_status bad_arguments(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    double in[64] = {0}, out[64];
    /* One site has no buffer. All sites get its error, since all depend on it. */
    CHECK_FAILS(cohort_await(cohort_all_reduce(comm, me == 2 ? NULL : in, out, 1, COHORT_DOUBLE,
                                               COHORT_SUM, 1)),
                COHORT_ERR_BAD_PARAMETER, "site 2, cohort_all_reduce: no input buffer");
    CHECK_FAILS(cohort_await(cohort_all_reduce(comm, in, out, 1, 999, COHORT_SUM, 2)),
                COHORT_ERR_BAD_PARAMETER, "999 is no datatype");
    CHECK_FAILS(
        cohort_await(cohort_all_reduce(comm, in, out, 1, COHORT_DOUBLE, COHORT_BITWISE_AND, 3)),
        COHORT_ERR_BAD_PARAMETER, "bitwise and can't reduce elements of type double");
    CHECK_INT(cohort_await(cohort_all_gather(comm, in, out, SIZE_MAX / 8, COHORT_DOUBLE, 4)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_all_reduce(comm, in, out, 1, COHORT_DOUBLE, NULL, 5)),
              COHORT_ERR_BAD_PARAMETER);
    /* One block of that size would be possible. All blocks of all sites are too much. */
    CHECK_FAILS(cohort_await(cohort_all_gather(comm, in, out, PTRDIFF_MAX / 64, COHORT_DOUBLE, 6)),
                COHORT_ERR_BAD_PARAMETER, "is more than memory");
    check_usable(comm, 7);
    return COHORT_OK;
}

TEST(bad_arguments)
{
    run_both("bad-arguments", bad_arguments);
    CHECK_INT(cohort_await(cohort_barrier(NULL, 1)), COHORT_ERR_BAD_PARAMETER);
}

static cohort_status fails(void *result, const void *left, const void *right, size_t count,
                           cohort_datatype datatype, void *arg)
{
    return cohort_fail(COHORT_ERR_FAILED, "the user's operation doesn't like it");
}

TEST_SITE(failing_operation, run_both("failing-operation", site))
{
    cohort_op *op;
    CHECK_OK(cohort_op_create(
        &op, &(struct cohort_op_options){.name = "fails", .function = fails, .commutative = true}));
    double in = 1, out;
    CHECK_FAILS(cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, op, 1)),
                COHORT_ERR_FAILED, "doesn't like it");
    cohort_op_unref(op);
    check_usable(comm, 2);
}

TEST(creation)
{
    cohort_comm *comm = NULL;
    CHECK_FAILS(cohort_await(cohort_comm_create(
                    &comm, "x", &(cohort_comm_options){.num_sites = 4, .this_site = 4})),
                COHORT_ERR_BAD_PARAMETER, "site 4 is out of range");
    CHECK_INT(cohort_await(cohort_comm_create(&comm, "x", &(cohort_comm_options){0})),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_comm_create(&comm, "", &(cohort_comm_options){.num_sites = 1})),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_comm_create(
                  &comm, "x", &(cohort_comm_options){.num_sites = 2, .root_site = 2})),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_await(cohort_comm_create(&comm, "x",
                                              &(cohort_comm_options){.num_sites = 2, .arity = 1})),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_FAILS(cohort_await(cohort_comm_create(
                    &comm, "x",
                    &(cohort_comm_options){.num_sites = 2, .algorithms = "all_to_all=fastest"})),
                COHORT_ERR_BAD_PARAMETER, "no algorithm of all_to_all is called \"fastest\"");
    CHECK_CONTAINS(cohort_error_message(), "linear");
    CHECK_FAILS(
        cohort_await(cohort_comm_create(&comm, NULL, &(cohort_comm_options){.num_sites = 1})),
        COHORT_ERR_BAD_PARAMETER, "cohort_comm_create: no name");
    CHECK_FAILS(cohort_await(cohort_comm_create(NULL, "x", &(cohort_comm_options){.num_sites = 1})),
                COHORT_ERR_BAD_PARAMETER, "communicator \"x\": site 0: no place for the result");
    CHECK(comm == NULL);
}

/* Before there is a job. */
static void create_too_early(void)
{
    cohort_comm *comm = NULL;
    CHECK_FAILS(
        cohort_await(cohort_comm_create(&comm, "x", &(cohort_comm_options){.num_sites = 1})),
        COHORT_ERR_STATE, "communicator \"x\": no job: call from within cohort_main");
    CHECK(comm == NULL);
}

TEST(duplicate_site)
{
    const cohort_comm_options first = {.num_sites = 2, .this_site = 0};
    const cohort_comm_options second = {.num_sites = 2, .this_site = 1};
    cohort_comm *comm_0 = NULL, *comm_1 = NULL, *again = NULL;
    cohort_future *creation = cohort_comm_create(&comm_0, "duplicate", &first);
    CHECK_FAILS(cohort_await(cohort_comm_create(&again, "duplicate", &first)),
                COHORT_ERR_DUPLICATE_SITE, "site 0");
    CHECK_OK(cohort_await(cohort_comm_create(&comm_1, "duplicate", &second)));
    CHECK_OK(cohort_await(creation));
    CHECK_INT(cohort_await(cohort_comm_create(&again, "duplicate", &second)),
              COHORT_ERR_DUPLICATE_SITE);
    CHECK(again == NULL);
    /* The name is free again once the endpoints have left. */
    cohort_comm_unref(comm_0);
    cohort_comm_unref(comm_1);
    creation = cohort_comm_create(&comm_0, "duplicate", &first);
    CHECK_OK(cohort_await(cohort_comm_create(&comm_1, "duplicate", &second)));
    CHECK_OK(cohort_await(creation));
    cohort_comm_unref(comm_0);
    cohort_comm_unref(comm_1);
}

TEST(different_terms)
{
    cohort_comm *comms[4] = {NULL};
    cohort_future *futures[4];
    for (uint32_t site = 0; site < 4; site++)
        futures[site] = cohort_comm_create(
            &comms[site], "terms",
            &(cohort_comm_options){.num_sites = 4, .this_site = site, .arity = site == 2 ? 3 : 2});
    for (uint32_t site = 0; site < 4; site++) {
        CHECK_FAILS(cohort_await(futures[site]), COHORT_ERR_MISMATCH,
                    "site 2 of locality 0 joins with num_sites 4, "
                    "root_site 0, arity 3");
        CHECK_CONTAINS(cohort_error_message(), "site 0 of locality 0 with");
    }
}

/* Mistakes that send nothing ------------------------------------------------------------------ */

static double slowest; /* the longest time until a site of this run was told, in seconds */

static void was_told(double begin)
{
    double seconds = now() - begin;
    slowest = seconds > slowest ? seconds : slowest;
}

/* The sites are told in time. A busy machine may delay that once, but not again and again. */
static void run_in_time(const char *name, uint32_t num_sites,
                        cohort_status (*site)(cohort_comm *comm, void *arg))
{
    const double limit = STALL_AFTER_NS / 1e9 + 1;
    for (int i = 0; i < 10; i++) {
        slowest = 0;
        run(name, num_sites, 1024, site);
        if (slowest < limit)
            return;
    }
    FAIL("%s: %.3f s", name, slowest);
}

TEST_SITE(gather_against_broadcast, run_in_time("gather-against-broadcast", 2, site))
{
    double begin = now();
    int32_t in = 1, out[2];
    cohort_future *future = cohort_comm_this_site(comm) == 0
                                ? cohort_gather_here(comm, &in, out, 1, COHORT_INT32, 1)
                                : cohort_broadcast_from(comm, out, 1, COHORT_INT32, 1);
    CHECK_INT(cohort_await(future), COHORT_ERR_MISMATCH);
    was_told(begin);
    CHECK_CONTAINS(cohort_error_message(), "site 0 called gather");
    CHECK_CONTAINS(cohort_error_message(), "site 1 called broadcast");
    check_usable(comm, 2);
}

TEST_SITE(root_skips, run_in_time("root-skips", 3, site))
{
    double begin = now();
    int32_t out = 0;
    if (cohort_comm_this_site(comm) == 0) {
        /* Generation 1 is left out here. The next call of this site doesn't end the others' wait.
         */
        CHECK_OK(cohort_await(cohort_broadcast_to(comm, &out, 1, COHORT_INT32, 2)));
    } else {
        CHECK_INT(cohort_await(cohort_broadcast_from(comm, &out, 1, COHORT_INT32, 1)),
                  COHORT_ERR_MOVED_PAST);
        was_told(begin);
        CHECK_CONTAINS(cohort_error_message(), "site 0 (locality 0) has left out this generation");
        CHECK_OK(cohort_await(cohort_broadcast_from(comm, &out, 1, COHORT_INT32, 2)));
    }
    check_usable(comm, 3);
}

/* Waits until the roll-call of COMM says that site 2 has been asked. Checks its line. */
static void await_roll_call(cohort_comm *comm)
{
    for (;;) {
        void *text;
        CHECK_OK(cohort_await_value(cohort_comm_roll_call(comm), &text));
        CHECK_CONTAINS(text, "generation 1, barrier");
        CHECK_CONTAINS(text, "waits for site 2 (locality 0)");
        bool asked = strstr(text, "not called yet") != NULL;
        free(text);
        if (asked)
            return;
        CHECK_OK(cohort_await(cohort_sleep(10000000)));
    }
}

static cohort_promise *site_2_may_come;
static cohort_future *site_2_comes;

static cohort_status site_comes_late(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    if (me == 2)
        CHECK_OK(cohort_await(cohort_future_ref(site_2_comes)));
    cohort_future *barrier = cohort_barrier(comm, 1);
    if (me == 0) {
        await_roll_call(comm);
        CHECK(!cohort_future_ready(barrier)); /* it goes on waiting */
        cohort_promise_fulfil(site_2_may_come, NULL);
    }
    CHECK_OK(cohort_await(barrier));
    void *text;
    CHECK_OK(cohort_await_value(cohort_comm_roll_call(comm), &text));
    CHECK_TEXT(text, "");
    free(text);
    return COHORT_OK;
}

TEST(site_never_comes)
{
    site_2_may_come = new_promise(&site_2_comes);
    run("site-never-comes", 3, 1024, site_comes_late);
    cohort_future_unref(site_2_comes);
}

static cohort_status leaves_early(cohort_comm *comm, void *arg)
{
    if (cohort_comm_this_site(comm) == 1)
        return COHORT_OK; /* the endpoint leaves without a call */
    int32_t in = 1, out[4];
    CHECK_FAILS(cohort_await(cohort_all_gather(comm, &in, out, 1, COHORT_INT32, 1)),
                COHORT_ERR_GONE, "site 1 (locality 0) has left the communicator");
    return COHORT_OK;
}

TEST_CALL(site_leaves, run("site-leaves", 2, 1024, leaves_early))

/* Site 1 calls, then site 0, which leaves with the call in flight, and then site 2. */
static struct {
    cohort_promise *may_leave, *may_call;
    cohort_future *leaves, *calls;
} leaver;

static void leave_in_flight(cohort_comm *comm, cohort_future *call)
{
    cohort_comm_unref(comm);
    CHECK_FAILS(cohort_await(call), COHORT_ERR_CANCELLED,
                "site 0 (locality 0) has left the communicator");
    cohort_promise_fulfil(leaver.may_call, NULL);
}

static cohort_status leaves_in_flight(void *arg)
{
    cohort_comm_options options = *(cohort_comm_options *)arg;
    cohort_comm *comm = NULL;
    int32_t in = 1, out;
    uint32_t me = options.this_site;
    CHECK_OK(cohort_await(cohort_comm_create(&comm, "leaver", &options)));
    if (me != 1)
        CHECK_OK(cohort_await(cohort_future_ref(me == 0 ? leaver.leaves : leaver.calls)));
    cohort_future *call = cohort_all_reduce(comm, &in, &out, 1, COHORT_INT32, COHORT_SUM, 1);
    if (me == 0) {
        leave_in_flight(comm, call);
        return COHORT_OK;
    }
    if (me == 1)
        cohort_promise_fulfil(leaver.may_leave, NULL);
    CHECK_FAILS(cohort_await(call), COHORT_ERR_GONE,
                "site 0 (locality 0) has left the communicator");
    call = cohort_all_reduce(comm, &in, &out, 1, COHORT_INT32, COHORT_SUM, 2);
    CHECK_INT(cohort_await(call), COHORT_ERR_GONE);
    cohort_comm_unref(comm);
    return COHORT_OK;
}

static void run_leaver(const char *algorithms)
{
    enum { NUM = 3 };
    cohort_comm_options options[NUM];
    cohort_future *sites[NUM];
    leaver.may_leave = new_promise(&leaver.leaves);
    leaver.may_call = new_promise(&leaver.calls);
    for (uint32_t site = 0; site < NUM; site++) {
        options[site] = (cohort_comm_options){.num_sites = NUM,
                                              .this_site = site,
                                              .algorithms = algorithms,
                                              .stall_after = STALL_AFTER_NS};
        sites[site] = cohort_async(leaves_in_flight, &options[site]);
    }
    CHECK_OK(cohort_await(cohort_when_all(sites, NUM)));
    cohort_future_unref(leaver.leaves);
    cohort_future_unref(leaver.calls);
}

/* Where the sites meet, and where they send each other messages. */
TEST(leaves_in_flight)
{
    run_leaver(NULL);
    run_leaver("all_reduce=linear");
}

static cohort_status cancels(cohort_comm *comm, void *arg)
{
    static int32_t in = 1, out[4]; /* the call outlives this task */
    cohort_future **kept = arg;
    if (cohort_comm_this_site(comm) == 0) {
        *kept = cohort_all_gather(comm, &in, out, 1, COHORT_INT32, 1);
        return COHORT_OK; /* released with the call in flight */
    }
    return COHORT_OK;
}

TEST(unref_in_flight)
{
    cohort_future *kept = NULL;
    CHECK_OK(sites_run(&(struct sites){
        .name = "cancels", .options = {.num_sites = 2}, .run = cancels, .arg = &kept}));
    cohort_status status = cohort_await(kept);
    CHECK(status == COHORT_ERR_CANCELLED || status == COHORT_ERR_GONE);
}

int main(int argc, char **argv)
{
    create_too_early();
    return program_main(argc, argv);
}
