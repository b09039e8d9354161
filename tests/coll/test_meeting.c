/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/program.h"
#include "tests/support/sites.h"
#include "tests/support/test.h"

/* Collectives of sites that share memory. No site waits long enough to ask another one, so errors
 * have to be reported without questions. */

enum { NUM_SITES = 6, HOUR = 3600 };

static void run(const char *name, cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cohort_status status = sites_run(&(struct sites){
        .name = name,
        .options = {.num_sites = NUM_SITES, .stall_after = HOUR * UINT64_C(1000000000)},
        .run = site,
    });
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
}

static void check_sum(cohort_comm *comm, uint64_t generation)
{
    int32_t in = (int32_t)cohort_comm_this_site(comm), out = -1;
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_INT32, COHORT_SUM, generation));
    if (status)
        FAIL("site %d: %s", in, cohort_error_message());
    CHECK_INT(out, NUM_SITES * (NUM_SITES - 1) / 2);
}

/* Different calls: all sites are told at once, also a site that calls after the end. */
TEST_SITE(mismatch, run("mismatch", site))
{
    for (uint64_t generation = 1; generation <= 2 * NUM_SITES; generation += 2) {
        double in[NUM_SITES] = {0}, out[NUM_SITES];
        bool is_wrong = generation / 2 == cohort_comm_this_site(comm);
        cohort_future *done =
            is_wrong ? cohort_all_reduce(comm, in, out, 1, COHORT_DOUBLE, COHORT_SUM, generation)
                     : cohort_all_gather(comm, in, out, 1, COHORT_DOUBLE, generation);
        CHECK_FAILS(cohort_await(done), COHORT_ERR_MISMATCH, "all_reduce");
        CHECK_CONTAINS(cohort_error_message(), "all_gather");
        check_sum(comm, generation + 1);
    }
}

/* One site leaves generations out. All other sites fail in them, whichever site calls first. */
TEST_SITE(moved_past, run("moved-past", site))
{
    uint32_t me = cohort_comm_this_site(comm);
    uint64_t generation = 1;
    for (uint32_t skipper = 0; skipper < NUM_SITES; skipper++, generation += 4) {
        cohort_future *left_out[3];
        for (uint64_t i = 0; me != skipper && i < 3; i++)
            left_out[i] = cohort_barrier(comm, generation + i);
        check_sum(comm, generation + 3);
        for (uint64_t i = 0; me != skipper && i < 3; i++) {
            char who[32];
            snprintf(who, sizeof(who), "site %u (locality 0)", skipper);
            CHECK_FAILS(cohort_await(left_out[i]), COHORT_ERR_MOVED_PAST, who);
        }
    }
}

/* A rejected call uses up its generation, and the others are told. */
static cohort_status rejected(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    for (uint64_t generation = 1; generation <= 2 * NUM_SITES; generation += 2) {
        double in = 1, out = 0;
        bool is_wrong = generation / 2 == me;
        CHECK_FAILS(cohort_await(cohort_all_reduce(comm, is_wrong ? NULL : &in, &out, 1,
                                                   COHORT_DOUBLE, COHORT_SUM, generation)),
                    COHORT_ERR_BAD_PARAMETER, "no input buffer");
        check_sum(comm, generation + 1);
    }
    return COHORT_OK;
}

TEST_CALL(rejected, run("rejected", rejected))

/* Site 5 leaves. The calls of the generations that it has not called fail at once, whether they
 * were made before or after it left. */
static cohort_status leaving(cohort_comm *comm, void *arg)
{
    check_sum(comm, 1);
    if (cohort_comm_this_site(comm) == 5)
        return COHORT_OK;
    for (uint64_t generation = 2; generation < 5; generation++) {
        CHECK_FAILS(cohort_await(cohort_barrier(comm, generation)), COHORT_ERR_GONE, "site 5");
    }
    return COHORT_OK;
}

TEST(leaving)
{
    cohort_status status = sites_run(&(struct sites){
        .name = "leaving",
        .options = {.num_sites = NUM_SITES, .stall_after = HOUR * UINT64_C(1000000000)},
        .run = leaving,
    });
    if (status)
        FAIL("leaving: %s", cohort_error_message());
}

/* The leaving site's own call is cancelled, and the others get the same error. */
static cohort_status leaving_inside(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    check_sum(comm, 1);
    if (me == 0)
        return COHORT_OK; /* never comes to generation 2 */
    cohort_future *inside = cohort_barrier(comm, 2);
    cohort_status status = cohort_await(inside);
    CHECK(status == COHORT_ERR_GONE || status == COHORT_ERR_CANCELLED);
    return COHORT_OK;
}

TEST(leaving_inside)
{
    cohort_status status = sites_run(&(struct sites){
        .name = "leaving-inside",
        .options = {.num_sites = NUM_SITES, .stall_after = HOUR * UINT64_C(1000000000)},
        .run = leaving_inside,
    });
    if (status)
        FAIL("leaving-inside: %s", cohort_error_message());
}

/* More calls in flight than the window holds, of all sizes. Some data is moved at once, some by
 * works that overtake each other. */
TEST_SITE(pipelined, run("pipelined", site))
{
    enum { CALLS = 150, COUNT = 20000 };
    uint32_t me = cohort_comm_this_site(comm);
    int64_t *in = test_malloc(COUNT * sizeof(*in)),
            *out = test_malloc(CALLS * COUNT * sizeof(*out));
    cohort_future **done = test_malloc(CALLS * sizeof(*done));
    for (size_t i = 0; i < COUNT; i++)
        in[i] = (int64_t)(me + i);
    for (size_t call = 0; call < CALLS; call++)
        done[call] = cohort_all_reduce(comm, in, out + call * COUNT, call % 3 ? 1 + call : COUNT,
                                       COHORT_INT64, COHORT_SUM, call + 1);
    CHECK_OK(cohort_await(cohort_when_all(done, CALLS)));
    for (size_t call = 0; call < CALLS; call++)
        for (size_t i = 0; i < (call % 3 ? 1 + call : COUNT); i++)
            CHECK_INT(out[call * COUNT + i],
                      NUM_SITES * (NUM_SITES - 1) / 2 + NUM_SITES * (int64_t)i);
    free(in);
    free(out);
    free(done);
}

/* A user's operation that fails makes the call fail at every site, with the same words as by
 * messages. The next call works. */
static cohort_status refuse(void *result, const void *left, const void *right, size_t count,
                            cohort_datatype datatype, void *arg)
{
    return cohort_fail(COHORT_ERR_FAILED, "no reduction today");
}

TEST_SITE(users_failure, run("users-failure", site))
{
    cohort_op *op;
    double in = 1, out;
    CHECK_OK(
        cohort_op_create(&op, &(struct cohort_op_options){.name = "refuse", .function = refuse}));
    for (uint64_t generation = 1; generation <= 2; generation++) {
        bool meets = generation == 1; /* else the sites send messages */
        char before[160];
        snprintf(
            before, sizeof(before),
            "communicator \"users-failure\", generation %d, site 0, all_reduce (%s) of 1 double",
            (int)generation, meets ? "shared" : "linear");
        CHECK_OK(cohort_comm_next_call(
            comm, &(cohort_call_options){.algorithm = meets ? "shared" : "linear"}));
        CHECK_FAILS(
            cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, op, generation)),
            COHORT_ERR_FAILED, before);
        CHECK_CONTAINS(cohort_error_message(), ": no reduction today");
    }
    cohort_op_unref(op);
    check_sum(comm, 3);
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
