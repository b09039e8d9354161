/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/sanitizer.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* An endpoint recognizes a repeated call and then need not look at its arguments. A call that
 * differs from the previous one in a single argument, whichever it is, is another call. Here all
 * such calls follow each other, repeated and not repeated. */

enum { NUM_SITES = 5, ROOM = NUM_SITES, OTHER_ROOT = 3, FORGETFUL = 2 };
static const int64_t untouched = -77;

/* One call at one site. */
struct turn {
    cohort_comm *comm;
    uint32_t me;
    uint64_t generation;
    int64_t in[ROOM], out[ROOM];
    cohort_op *op;            /* of this call */
    const cohort_op *last_op; /* of an earlier call, freed */
    uint32_t num_reused;      /* operations with the address of an earlier one */
};

static int64_t value(const struct turn *turn, uint32_t site, uint32_t place)
{
    return (int64_t)(turn->generation * 1000 + site * 10 + place + 1);
}

static int64_t sum_of(const struct turn *turn, uint32_t place)
{
    int64_t sum = 0;
    for (uint32_t site = 0; site < NUM_SITES; site++)
        sum += value(turn, site, place);
    return sum;
}

/* What the calls need besides their arguments. */

static void set_next_call(const struct turn *turn, const cohort_call_options *options)
{
    CHECK_OK(cohort_comm_next_call(turn->comm, options));
}

static cohort_status sum_function(void *result, const void *left, const void *right, size_t count,
                                  cohort_datatype datatype, void *arg)
{
    const int64_t *a = left, *b = right;
    int64_t *to = result;
    for (size_t i = 0; i < count; i++)
        to[i] = a[i] + b[i];
    return COHORT_OK;
}

static cohort_status max_function(void *result, const void *left, const void *right, size_t count,
                                  cohort_datatype datatype, void *arg)
{
    const int64_t *a = left, *b = right;
    int64_t *to = result;
    for (size_t i = 0; i < count; i++)
        to[i] = a[i] > b[i] ? a[i] : b[i];
    return COHORT_OK;
}

/* The calls ---------------------------------------------------------------------------------- */

static cohort_future *all_reduce(struct turn *turn, size_t count, cohort_datatype datatype,
                                 const cohort_op *op)
{
    return cohort_all_reduce(turn->comm, turn->in, turn->out, count, datatype, op,
                             turn->generation);
}

static cohort_future *sum(struct turn *turn)
{
    return all_reduce(turn, 1, COHORT_INT64, COHORT_SUM);
}

static cohort_future *sum_of_two(struct turn *turn)
{
    return all_reduce(turn, 2, COHORT_INT64, COHORT_SUM);
}

static cohort_future *sum_of_none(struct turn *turn)
{
    return all_reduce(turn, 0, COHORT_INT64, COHORT_SUM);
}

static cohort_future *sum_of_int32(struct turn *turn)
{
    return all_reduce(turn, 1, COHORT_INT32, COHORT_SUM);
}

static cohort_future *max(struct turn *turn)
{
    return all_reduce(turn, 1, COHORT_INT64, COHORT_MAX);
}

/* The operation is freed when the call is over, and the next one is created at the same address. */
static cohort_future *by_user(struct turn *turn, const struct cohort_op_options *options)
{
    CHECK_OK(cohort_op_create(&turn->op, options));
    turn->num_reused += turn->op == turn->last_op;
    turn->last_op = turn->op;
    return all_reduce(turn, 1, COHORT_INT64, turn->op);
}

static cohort_future *sum_by_user(struct turn *turn)
{
    return by_user(turn, &(struct cohort_op_options){.name = "sum", .function = sum_function});
}

static cohort_future *max_by_user(struct turn *turn)
{
    return by_user(turn, &(struct cohort_op_options){
                             .name = "max", .function = max_function, .commutative = true});
}

static cohort_future *sum_in_place(struct turn *turn)
{
    memcpy(turn->out, turn->in, sizeof(turn->in[0]));
    return cohort_all_reduce(turn->comm, COHORT_IN_PLACE, turn->out, 1, COHORT_INT64, COHORT_SUM,
                             turn->generation);
}

static cohort_future *sum_reproducible(struct turn *turn)
{
    set_next_call(turn, &(cohort_call_options){.reproducible = true});
    return sum(turn);
}

static cohort_future *sum_checked(struct turn *turn)
{
    set_next_call(turn, &(cohort_call_options){.check_asymmetric = true});
    return sum(turn);
}

static cohort_future *sum_forced(struct turn *turn)
{
    set_next_call(turn, &(cohort_call_options){.algorithm = "ring"});
    return sum(turn);
}

static cohort_future *sum_without_in(struct turn *turn)
{
    return cohort_all_reduce(turn->comm, NULL, turn->out, 1, COHORT_INT64, COHORT_SUM,
                             turn->generation);
}

static cohort_future *sum_without_out(struct turn *turn)
{
    return cohort_all_reduce(turn->comm, turn->in, NULL, 1, COHORT_INT64, COHORT_SUM,
                             turn->generation);
}

static cohort_future *sum_of_out(struct turn *turn)
{
    return cohort_all_reduce(turn->comm, turn->out, turn->out, 1, COHORT_INT64, COHORT_SUM,
                             turn->generation);
}

static cohort_future *prefixes(struct turn *turn)
{
    return cohort_scan(turn->comm, turn->in, turn->out, 1, COHORT_INT64, COHORT_SUM,
                       turn->generation);
}

static cohort_future *shift_by(struct turn *turn, int64_t q)
{
    return cohort_shift(turn->comm, turn->in, turn->out, 1, COHORT_INT64, q, turn->generation);
}

static cohort_future *shift_by_one(struct turn *turn)
{
    return shift_by(turn, 1);
}

static cohort_future *shift_back(struct turn *turn)
{
    return shift_by(turn, -1);
}

static cohort_future *all_gather(struct turn *turn)
{
    return cohort_all_gather(turn->comm, turn->in, turn->out, 1, COHORT_INT64, turn->generation);
}

static cohort_future *all_to_all(struct turn *turn)
{
    return cohort_all_to_all(turn->comm, turn->in, turn->out, 1, COHORT_INT64, turn->generation);
}

static cohort_future *gather_at(struct turn *turn, uint32_t root)
{
    return turn->me == root
               ? cohort_gather_here(turn->comm, turn->in, turn->out, 1, COHORT_INT64,
                                    turn->generation)
               : cohort_gather_there(turn->comm, turn->in, 1, COHORT_INT64, turn->generation);
}

static cohort_future *gather(struct turn *turn)
{
    return gather_at(turn, 0);
}

static cohort_future *gather_elsewhere(struct turn *turn)
{
    set_next_call(turn, &(cohort_call_options){.root_site = &(uint32_t){OTHER_ROOT}});
    return gather_at(turn, OTHER_ROOT);
}

static cohort_future *broadcast_of(struct turn *turn, uint32_t root)
{
    return turn->me == root
               ? cohort_broadcast_to(turn->comm, turn->in, 1, COHORT_INT64, turn->generation)
               : cohort_broadcast_from(turn->comm, turn->out, 1, COHORT_INT64, turn->generation);
}

static cohort_future *broadcast(struct turn *turn)
{
    return broadcast_of(turn, 0);
}

static cohort_future *broadcast_elsewhere(struct turn *turn)
{
    set_next_call(turn, &(cohort_call_options){.root_site = &(uint32_t){OTHER_ROOT}});
    return broadcast_of(turn, OTHER_ROOT);
}

/* What OUT holds at PLACE after the call ------------------------------------------------------ */

static int64_t want_nothing(const struct turn *turn, uint32_t place)
{
    return untouched;
}

static int64_t want_sum(const struct turn *turn, uint32_t place)
{
    return place == 0 ? sum_of(turn, 0) : untouched;
}

static int64_t want_two_sums(const struct turn *turn, uint32_t place)
{
    return place < 2 ? sum_of(turn, place) : untouched;
}

static int64_t want_low_sum(const struct turn *turn, uint32_t place)
{
    int64_t want = untouched, sum_here = sum_of(turn, 0);
    if (place == 0)
        memcpy(&want, &sum_here, sizeof(int32_t)); /* little-endian, as everywhere here */
    return want;
}

static int64_t want_max(const struct turn *turn, uint32_t place)
{
    return place == 0 ? value(turn, NUM_SITES - 1, 0) : untouched;
}

static int64_t want_prefix(const struct turn *turn, uint32_t place)
{
    int64_t prefix = 0;
    for (uint32_t site = 0; site <= turn->me; site++)
        prefix += value(turn, site, 0);
    return place == 0 ? prefix : untouched;
}

static int64_t want_lower(const struct turn *turn, uint32_t place)
{
    return place == 0 ? value(turn, (turn->me + NUM_SITES - 1) % NUM_SITES, 0) : untouched;
}

static int64_t want_upper(const struct turn *turn, uint32_t place)
{
    return place == 0 ? value(turn, (turn->me + 1) % NUM_SITES, 0) : untouched;
}

static int64_t want_all(const struct turn *turn, uint32_t place)
{
    return value(turn, place, 0);
}

static int64_t want_column(const struct turn *turn, uint32_t place)
{
    return value(turn, place, turn->me);
}

static int64_t want_all_at_0(const struct turn *turn, uint32_t place)
{
    return turn->me == 0 ? value(turn, place, 0) : untouched;
}

static int64_t want_all_elsewhere(const struct turn *turn, uint32_t place)
{
    return turn->me == OTHER_ROOT ? value(turn, place, 0) : untouched;
}

static int64_t want_from_0(const struct turn *turn, uint32_t place)
{
    return turn->me != 0 && place == 0 ? value(turn, 0, 0) : untouched;
}

static int64_t want_from_elsewhere(const struct turn *turn, uint32_t place)
{
    return turn->me != OTHER_ROOT && place == 0 ? value(turn, OTHER_ROOT, 0) : untouched;
}

static const struct kind {
    const char *name;
    cohort_future *(*start)(struct turn *turn);
    int64_t (*want)(const struct turn *turn, uint32_t place);
    cohort_status status;
} kinds[] = {
    {"sum", sum, want_sum, COHORT_OK},
    {"sum of two", sum_of_two, want_two_sums, COHORT_OK},
    {"sum of none", sum_of_none, want_nothing, COHORT_OK},
    {"sum of int32", sum_of_int32, want_low_sum, COHORT_OK},
    {"max", max, want_max, COHORT_OK},
    {"sum by user", sum_by_user, want_sum, COHORT_OK},
    {"max by user", max_by_user, want_max, COHORT_OK},
    {"sum in place", sum_in_place, want_sum, COHORT_OK},
    {"sum, reproducible", sum_reproducible, want_sum, COHORT_OK},
    {"sum, checked", sum_checked, want_sum, COHORT_OK},
    {"sum, forced", sum_forced, want_sum, COHORT_OK},
    {"sum without IN", sum_without_in, want_nothing, COHORT_ERR_BAD_PARAMETER},
    {"sum without OUT", sum_without_out, want_nothing, COHORT_ERR_BAD_PARAMETER},
    {"sum of OUT", sum_of_out, want_nothing, COHORT_ERR_BAD_PARAMETER},
    {"prefixes", prefixes, want_prefix, COHORT_OK},
    {"shift by one", shift_by_one, want_lower, COHORT_OK},
    {"shift back", shift_back, want_upper, COHORT_OK},
    {"all_gather", all_gather, want_all, COHORT_OK},
    {"all_to_all", all_to_all, want_column, COHORT_OK},
    {"gather", gather, want_all_at_0, COHORT_OK},
    {"gather elsewhere", gather_elsewhere, want_all_elsewhere, COHORT_OK},
    {"broadcast", broadcast, want_from_0, COHORT_OK},
    {"broadcast elsewhere", broadcast_elsewhere, want_from_elsewhere, COHORT_OK},
};
enum { NUM_KINDS = NUM_OF(kinds) };

/* CONTEXT: the call before. */
static void take(struct turn *turn, const struct kind *kind, const struct kind *context)
{
    turn->generation++;
    for (uint32_t place = 0; place < ROOM; place++) {
        turn->in[place] = value(turn, turn->me, place);
        turn->out[place] = untouched;
    }
    /* Options make a site look at the arguments, even if they ask for nothing. What this site then
     * tells the others about the call has to be the same as what they say. */
    if (turn->me == FORGETFUL)
        set_next_call(turn, &(cohort_call_options){0});
    cohort_status status = cohort_await(kind->start(turn));
    if (status != kind->status)
        FAIL("%s after %s: status %d at site %u: %s", kind->name, context->name, (int)status,
             turn->me, cohort_error_message());
    for (uint32_t place = 0; place < ROOM; place++)
        if (turn->out[place] != kind->want(turn, place))
            FAIL("%s after %s: %lld at place %u of site %u", kind->name, context->name,
                 (long long)turn->out[place], place, turn->me);
    cohort_op_unref(turn->op);
    turn->op = NULL;
}

static uint32_t num_reused;

static cohort_status take_turns(cohort_comm *comm, void *arg)
{
    struct turn turn = {.comm = comm, .me = cohort_comm_this_site(comm)};
    for (int first = 0; first < NUM_KINDS; first++)
        for (int second = 0; second < NUM_KINDS; second++) {
            take(&turn, &kinds[first], &kinds[second ? second - 1 : 0]);
            take(&turn, &kinds[first], &kinds[first]);
            take(&turn, &kinds[second], &kinds[first]);
        }
    if (turn.me == 0)
        num_reused = turn.num_reused;
    return COHORT_OK;
}

static void run(uint32_t num_localities, uint32_t threshold)
{
    struct cluster *cluster = cluster_create(1, num_localities, 0);
    cohort_status status = cluster_sites(
        cluster,
        (struct sites){
            .name = "same",
            .options = {.num_sites = NUM_SITES, .arity = 2, .flat_fallback_threshold = threshold},
            .run = take_turns,
        });
    if (status)
        FAIL("%s", cohort_error_message());
    cluster_destroy(cluster);
    /* Under the address sanitizer freed memory is not used again. */
    CHECK(num_reused > 0 || COHORT__ASAN);
}

/* All sites meet, without plans. */
TEST_CALL(meeting, run(1, 1024))
TEST_CALL(tree, run(1, COHORT_FORCE_TREE))

TEST(localities)
{
    run(2, 1024);
    run(3, COHORT_FORCE_TREE);
}
