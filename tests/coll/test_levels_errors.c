/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* A user's operation fails somewhere in a row that follows the machine: in a meeting of tasks, in
 * what a leader reads of its followers, among the leaders. The call of that site fails with the
 * operation's error, and so does each that needs what it has not got. All end, and the next call is
 * as if nothing had been. */

enum { NUM_LOCALITIES = 6, NUM_SITES = 12, ROOT = 5, MOST_CALLS = 12, LONGEST = 33000 };

static const struct row {
    const char *collective, *algorithm;
} rows[] = {
    {"all_reduce", "levels"}, {"all_reduce", "shares"},     {"reduce", "levels"},
    {"reduce", "shares"},     {"reduce_scatter", "levels"}, {"reduce_scatter", "shares"},
    {"scan", "levels"},       {"exclusive_scan", "levels"},
};

/* One call of all sites. */
struct attempt {
    const struct row *row;
    size_t count;
    uint32_t fails_at;              /* this application of the operation fails; 0: none */
    _Atomic uint32_t num_applied;   /* in all localities */
    _Atomic uint32_t num_failed;    /* sites */
    double in[NUM_SITES * LONGEST]; /* the same of all sites */
    double out[NUM_SITES][LONGEST];
};

static cohort_status add(void *result, const void *left, const void *right, size_t count,
                         cohort_datatype datatype, void *arg)
{
    struct attempt *attempt = arg;
    if (atomic_fetch_add(&attempt->num_applied, 1) + 1 == attempt->fails_at)
        return cohort_fail(COHORT_ERR_FAILED, "the operation doesn't like it");
    for (size_t i = 0; i < count; i++)
        ((double *)result)[i] = ((const double *)left)[i] + ((const double *)right)[i];
    return COHORT_OK;
}

static bool is(const struct attempt *attempt, const char *collective)
{
    return strcmp(attempt->row->collective, collective) == 0;
}

static cohort_future *call(cohort_comm *comm, struct attempt *attempt, cohort_op *op,
                           uint64_t generation)
{
    const size_t count = attempt->count;
    const uint32_t me = cohort_comm_this_site(comm), root = ROOT;
    double *in = attempt->in, *out = attempt->out[me];
    CHECK_OK(cohort_comm_next_call(
        comm, &(cohort_call_options){.algorithm = attempt->row->algorithm,
                                     .root_site = is(attempt, "reduce") ? &root : NULL}));
    if (is(attempt, "all_reduce"))
        return cohort_all_reduce(comm, in, out, count, COHORT_DOUBLE, op, generation);
    if (is(attempt, "scan"))
        return cohort_scan(comm, in, out, count, COHORT_DOUBLE, op, generation);
    if (is(attempt, "exclusive_scan"))
        return cohort_exclusive_scan(comm, in, out, count, COHORT_DOUBLE, op, generation);
    if (is(attempt, "reduce_scatter"))
        return cohort_reduce_scatter(comm, in, out, count, COHORT_DOUBLE, op, generation);
    return me == root ? cohort_reduce_here(comm, in, out, count, COHORT_DOUBLE, op, generation)
                      : cohort_reduce_there(comm, in, count, COHORT_DOUBLE, op, generation);
}

/* How many sites the result of ME is the sum of. 0: it has none. */
static uint32_t num_summed(const struct attempt *attempt, uint32_t me)
{
    if (is(attempt, "scan"))
        return me + 1;
    if (is(attempt, "exclusive_scan"))
        return me;
    return is(attempt, "reduce") && me != ROOT ? 0 : NUM_SITES;
}

static void try_once(cohort_comm *comm, struct attempt *attempt, uint64_t generation)
{
    const uint32_t me = cohort_comm_this_site(comm);
    const uint32_t num = num_summed(attempt, me);
    cohort_op *op;
    CHECK_OK(cohort_op_create(
        &op, &(struct cohort_op_options){
                 .name = "add", .function = add, .arg = attempt, .commutative = true}));
    cohort_status status = cohort_await(call(comm, attempt, op, generation));
    cohort_op_unref(op);
    if (status) {
        CHECK_FAILS(status, COHORT_ERR_FAILED, "the operation doesn't like it");
        atomic_fetch_add(&attempt->num_failed, 1);
    } else if (num > 0) {
        CHECK(attempt->out[me][0] == num && attempt->out[me][attempt->count - 1] == num);
    }
}

static cohort_status site(cohort_comm *comm, void *arg)
{
    struct attempt *attempt = arg;
    const uint32_t me = cohort_comm_this_site(comm);
    const uint32_t most = attempt->count == LONGEST ? 4 : MOST_CALLS;
    uint64_t generation = 0;
    for (uint32_t fails_at = 0; fails_at <= most; fails_at++) {
        if (me == 0) {
            attempt->fails_at = fails_at;
            atomic_store(&attempt->num_applied, 0);
            atomic_store(&attempt->num_failed, 0);
        }
        CHECK_OK(cohort_await(cohort_barrier(comm, ++generation)));
        try_once(comm, attempt, ++generation);
        CHECK_OK(cohort_await(cohort_barrier(comm, ++generation)));
        bool has_failed = fails_at > 0 && atomic_load(&attempt->num_applied) >= fails_at;
        CHECK((atomic_load(&attempt->num_failed) > 0) == has_failed);
        CHECK_OK(cohort_await(cohort_barrier(comm, ++generation)));
    }
    return COHORT_OK;
}

static void run(const struct row *row, size_t count)
{
    static const struct cohort__position positions[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0},
                                                        {1, 0, 0}, {2, 0, 0}, {2, 0, 0}};
    struct cluster *cluster = cluster_create(3, NUM_LOCALITIES, 0);
    struct attempt *attempt = test_calloc(1, sizeof(*attempt));
    attempt->row = row;
    attempt->count = count;
    for (size_t i = 0; i < NUM_OF(attempt->in); i++)
        attempt->in[i] = 1;
    cluster_place(cluster, CLUSTER_BLOCKS);
    cluster_locate(cluster, positions);
    cohort_status status =
        cluster_sites(cluster, (struct sites){
                                   .name = "failing",
                                   .options = {.num_sites = NUM_SITES, .arity = 2},
                                   .run = site,
                                   .arg = attempt,
                               });
    if (status)
        FAIL("%s by %s: %s", row->collective, row->algorithm, cohort_error_message());
    cluster_destroy(cluster);
    free(attempt);
}

static void run_all(size_t count)
{
    for (size_t i = 0; i < NUM_OF(rows); i++)
        run(&rows[i], count);
}

TEST_CALL(small, run_all(1))

/* By messages of their own, or in pieces. */
TEST_CALL(medium, run_all(1500))

/* In segments, and folded by several workers. */
TEST_CALL(large, run_all(LONGEST))
