/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "collectives/exec/plan_cache.h"
#include "tests/support/cluster.h"
#include "tests/support/exercise.h"
#include "tests/support/sites.h"

/* The plans of the rows that follow the machine: a call that is repeated finds its plan again, each
 * communicator has its own plans, and a plan keeps within the budget of memory. Two hosts of two
 * localities, with two sites in each. The linker redirects what is added to a cache to this test
 * (--wrap). */

enum { NUM_LOCALITIES = 4, NUM_SITES = 8, REPEATED = 20, SHORT = 5, LONG = 33000 };

/* What all sites have added since the last run began. */
static struct {
    _Atomic uint32_t num; /* plans of a row that follows the machine, but for barriers */
    _Atomic size_t most;  /* the memory of the one that has most */
} added;

cohort_status __real_cohort__plan_cache_add(struct cohort__plan_cache *cache,
                                            const struct cohort__plan_key *key, const void *tail,
                                            struct cohort__plan *plan, uint32_t row,
                                            struct cohort__plan_entry **ret_entry);

cohort_status __wrap_cohort__plan_cache_add(struct cohort__plan_cache *cache,
                                            const struct cohort__plan_key *key, const void *tail,
                                            struct cohort__plan *plan, uint32_t row,
                                            struct cohort__plan_entry **ret_entry)
{
    const struct cohort__algorithm *algorithm = cohort__algorithms[row];
    if (algorithm->stages && algorithm->collective != COHORT__BARRIER) {
        size_t most = atomic_load(&added.most);
        CHECK(plan);
        atomic_fetch_add(&added.num, 1);
        while (plan->tmp_bytes > most &&
               !atomic_compare_exchange_weak(&added.most, &most, plan->tmp_bytes))
            ;
    }
    return __real_cohort__plan_cache_add(cache, key, tail, plan, row, ret_entry);
}

static struct cluster *cluster;

/* On two hosts. SITE is what each site does. */
static void run(cohort_comm_options options, cohort_status (*site)(cohort_comm *, void *),
                void *arg)
{
    static const struct cohort__position positions[] = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}};
    cluster = cluster_create(3, NUM_LOCALITIES, 0);
    cluster_place(cluster, CLUSTER_BLOCKS);
    cluster_locate(cluster, positions);
    options.num_sites = NUM_SITES;
    atomic_store(&added.num, 0);
    atomic_store(&added.most, 0);
    CHECK_OK(cluster_sites(
        cluster, (struct sites){.name = "plans", .options = options, .run = site, .arg = arg}));
    cluster_destroy(cluster);
}

static cohort_status call(cohort_comm *comm, enum exercise_kind kind, size_t count,
                          uint64_t generation, const char *algorithm)
{
    struct exercise exercise;
    exercise_begin_with(
        &exercise, comm, kind, count, generation,
        (struct exercise_options){.has_root = true, .root = 5, .algorithm = algorithm});
    return exercise_end(&exercise);
}

/* Plans that are found again ------------------------------------------------------------------ */

struct repetition {
    const char *row;
    bool has_two; /* communicators */
};

static const enum exercise_kind kinds[] = {EXERCISE_ALL_REDUCE, EXERCISE_BROADCAST,
                                           EXERCISE_ALL_GATHER, EXERCISE_REDUCE_SCATTER};
enum { NUM_KINDS = NUM_OF(kinds) };

static uint64_t call_all(cohort_comm *comm, const char *row, uint64_t generation)
{
    for (size_t i = 0; i < NUM_KINDS; i++)
        CHECK_OK(call(comm, kinds[i], SHORT, ++generation, row));
    return generation;
}

/* Calls in two communicators of the same sites by turns, until one of them is released. */
static cohort_status repeat(cohort_comm *comm, void *arg)
{
    const struct repetition *repetition = arg;
    const cohort_comm_options options = {.num_sites = NUM_SITES,
                                         .this_site = cohort_comm_this_site(comm)};
    uint64_t generation = 0, of_twin = 0;
    cohort_comm *twin = NULL;
    cohort_status status = COHORT_OK;
    if (repetition->has_two)
        status = cohort_await(cluster_create_comm(cluster, &twin, "twin", &options));
    for (int i = 0; !status && i < REPEATED; i++) {
        generation = call_all(comm, repetition->row, generation);
        if (i < REPEATED / 2 && twin)
            of_twin = call_all(twin, repetition->row, of_twin);
        if (i == REPEATED / 2) {
            cohort_comm_unref(twin);
            twin = NULL;
        }
    }
    return status;
}

/* Each site has built each plan once for each communicator. */
TEST(repeated)
{
    static struct repetition repetitions[] = {
        {"levels", false}, {"shares", false}, {"levels", true}, {"shares", true}};
    for (size_t i = 0; i < NUM_OF(repetitions); i++) {
        run((cohort_comm_options){0}, repeat, &repetitions[i]);
        CHECK_INT(atomic_load(&added.num),
                  NUM_SITES * NUM_KINDS * (repetitions[i].has_two ? 2 : 1));
    }
}

/* The same call by other rows, and with blocks of other sizes, has plans of its own. */
static cohort_status vary(cohort_comm *comm, void *arg)
{
    uint64_t generation = 0;
    for (int i = 0; i < REPEATED; i++)
        for (size_t count = 1; count <= SHORT; count += SHORT - 1) {
            CHECK_OK(call(comm, EXERCISE_ALL_REDUCE, count, ++generation, "levels"));
            CHECK_OK(call(comm, EXERCISE_ALL_REDUCE, count, ++generation, "shares"));
            CHECK_OK(call(comm, EXERCISE_ALL_REDUCE, count, ++generation, "ring"));
        }
    return COHORT_OK;
}

TEST(varied)
{
    run((cohort_comm_options){0}, vary, NULL);
    CHECK_INT(atomic_load(&added.num), NUM_SITES * 2 * 2);
}

/* The budget of memory ------------------------------------------------------------------------ */

struct row {
    const char *collective;
    enum exercise_kind kind;
    const char *name;
    size_t count; /* 8-byte elements of a block */
};

struct attempt {
    const struct row *row;
    bool is_forced;
    cohort_status wanted;
    uint64_t budget;
    uint64_t needs; /* of memory, by the prediction for the row; 0: it is not chosen */
};

/* What the prediction says of ATTEMPT's row, by the answer of cohort_explain at site 0. */
static void ask(cohort_comm *comm, struct attempt *attempt)
{
    const struct row *row = attempt->row;
    char *text = NULL, name[64];
    const cohort_op *op = strstr(row->collective, "reduce") ? COHORT_SUM : NULL;
    if (cohort_comm_this_site(comm) != 0)
        return;
    CHECK_OK(cohort_explain(comm, row->collective, row->count, COHORT_UINT64, op, &text));
    snprintf(name, sizeof(name), "\nchosen: %s,", row->name);
    const char *end = strstr(text, name) ? strstr(text, " bytes of memory") : NULL;
    while (end && end[-1] >= '0' && end[-1] <= '9')
        end--;
    attempt->needs = end ? strtoull(end, NULL, 10) : 0;
    free(text);
}

/* After a call that is over the budget one that is within it is possible. */
static cohort_status try(cohort_comm *comm, void *arg)
{
    struct attempt *attempt = arg;
    const struct row *row = attempt->row;
    ask(comm, attempt);
    cohort_status status = call(comm, row->kind, row->count, 1, NULL);
    CHECK_INT(status, attempt->wanted);
    if (status) {
        char needs[96];
        snprintf(needs, sizeof(needs), "bytes of memory at a site; the budget is %llu",
                 (unsigned long long)attempt->budget);
        CHECK_CONTAINS(cohort_error_message(), row->collective);
        CHECK_CONTAINS(cohort_error_message(), row->name);
        CHECK_CONTAINS(cohort_error_message(), needs);
    }
    return cohort_await(cohort_barrier(comm, 2));
}

static void run_attempt(struct attempt *attempt)
{
    char algorithms[64];
    snprintf(algorithms, sizeof(algorithms), "%s=%s", attempt->row->collective, attempt->row->name);
    run((cohort_comm_options){.algorithms = attempt->is_forced ? algorithms : NULL,
                              .memory_budget = attempt->budget},
        try, attempt);
}

static const struct row rows[] = {
    {"all_reduce", EXERCISE_ALL_REDUCE, "levels", SHORT},
    {"all_reduce", EXERCISE_ALL_REDUCE, "shares", SHORT},
    {"all_reduce", EXERCISE_ALL_REDUCE, "levels", LONG}, /* in segments */
    {"all_reduce", EXERCISE_ALL_REDUCE, "shares", LONG},
    {"reduce", EXERCISE_REDUCE, "levels", SHORT},
    {"reduce", EXERCISE_REDUCE, "shares", LONG},
    {"all_gather", EXERCISE_ALL_GATHER, "levels", SHORT},
    {"all_gather", EXERCISE_ALL_GATHER, "shares", SHORT},
    {"all_to_all", EXERCISE_ALL_TO_ALL, "levels", SHORT},
    {"reduce_scatter", EXERCISE_REDUCE_SCATTER, "levels", SHORT},
    {"reduce_scatter", EXERCISE_REDUCE_SCATTER, "shares", SHORT},
};
enum { NUM_ROWS = NUM_OF(rows) };

/* A forced row may have what it is said to take, and no byte less. Its plans keep to that. */
TEST(budget)
{
    unsigned num_limited = 0;
    for (size_t i = 0; i < NUM_ROWS; i++) {
        struct attempt attempt = {.row = &rows[i], .is_forced = true};
        run_attempt(&attempt);
        uint64_t needs = attempt.needs;
        CHECK_INT(atomic_load(&added.num), NUM_SITES);
        CHECK(atomic_load(&added.most) <= needs);
        if (needs <= 1)
            continue;
        attempt.budget = needs;
        run_attempt(&attempt);
        CHECK_INT(atomic_load(&added.num), NUM_SITES);
        attempt.budget = needs - 1;
        attempt.wanted = COHORT_ERR_NO_MEMORY;
        run_attempt(&attempt);
        CHECK_INT(atomic_load(&added.num), 0);
        num_limited++;
    }
    CHECK(num_limited + 2 >= NUM_ROWS);
}

/* Where nothing is forced, another row is taken instead of the one that takes too much. */
TEST(another_row)
{
    unsigned num_others = 0;
    for (size_t i = 0; i < NUM_ROWS; i++) {
        struct attempt attempt = {.row = &rows[i]};
        run_attempt(&attempt);
        if (attempt.needs <= 1)
            continue;
        attempt.budget = attempt.needs - 1;
        run_attempt(&attempt);
        CHECK_INT(attempt.needs, 0);
        CHECK(atomic_load(&added.most) <= attempt.budget);
        num_others++;
    }
    CHECK(num_others > 2);
}
