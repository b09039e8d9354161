/* SPDX-License-Identifier: Apache-2.0 */
#include <cohort/cohort.h>

#include <stdio.h>

#include "tests/support/program.h"
#include "tests/support/sites.h"
#include "tests/support/test.h"

/* Wrong arguments of calls with blocks of different sizes, in place, or with options. Also
 * arguments on which sites disagree. Each wrong call is followed by a right one on the same
 * communicator. */

enum { STALL_AFTER_NS = 100000000, N = 3 };

static void run(const char *name, cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cohort_status status = sites_run(&(struct sites){
        .name = name,
        .options = {.num_sites = N, .stall_after = STALL_AFTER_NS},
        .run = site,
    });
    if (status)
        FAIL("%s: %s", name, cohort_error_message());
}

static void check_usable(cohort_comm *comm, uint64_t generation)
{
    int32_t in = 1, out = -1;
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_INT32, COHORT_SUM, generation));
    if (status)
        FAIL("generation %llu: %s", (unsigned long long)generation, cohort_error_message());
    CHECK_INT(out, N);
}

static void check_fails(cohort_future *future, cohort_status status, const char *what)
{
    CHECK_FAILS(cohort_await(future), status, what);
}

static void next(cohort_comm *comm, cohort_call_options options)
{
    CHECK_OK(cohort_comm_next_call(comm, &options));
}

static cohort_future *all_gatherv(cohort_comm *comm, const size_t *counts,
                                  const size_t *displacements, uint64_t generation)
{
    static const int32_t in[64];
    static int32_t out[N][64];
    return cohort_all_gatherv(comm, in, out[cohort_comm_this_site(comm)], counts, displacements,
                              COHORT_INT32, generation);
}

/* All sites make the same mistake. */
TEST_SITE(wrong_blocks, run("wrong-blocks", site))
{
    const size_t two[N] = {2, 2, 2}, overlapping[N] = {0, 4, 5}, huge[N] = {1, SIZE_MAX / 2, 1};
    const size_t half[N] = {1, PTRDIFF_MAX / 4, 1}, far[N] = {0, SIZE_MAX / 4, 1};
    int32_t in[64] = {0}, out[64];
    check_fails(all_gatherv(comm, two, overlapping, 1), COHORT_ERR_BAD_PARAMETER,
                "cohort_all_gatherv: the blocks in OUT from site 1 (bytes 16 to 24) and site 2 (20 "
                "to 28) overlap");
    check_fails(all_gatherv(comm, huge, NULL, 2), COHORT_ERR_BAD_PARAMETER, "memory");
    check_fails(all_gatherv(comm, two, far, 3), COHORT_ERR_BAD_PARAMETER,
                "counts, block 1 (site 1): 2 elements of 4 bytes end beyond memory");
    check_fails(all_gatherv(comm, half, NULL, 4), COHORT_ERR_BAD_PARAMETER, " memory");
    check_fails(all_gatherv(comm, NULL, NULL, 5), COHORT_ERR_BAD_PARAMETER, "counts: no array");
    check_fails(cohort_all_to_allv(comm, in, two, NULL, NULL, two, NULL, COHORT_INT32, 6),
                COHORT_ERR_BAD_PARAMETER, "no buffer for out_counts");
    check_fails(cohort_all_to_allv(comm, NULL, two, NULL, out, two, NULL, COHORT_INT32, 7),
                COHORT_ERR_BAD_PARAMETER, "no buffer for in_counts");
    const cohort_datatype types[N] = {COHORT_INT32, 77, COHORT_INT32};
    check_fails(cohort_all_to_allw(comm, in, two, NULL, types, out, two, NULL, types, 8),
                COHORT_ERR_BAD_PARAMETER, "in_counts, block 1: 77 is no datatype");
    check_fails(cohort_all_to_allw(comm, in, two, NULL, NULL, out, two, NULL, types, 9),
                COHORT_ERR_BAD_PARAMETER, "in_counts: no datatypes");
    const size_t none[N] = {0};
    CHECK_OK(cohort_await(
        cohort_all_to_allv(comm, NULL, none, NULL, NULL, none, NULL, COHORT_INT32, 10)));
    check_usable(comm, 11);
}

/* One site makes the mistake. The sites that depend on it are told. */
TEST_SITE(wrong_at_root, run("wrong-at-root", site))
{
    bool is_root = cohort_comm_this_site(comm) == 0;
    const size_t counts[N] = {1, 2, 3}, same[N] = {0, 0, 0};
    int32_t in[8] = {0}, out[8];
    check_fails(is_root ? cohort_scatterv_to(comm, in, counts, NULL, out, 2, COHORT_INT32, 1)
                        : cohort_scatterv_from(comm, out, 1, COHORT_INT32, 1),
                COHORT_ERR_BAD_PARAMETER,
                "site 0, cohort_scatterv_to: this site's own block has 2 elements, but counts says "
                "1");
    check_fails(is_root ? cohort_scatterv_to(comm, in, NULL, NULL, out, 2, COHORT_INT32, 2)
                        : cohort_scatterv_from(comm, out, 1, COHORT_INT32, 2),
                COHORT_ERR_BAD_PARAMETER, "site 0, cohort_scatterv_to: counts: no array");
    /* Blocks that are sent may overlap. */
    CHECK_OK(cohort_await(is_root
                              ? cohort_scatterv_to(comm, in, counts, same, out, 1, COHORT_INT32, 3)
                              : cohort_scatterv_from(comm, out, counts[cohort_comm_this_site(comm)],
                                                     COHORT_INT32, 3)));
    check_fails(is_root ? cohort_gatherv_here(comm, in, 1, out, counts, NULL, COHORT_INT32, 4)
                        : cohort_gatherv_there(comm, in, 2, 0, 4),
                COHORT_ERR_BAD_PARAMETER, "cohort_gatherv_there: 0 is no datatype");
    check_fails(cohort_all_reduce(comm, in, out, 1, sizeof(double), COHORT_SUM, 5),
                COHORT_ERR_BAD_PARAMETER, "8 is no datatype; cohort_datatype_of_bytes");
    check_usable(comm, 6);
}

/* Sizes that only two sites know. */
TEST_SITE(other_sizes, run("other-sizes", site))
{
    uint32_t me = cohort_comm_this_site(comm);
    size_t from[N] = {1, 1, 1}, to[N] = {1, 1, 1};
    int64_t in[8] = {0}, out[8];
    if (me == 2)
        to[1] = 3;
    cohort_status status =
        cohort_await(cohort_all_to_allv(comm, in, to, NULL, out, from, NULL, COHORT_INT64, 1));
    if (me == 1) {
        CHECK_FAILS(status, COHORT_ERR_MISMATCH, "site 2 sent 24 bytes where 8 were expected");
    }
    check_usable(comm, 2);
    from[0] += me == 2; /* one site has another value for something that all have to agree on */
    status = cohort_await(all_gatherv(comm, from, NULL, 3));
    CHECK_FAILS(status, COHORT_ERR_MISMATCH, "site 2 called all_gatherv (");
    CHECK_CONTAINS(cohort_error_message(), "of int32, counts #");
    check_usable(comm, 4);
}

TEST_SITE(wrong_neighbours, run("wrong-neighbours", site))
{
    uint32_t me = cohort_comm_this_site(comm);
    int32_t in[4] = {0}, out[4];
    const cohort_neighbour right = {.site = (me + 1) % N, .count = 1};
    cohort_neighbour left[2] = {{.site = (me + N - 1) % N, .count = 1}, {.site = N, .count = 1}};
    /* Site 1's call is wrong. Site 2 waits for site 1 and is told. */
    cohort_status status = cohort_await(
        cohort_exchange(comm, in, &right, 1, out, left, me == 1 ? 2 : 1, COHORT_INT32, 1));
    if (me != 0) {
        CHECK_FAILS(status, COHORT_ERR_BAD_PARAMETER,
                    "site 1, cohort_exchange: from[1]: site 3 is out of range: num_sites is 3");
    }
    check_fails(cohort_exchange(comm, in, NULL, 1, out, left, 1, COHORT_INT32, 2),
                COHORT_ERR_BAD_PARAMETER, "to: no array");
    CHECK_OK(cohort_await(cohort_exchange(comm, in, NULL, 0, out, NULL, 0, COHORT_INT32, 3)));
    check_usable(comm, 4);
}

TEST_SITE(wrong_place, run("wrong-place", site))
{
    int32_t data[8] = {0};
    check_fails(cohort_shift(comm, COHORT_IN_PLACE, data, 1, COHORT_INT32, 1, 1),
                COHORT_ERR_BAD_PARAMETER, "COHORT_IN_PLACE is not possible as IN here");
    check_fails(cohort_all_gather(comm, data, (void *)COHORT_IN_PLACE, 1, COHORT_INT32, 2),
                COHORT_ERR_BAD_PARAMETER, "COHORT_IN_PLACE is not possible as OUT here");
    check_fails(cohort_all_reduce(comm, data, data, 1, COHORT_INT32, COHORT_SUM, 3),
                COHORT_ERR_BAD_PARAMETER, "the same memory; COHORT_IN_PLACE");
    check_fails(cohort_all_reduce(comm, COHORT_IN_PLACE, NULL, 1, COHORT_INT32, COHORT_SUM, 4),
                COHORT_ERR_BAD_PARAMETER, "no output buffer");
    data[0] = 1;
    CHECK_OK(cohort_await(
        cohort_all_reduce(comm, COHORT_IN_PLACE, data, 1, COHORT_INT32, COHORT_SUM, 5)));
    CHECK_INT(data[0], N);
    check_usable(comm, 6);
}

/* IN and OUT overlap in part: found out each time, also where the same call was right before. */
static cohort_status overlapping(cohort_comm *comm, void *arg)
{
    const cohort_status bad = COHORT_ERR_BAD_PARAMETER;
    const size_t two[N] = {2, 2, 2}, places[N] = {0, 4, 8}, between[N] = {2, 6, 10};
    int32_t data[32] = {0};
    for (uint64_t round = 0; round < 2; round++) {
        uint64_t g = 10 * round;
        check_fails(cohort_all_reduce(comm, data, data + 2, 4, COHORT_INT32, COHORT_SUM, g + 1),
                    bad, "IN (16 bytes) and OUT (16 bytes, from 8 bytes after the beginning of IN");
        CHECK_OK(cohort_await(
            cohort_all_reduce(comm, data, data + 4, 4, COHORT_INT32, COHORT_SUM, g + 2)));
        check_fails(cohort_all_reduce(comm, data + 3, data, 4, COHORT_INT32, COHORT_SUM, g + 3),
                    bad, "(16 bytes, from 12 bytes before it on) overlap");
        check_fails(cohort_all_gather(comm, data + 5, data, 2, COHORT_INT32, g + 4), bad,
                    "IN (8 bytes) and OUT (24 bytes, from 20 bytes before it on) overlap");
        check_fails(cohort_all_gatherv(comm, data + 5, data, two, NULL, COHORT_INT32, g + 5), bad,
                    "OUT from site 2 (bytes 16 to 24) and of IN (0 to 8) overlap");
        CHECK_OK(
            cohort_await(cohort_all_gatherv(comm, data + 6, data, two, NULL, COHORT_INT32, g + 6)));
        CHECK_OK(cohort_await(
            cohort_all_to_allv(comm, data, two, places, data, two, between, COHORT_INT32, g + 7)));
        check_fails(cohort_all_to_allv(comm, data, two, places, data + 1, two, between,
                                       COHORT_INT32, g + 8),
                    bad, "OUT from site 0 (bytes 8 to 16) and of IN for site 1 (16 to 24) overlap");
    }
    check_usable(comm, 21);
    return COHORT_OK;
}

TEST_CALL(overlapping, run("overlapping", overlapping))

/* Options ---------------------------------------------------------------------------------------
 */

TEST_SITE(wrong_options, run("wrong-options", site))
{
    int32_t in[N] = {0}, out[N];
    const uint32_t outside = N;
    char name[65] = {0};
    for (int i = 0; i < 64; i++)
        name[i] = 'x';
    CHECK_INT(cohort_comm_next_call(NULL, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_comm_next_call(comm, &(cohort_call_options){.algorithm = name}),
              COHORT_ERR_BAD_PARAMETER);
    next(comm, (cohort_call_options){.algorithm = "fastest"});
    check_fails(cohort_all_gather(comm, in, out, 1, COHORT_INT32, 1), COHORT_ERR_BAD_PARAMETER,
                "no algorithm of all_gather is called \"fastest\"; there are: linear, ");
    next(comm, (cohort_call_options){.root_site = &outside});
    check_fails(cohort_broadcast_from(comm, out, 1, COHORT_INT32, 2), COHORT_ERR_BAD_PARAMETER,
                "root_site: 3 is out of range");
    next(comm, (cohort_call_options){.root_site = &outside});
    check_fails(cohort_barrier(comm, 3), COHORT_ERR_BAD_PARAMETER, "this has no root");
    /* Options that are taken back, that are replaced, and that are used up by a rejected call. */
    next(comm, (cohort_call_options){.algorithm = "fastest"});
    CHECK_OK(cohort_comm_next_call(comm, NULL));
    check_usable(comm, 4);
    next(comm, (cohort_call_options){.algorithm = "fastest"});
    next(comm, (cohort_call_options){.algorithm = "linear"});
    check_usable(comm, 5);
    next(comm, (cohort_call_options){.algorithm = "fastest"});
    CHECK_INT(cohort_await(cohort_barrier(comm, 5)), COHORT_ERR_GENERATION);
    check_usable(comm, 6);
    next(comm, (cohort_call_options){.algorithm = "hypercube"});
    check_fails(cohort_all_gather(comm, in, out, 1, COHORT_INT32, 7), COHORT_ERR_BAD_PARAMETER,
                "the algorithm hypercube of all_gather is not possible here: ");
    check_usable(comm, 8);
}

/* Sites that exchange no message with site 2 may not notice the difference. */
static void check_mismatch(bool meets, cohort_future *future, const char *what, const char *other)
{
    cohort_status status = cohort_await(future);
    if (!meets && !status)
        return;
    CHECK_FAILS(status, COHORT_ERR_MISMATCH, what);
    CHECK_CONTAINS(cohort_error_message(), other);
}

/* Site 2's call has other options. */
TEST_SITE(other_options, run("other-options", site))
{
    uint32_t me = cohort_comm_this_site(comm), root = me == 2 ? 2 : 1;
    int32_t in[N] = {0}, out[N];
    next(comm, (cohort_call_options){.algorithm = me == 2 ? "ring" : "linear"});
    check_mismatch(me == 2, cohort_all_gather(comm, in, out, 1, COHORT_INT32, 1),
                   "called all_gather (linear) of 1 int32",
                   "site 2 called all_gather (ring) of 1 int32");
    check_mismatch(me == 2, cohort_shift(comm, in, out, 1, COHORT_INT32, me == 2 ? 2 : 1, 2),
                   "of 1 int32, by 1", "of 1 int32, by 2");
    next(comm, (cohort_call_options){.root_site = &root});
    check_mismatch(me != 0,
                   me == root ? cohort_gather_here(comm, in, out, 1, COHORT_INT32, 3)
                              : cohort_gather_there(comm, in, 1, COHORT_INT32, 3),
                   "of 1 int32, root 1", "site 2 called gather");
    const size_t counts[N] = {1, 1, 1};
    check_mismatch(me == 2,
                   me == 2 ? all_gatherv(comm, counts, NULL, 4)
                           : cohort_all_gather(comm, in, out, 1, COHORT_INT32, 4),
                   "called all_gather (", "site 2 called all_gatherv (");
    CHECK_OK(cohort_await(cohort_shift(comm, in, out, 1, COHORT_INT32, me == 2 ? -4 : 2,
                                       5))); /* the same modulo the number of sites */
    check_usable(comm, 6);
}

/* If the call fails, the futures of its rows fail too. */
TEST_SITE(failing_rows, run("failing-rows", site))
{
    uint32_t me = cohort_comm_this_site(comm);
    int32_t in[N] = {0}, out[2 * N];
    cohort_future *rows[N];
    next(comm, (cohort_call_options){.ret_rows = rows});
    check_fails(cohort_all_reduce(comm, in, out, 1, COHORT_INT32, COHORT_SUM, 1),
                COHORT_ERR_BAD_PARAMETER, "ret_rows, but this has no rows");
    for (int row = 0; row < N; row++)
        check_fails(rows[row], COHORT_ERR_BAD_PARAMETER, "ret_rows, but this has no rows");
    next(comm, (cohort_call_options){.ret_rows = rows});
    check_fails(cohort_all_gather(comm, in, out, 1, COHORT_INT32, 1), COHORT_ERR_GENERATION,
                "not above");
    for (int row = 0; row < N; row++)
        check_fails(rows[row], COHORT_ERR_GENERATION, "not above");
    next(comm, (cohort_call_options){.ret_rows = rows});
    check_fails(cohort_all_gather(comm, in, out, me == 2 ? 2 : 1, COHORT_INT32, 2),
                COHORT_ERR_MISMATCH, "site 2 called all_gather");
    for (int row = 0; row < N; row++) {
        cohort_status status = cohort_await(rows[row]);
        CHECK(status == COHORT_OK || status == COHORT_ERR_MISMATCH);
    }
    check_usable(comm, 3);
}

/* A row's future is ready before the rows of late sites have arrived. */
static cohort_status early_row(cohort_comm *comm, void *arg)
{
    cohort_promise *_Atomic *may_come = arg;
    uint32_t me = cohort_comm_this_site(comm);
    int32_t in = (int32_t)me + 10, out[N];
    cohort_future *rows[N];
    if (me == 2) {
        cohort_promise *promise;
        cohort_future *comes;
        CHECK_OK(cohort_promise_create(&promise, &comes));
        *may_come = promise;
        CHECK_OK(cohort_await(cohort_barrier(comm, 1)));
        CHECK_OK(cohort_await(comes));
        return cohort_await(cohort_gather_there(comm, &in, 1, COHORT_INT32, 2));
    }
    CHECK_OK(cohort_await(cohort_barrier(comm, 1)));
    if (me == 1)
        return cohort_await(cohort_gather_there(comm, &in, 1, COHORT_INT32, 2));
    next(comm, (cohort_call_options){.ret_rows = rows});
    cohort_future *all = cohort_gather_here(comm, &in, out, 1, COHORT_INT32, 2);
    CHECK_OK(cohort_await(rows[1]));
    CHECK_INT(out[1], 11);
    CHECK(!cohort_future_ready(all) && !cohort_future_ready(rows[2]));
    cohort_promise_fulfil(*may_come, NULL);
    CHECK_OK(cohort_await(rows[2]));
    CHECK_INT(out[2], 12);
    CHECK_OK(cohort_await(rows[0]));
    return cohort_await(all);
}

TEST(early_row)
{
    cohort_promise *_Atomic may_come = NULL;
    CHECK_OK(sites_run(&(struct sites){
        .name = "early-row",
        .options = {.num_sites = N, .algorithms = "gather=linear"},
        .run = early_row,
        .arg = &may_come,
    }));
}

TEST(forced)
{
    static const struct {
        const char *algorithms, *message;
    } wrong[] = {
        {"bruck", "\"bruck\" is not \"collective=algorithm\""},
        {"all_to_nobody=bruck", "\"all_to_nobody\" is no collective"},
        {"all_to_all=linear,all_to_all=bruck", "all_to_all has two of them"},
        {"all_to_all=linear,all_gather=x", "no algorithm of all_gather is called \"x\""},
        {"scan=levels(x)", "their exclusive_scan; there are: linear, hypercube"},
    };
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        cohort_comm *comm = NULL;
        check_fails(cohort_comm_create(
                        &comm, "forced",
                        &(cohort_comm_options){.num_sites = 1, .algorithms = wrong[i].algorithms}),
                    COHORT_ERR_BAD_PARAMETER, wrong[i].message);
        CHECK_CONTAINS(cohort_error_message(), "communicator \"forced\": site 0: ");
    }
}

/* The order of the names in the setting makes no difference. Another algorithm does. */
TEST(forced_differently)
{
    static const char *const texts[] = {"barrier=linear,all_to_all=bruck",
                                        "all_to_all=bruck,barrier=linear", "all_to_all=bruck",
                                        "barrier=levels(linear),all_to_all=bruck"};
    cohort_comm *comms[2];
    for (uint32_t second = 1; second < 4; second++) {
        cohort_future *futures[2];
        for (uint32_t site = 0; site < 2; site++)
            futures[site] = cohort_comm_create(
                &comms[site], "forced",
                &(cohort_comm_options){.num_sites = 2,
                                       .this_site = site,
                                       .algorithms = texts[site == 0 ? 0 : second]});
        for (uint32_t site = 0; site < 2; site++) {
            CHECK_INT(cohort_await(futures[site]), second == 1 ? COHORT_OK : COHORT_ERR_MISMATCH);
            if (second == 1)
                cohort_comm_unref(comms[site]);
        }
    }
}

int main(int argc, char **argv)
{
    return program_main(argc, argv);
}
