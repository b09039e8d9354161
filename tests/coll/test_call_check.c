/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "collectives/algo/algorithm.h"
#include "runtime/base/random.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* A call ends as cohort_call_check says beforehand. The calls are random, with and without options,
 * on random communicators, and all sites draw the same calls. */

enum { NUM_SITES = 6, NUM_LOCALITIES = 3, NUM_COMMS = 60, NUM_CALLS = 60, MOST = 300 };

static const cohort_op *user_op;
static uint64_t num_fine, num_refused, num_over;

struct drawn {
    cohort_call_question question;
    uint32_t root;
    size_t counts[NUM_SITES];
    char collective[32];
};

static double in[NUM_SITES][NUM_SITES * MOST], out[NUM_SITES][NUM_SITES * MOST];

static const char *draw_algorithm(struct cohort__random *random, enum cohort__collective collective)
{
    switch (cohort__random_below(random, 8)) {
    case 0:
    case 1:
        return NULL;
    case 2: /* a row of any collective */
        return cohort__algorithms[cohort__random_below(random, cohort__num_algorithms)]->name;
    default:
        break;
    }
    for (;;) {
        const struct cohort__algorithm *row =
            cohort__algorithms[cohort__random_below(random, cohort__num_algorithms)];
        if (row->collective == collective)
            return row->name;
    }
}

static bool has_variant(enum cohort__collective collective)
{
    return collective == COHORT__GATHER || collective == COHORT__SCATTER ||
           collective == COHORT__ALL_GATHER || collective == COHORT__ALL_TO_ALL ||
           collective == COHORT__REDUCE_SCATTER;
}

static bool has_objects(enum cohort__collective collective)
{
    return collective == COHORT__GATHER || collective == COHORT__SCATTER ||
           collective == COHORT__BROADCAST || collective == COHORT__ALL_GATHER ||
           collective == COHORT__ALL_TO_ALL;
}

static enum cohort__collective draw_question(struct cohort__random *random, struct drawn *drawn)
{
    static const size_t counts[] = {0, 1, 7, MOST};
    static const cohort_datatype datatypes[] = {COHORT_DOUBLE, COHORT_DOUBLE, COHORT_BYTE, 0};
    enum cohort__collective collective =
        (enum cohort__collective)cohort__random_below(random, COHORT__EXCHANGE);
    cohort_call_question *question = &drawn->question;
    memset(drawn, 0, sizeof(*drawn));
    question->collective = cohort__collective_name(collective);
    question->algorithm = draw_algorithm(random, collective);
    question->count = counts[cohort__random_below(random, 4)];
    question->datatype = datatypes[cohort__random_below(random, 4)];
    if (question->datatype == 0)
        question->datatype = cohort__random_below(random, 4) ? cohort_datatype_of_bytes(8) : 12345;
    question->op = cohort__random_below(random, 3) ? COHORT_SUM : user_op;
    drawn->root =
        (uint32_t)cohort__random_below(random, NUM_SITES + (cohort__random_below(random, 8) == 0));
    question->root_site = cohort__random_below(random, 2) ? &drawn->root : NULL;
    question->reproducible = cohort__random_below(random, 4) == 0;
    question->check_asymmetric = cohort__random_below(random, 6) == 0;
    uint64_t variant = cohort__random_below(random, 4);
    question->is_ragged = variant == 0 && has_variant(collective);
    question->of_objects = variant == 1 && has_objects(collective);
    for (uint32_t site = 0; site < NUM_SITES; site++)
        drawn->counts[site] = cohort__random_below(random, MOST);
    question->counts = drawn->counts;
    question->q = (int64_t)cohort__random_below(random, 20) - 10;
    return collective;
}

static cohort_future *call_ragged(cohort_comm *comm, enum cohort__collective collective,
                                  const struct drawn *drawn, uint32_t root, uint64_t generation)
{
    const cohort_call_question *asked = &drawn->question;
    uint32_t me = cohort_comm_this_site(comm);
    size_t own = drawn->counts[me];
    size_t same[NUM_SITES];
    for (uint32_t site = 0; site < NUM_SITES; site++)
        same[site] = asked->count;
    switch (collective) {
    case COHORT__GATHER:
        return me == root ? cohort_gatherv_here(comm, in[me], own, out[me], drawn->counts, NULL,
                                                asked->datatype, generation)
                          : cohort_gatherv_there(comm, in[me], own, asked->datatype, generation);
    case COHORT__SCATTER:
        return me == root ? cohort_scatterv_to(comm, in[me], drawn->counts, NULL, out[me], own,
                                               asked->datatype, generation)
                          : cohort_scatterv_from(comm, out[me], own, asked->datatype, generation);
    case COHORT__ALL_GATHER:
        return cohort_all_gatherv(comm, in[me], out[me], drawn->counts, NULL, asked->datatype,
                                  generation);
    case COHORT__REDUCE_SCATTER:
        return cohort_reduce_scatterv(comm, in[me], out[me], drawn->counts, asked->datatype,
                                      asked->op, generation);
    default:
        return cohort_all_to_allv(comm, in[me], same, NULL, out[me], same, NULL, asked->datatype,
                                  generation);
    }
}

static cohort_object objects_in[NUM_SITES][NUM_SITES], objects_out[NUM_SITES][NUM_SITES];

static cohort_future *call_objects(cohort_comm *comm, enum cohort__collective collective,
                                   uint32_t root, uint64_t generation)
{
    uint32_t me = cohort_comm_this_site(comm);
    const cohort_object *from = objects_in[me];
    cohort_object *to = objects_out[me];
    switch (collective) {
    case COHORT__GATHER:
        return me == root ? cohort_gather_objects_here(comm, from, to, generation)
                          : cohort_gather_objects_there(comm, from, generation);
    case COHORT__SCATTER:
        return me == root ? cohort_scatter_objects_to(comm, from, to, generation)
                          : cohort_scatter_objects_from(comm, to, generation);
    case COHORT__BROADCAST:
        return me == root ? cohort_broadcast_object_to(comm, from, generation)
                          : cohort_broadcast_object_from(comm, to, generation);
    case COHORT__ALL_GATHER:
        return cohort_all_gather_objects(comm, from, to, generation);
    default:
        return cohort_all_to_all_objects(comm, from, to, generation);
    }
}

static cohort_future *call_rooted(cohort_comm *comm, enum cohort__collective collective,
                                  const cohort_call_question *asked, uint32_t root,
                                  uint64_t generation)
{
    uint32_t me = cohort_comm_this_site(comm);
    size_t count = asked->count;
    cohort_datatype type = asked->datatype;
    switch (collective) {
    case COHORT__GATHER:
        return me == root ? cohort_gather_here(comm, in[me], out[me], count, type, generation)
                          : cohort_gather_there(comm, in[me], count, type, generation);
    case COHORT__SCATTER:
        return me == root ? cohort_scatter_to(comm, in[me], out[me], count, type, generation)
                          : cohort_scatter_from(comm, out[me], count, type, generation);
    case COHORT__BROADCAST:
        return me == root ? cohort_broadcast_to(comm, in[me], count, type, generation)
                          : cohort_broadcast_from(comm, out[me], count, type, generation);
    default:
        return me == root
                   ? cohort_reduce_here(comm, in[me], out[me], count, type, asked->op, generation)
                   : cohort_reduce_there(comm, in[me], count, type, asked->op, generation);
    }
}

static cohort_future *call(cohort_comm *comm, enum cohort__collective collective,
                           const struct drawn *drawn, uint64_t generation)
{
    const cohort_call_question *asked = &drawn->question;
    uint32_t me = cohort_comm_this_site(comm);
    uint32_t root = asked->root_site && *asked->root_site < NUM_SITES ? *asked->root_site
                                                                      : cohort_comm_root_site(comm);
    size_t count = asked->count;
    cohort_datatype type = asked->datatype;
    if (asked->is_ragged)
        return call_ragged(comm, collective, drawn, root, generation);
    if (asked->of_objects)
        return call_objects(comm, collective, root, generation);
    switch (collective) {
    case COHORT__ALL_GATHER:
        return cohort_all_gather(comm, in[me], out[me], count, type, generation);
    case COHORT__ALL_REDUCE:
        return cohort_all_reduce(comm, in[me], out[me], count, type, asked->op, generation);
    case COHORT__ALL_TO_ALL:
        return cohort_all_to_all(comm, in[me], out[me], count, type, generation);
    case COHORT__BARRIER:
        return cohort_barrier(comm, generation);
    case COHORT__REDUCE_SCATTER:
        return cohort_reduce_scatter(comm, in[me], out[me], count, type, asked->op, generation);
    case COHORT__SCAN:
        return cohort_scan(comm, in[me], out[me], count, type, asked->op, generation);
    case COHORT__EXCLUSIVE_SCAN:
        return cohort_exclusive_scan(comm, in[me], out[me], count, type, asked->op, generation);
    case COHORT__SHIFT:
        return cohort_shift(comm, in[me], out[me], count, type, asked->q, generation);
    default:
        return call_rooted(comm, collective, asked, root, generation);
    }
}

static void compare(const cohort_call_question *asked, cohort_status checked, const char *why,
                    cohort_status called)
{
    if (called != checked)
        FAIL("%s by %s: the check says %s (%s), the call %s (%s)", asked->collective,
             asked->algorithm ? asked->algorithm : "any", cohort_status_name(checked), why,
             cohort_status_name(called), called ? cohort_error_message() : "");
}

struct terms {
    uint64_t seed;
    bool has_budget;
};

static cohort_status calls(cohort_comm *comm, void *arg)
{
    const struct terms *terms = arg;
    uint32_t me = cohort_comm_this_site(comm);
    struct cohort__random random = cohort__random_seeded(terms->seed);
    for (uint64_t generation = 1; generation <= NUM_CALLS; generation++) {
        struct drawn drawn;
        enum cohort__collective collective = draw_question(&random, &drawn);
        cohort_call_question *asked = &drawn.question;
        if (asked->is_ragged && terms->has_budget)
            asked->is_ragged = false; /* only the call itself knows how much it needs */
        if (!cohort__collective_is_rooted(collective))
            asked->root_site = cohort__random_below(&random, 8) ? NULL : asked->root_site;
        char why[512] = "";
        cohort_status checked = cohort_call_check(comm, asked);
        snprintf(why, sizeof(why), "%s", checked ? cohort_error_message() : "");
        CHECK_OK(cohort_comm_next_call(
            comm, &(cohort_call_options){.algorithm = asked->algorithm,
                                         .root_site = asked->root_site,
                                         .check_asymmetric = asked->check_asymmetric,
                                         .reproducible = asked->reproducible}));
        cohort_status called = cohort_await(call(comm, collective, &drawn, generation));
        compare(asked, checked, why, called);
        cohort_objects_fini(objects_out[me], NUM_SITES);
        num_fine += me == 0 && !checked;
        num_refused += me == 0 && checked;
        num_over += me == 0 && checked == COHORT_ERR_NO_MEMORY;
        CHECK_OK(await_within(cohort_barrier(comm, ++generation), UINT64_MAX));
    }
    return COHORT_OK;
}

static cohort_status add(void *result, const void *left, const void *right, size_t count,
                         cohort_datatype datatype, void *arg)
{
    memset(result, 0, count * cohort_datatype_size(datatype));
    return COHORT_OK;
}

TEST(random)
{
    static const uint64_t budgets[] = {0, 0, 1, 600, 5000, 20000};
    cohort_op *op;
    CHECK_OK(cohort_op_create(&op, &(struct cohort_op_options){.name = "add", .function = add}));
    user_op = op;
    for (uint64_t seed = 1; seed <= NUM_COMMS; seed++) {
        struct cohort__random random = cohort__random_seeded(seed);
        uint64_t budget = budgets[cohort__random_below(&random, 6)];
        struct terms terms = {.seed = 1000 + seed, .has_budget = budget > 0};
        struct cluster *cluster =
            cluster_create(seed, cohort__random_below(&random, 3) ? NUM_LOCALITIES : 1, 0);
        cohort_status status = cluster_sites(
            cluster,
            (struct sites){
                .name = "check",
                .options = {.num_sites = NUM_SITES,
                            .root_site = (uint32_t)cohort__random_below(&random, NUM_SITES),
                            .arity = 2 + (uint32_t)cohort__random_below(&random, 3),
                            .flat_fallback_threshold =
                                cohort__random_below(&random, 2) ? COHORT_FORCE_TREE : 0,
                            .algorithms = cohort__random_below(&random, 3)
                                              ? NULL
                                              : "all_reduce=ring,gather=binomial",
                            .reproducible = cohort__random_below(&random, 3) == 0,
                            .memory_budget = budget},
                .run = calls,
                .arg = &terms,
            });
        CHECK_OK(status);
        cluster_destroy(cluster);
    }
    cohort_op_unref(op);
    CHECK(num_fine > 100 && num_refused > 100 && num_over > 10);
}

/* Questions that are refused. */
static cohort_status ask(cohort_comm *comm, void *arg)
{
    static const struct {
        cohort_call_question question;
        const char *why;
    } wrong[] = {
        {{.collective = "no_such"}, "\"no_such\" is no collective"},
        {{.collective = "check"}, "is no collective"},
        {{.collective = "scan", .datatype = COHORT_DOUBLE, .of_objects = true}, "objects"},
        {{.collective = "scan", .datatype = COHORT_DOUBLE, .is_ragged = true}, "of one size"},
        {{.collective = "all_gather", .datatype = COHORT_DOUBLE, .is_ragged = true}, "no counts"},
        {{.collective = "scan", .datatype = COHORT_DOUBLE, .count = SIZE_MAX}, "than memory"},
        {{.collective = "scan", .datatype = 99}, "is no datatype"},
        {{.collective = "scan", .datatype = COHORT_DOUBLE, .algorithm = "none"}, "\"none\""},
    };
    for (unsigned i = 0; i < NUM_OF(wrong); i++) {
        CHECK_FAILS(cohort_call_check(comm, &wrong[i].question), COHORT_ERR_BAD_PARAMETER,
                    wrong[i].why);
    }
    CHECK_INT(cohort_call_check(NULL, &wrong[0].question), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_call_check(comm, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_call_check(comm, &(cohort_call_question){0}), COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(cohort_algorithm_check(comm, "scan", NULL, 1, COHORT_DOUBLE, NULL),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_OK(cohort_call_check(
        comm, &(cohort_call_question){.collective = "exchange", .datatype = COHORT_DOUBLE}));
    return COHORT_OK;
}

TEST(wrong)
{
    struct cluster *cluster = cluster_create(1, 1, 0);
    CHECK_OK(cluster_sites(cluster,
                           (struct sites){.name = "ask", .options = {.num_sites = 2}, .run = ask}));
    cluster_destroy(cluster);
}
