/* SPDX-License-Identifier: Apache-2.0 */
/* Agreement in front of collectives: the plans pass the plan check, nothing but short SENDs starts
 * before the agreement, all sites see the same minima, and the collective does what it does without
 * agreement.
 */
#include "collectives/algo/agreement.h"

#include <stdlib.h>
#include <string.h>

#include "tests/algo/call.h"
#include "tests/support/test.h"

enum { LAST_SITES = 33, RUBBISH = 0x5a };

static const struct cohort__algorithm *minimum_row; /* the row of the agreement's all_reduce */

static struct cohort__plan *minimum_create(const struct cohort__request *call)
{
    struct cohort__request request = cohort__agreement_request(call);
    struct cohort__plan *minimum = NULL;
    CHECK_OK(cohort__algorithm_build(minimum_row, &request, &minimum));
    return minimum;
}

static cohort_status decorate(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__plan *minimum = minimum_create(request);
    struct cohort__plan *collective = NULL;
    const struct cohort__algorithm *row =
        cohort__algorithm_find(request->collective, request->arity > 2 ? "hierarchical" : "linear");
    CHECK_OK(cohort__algorithm_build(row, request, &collective));
    cohort_status status = cohort__agreement_build(minimum, collective, ret_plan);
    cohort__plan_unref(minimum);
    cohort__plan_unref(collective);
    return status;
}

static cohort_status alone(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__plan *minimum = minimum_create(request);
    cohort_status status = cohort__agreement_build(minimum, NULL, ret_plan);
    cohort__plan_unref(minimum);
    return status;
}

static void nothing(const struct cohort__request *request, uint32_t site, size_t *ret_in,
                    size_t *ret_out)
{
    *ret_in = 0;
    *ret_out = 0;
}

static bool agrees(const uint8_t *check)
{
    int16_t values[4];
    memcpy(values, check, sizeof(values));
    return values[0] == -values[1] && values[2] == -values[3];
}

/* Site ODD, if it exists, has other values than the rest. Returns the status of the run. */
static cohort_status run(const struct call *call, uint32_t odd, uint64_t seed)
{
    uint32_t num_sites = call->request.num_sites;
    int16_t values[LAST_SITES][4];
    uint8_t *check[LAST_SITES];
    for (uint32_t site = 0; site < num_sites; site++) {
        int16_t type = site == odd ? 11 : 5;
        memcpy(values[site], (int16_t[]){type, (int16_t)-type, 1, -1}, sizeof(values[site]));
        check[site] = (uint8_t *)values[site];
        if (call->out_bytes[site] > 0)
            memset(call->out[site], RUBBISH, call->out_bytes[site]);
    }
    cohort_status status = plan_run(&(struct plan_run){.plans = call->plans,
                                                       .num_sites = num_sites,
                                                       .in = (const uint8_t *const *)call->in,
                                                       .out = call->out,
                                                       .op = call_op_add,
                                                       .check = check,
                                                       .guard = agrees,
                                                       .seed = seed});
    bool is_odd = odd < num_sites;
    const int16_t want[] = {is_odd && num_sites > 1 ? 5
                            : is_odd                ? 11
                                                    : 5,
                            is_odd ? -11 : -5, 1, -1};
    for (uint32_t site = 0; site < num_sites; site++)
        CHECK(memcmp(values[site], want, sizeof(want)) == 0);
    return status;
}

static void verify_result(const struct call *call)
{
    uint8_t want[LAST_SITES * LAST_SITES * 8];
    for (uint32_t site = 0; site < call->request.num_sites; site++) {
        if (call->out_bytes[site] == 0)
            continue;
        CHECK(call->out_bytes[site] <= sizeof(want));
        call_reference(call, site, call_op_add, want);
        CHECK(memcmp(call->out[site], want, call->out_bytes[site]) == 0);
    }
}

static void verify_untouched(const struct call *call)
{
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        for (size_t i = 0; i < call->out_bytes[site]; i++)
            CHECK_INT(call->out[site][i], RUBBISH);
}

/* Marks STEP and all that wait for it. */
static void mark(const struct cohort__plan *plan, uint32_t step, bool *marks)
{
    if (marks[step])
        return;
    marks[step] = true;
    for (uint32_t k = 0; k < plan->steps[step].num_successors; k++)
        mark(plan, plan->successors[plan->steps[step].first_successor + k], marks);
}

static bool is_early(const struct cohort__step *step)
{
    return step->phase != COHORT__PHASE_CHECK && step->kind == COHORT__STEP_SEND &&
           step->num_waits == 0;
}

/* GUARD is the last step of phase 0, and all other steps but early SENDs wait for it. */
static void verify_order(const struct cohort__plan *plan)
{
    uint32_t num_guards = 0, num_phase_0 = 0;
    bool *is_guarded = test_calloc(plan->num_steps, sizeof(*is_guarded));
    for (uint32_t i = 0; i < plan->num_steps; i++)
        if (plan->steps[i].kind == COHORT__STEP_GUARD)
            mark(plan, i, is_guarded);
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        num_guards += step->kind == COHORT__STEP_GUARD;
        num_phase_0 += step->phase == COHORT__PHASE_CHECK;
        if (step->phase != COHORT__PHASE_CHECK)
            CHECK(is_early(step) ? step->bytes <= COHORT__EARLY_BYTES : is_guarded[i]);
        for (uint32_t k = 0; k < step->num_successors; k++) {
            uint32_t next = plan->successors[step->first_successor + k];
            bool crosses = step->phase == COHORT__PHASE_CHECK &&
                           plan->steps[next].phase != COHORT__PHASE_CHECK;
            CHECK(!crosses || step->kind == COHORT__STEP_GUARD);
        }
        if (step->kind == COHORT__STEP_REDUCE)
            CHECK_INT(step->op, step->phase == COHORT__PHASE_CHECK ? COHORT__STEP_OP_MIN
                                                                   : COHORT__STEP_OP_CALL);
    }
    CHECK_INT(num_guards, 1);
    CHECK(num_phase_0 >= 2);
    free(is_guarded);
}

static uint64_t count_messages(const struct call *call)
{
    uint64_t num = 0;
    for (uint32_t site = 0; site < call->request.num_sites; site++)
        for (uint32_t i = 0; i < call->plans[site]->num_steps; i++) {
            const struct cohort__step *step = &call->plans[site]->steps[i];
            bool counts = step->kind == COHORT__STEP_SEND && step->phase == COHORT__PHASE_CHECK;
            num += counts;
            CHECK(!counts || step->bytes <= COHORT__CHECK_BYTES);
        }
    return num;
}

static bool is_linear_or_tree(const struct cohort__algorithm *row)
{
    return strcmp(row->name, "linear") == 0 || strcmp(row->name, "hierarchical") == 0;
}

static void verify(const struct cohort__request *request, call_build *build, call_sizes *sizes)
{
    struct call call;
    uint64_t seed = request->num_sites * 100 + request->root;
    struct cohort__request minimum = cohort__agreement_request(request);
    if (cohort__algorithm_refuses(minimum_row, &minimum))
        return;
    call_init(&call, request, build, sizes, seed);
    call_expect(&call, minimum_row->name, call_check(&call), seed);
    for (uint32_t site = 0; site < request->num_sites; site++)
        verify_order(call.plans[site]);
    if (is_linear_or_tree(minimum_row))
        CHECK_INT(count_messages(&call), 2 * (request->num_sites - 1));
    call_expect(&call, minimum_row->name, run(&call, LAST_SITES, seed), seed);
    if (build == decorate)
        verify_result(&call);
    for (uint32_t odd = 0; odd < request->num_sites && request->num_sites > 1; odd += 5) {
        CHECK_INT(run(&call, odd, seed + odd), COHORT_ERR_STATE);
        verify_untouched(&call);
    }
    call_fini(&call);
}

static void verify_sites(uint32_t num_sites)
{
    /* Usually one arity for each number of sites, in turn. */
    uint32_t step = (uint32_t)test_rounds_of(1, 3, 3);
    for (uint32_t arity = 2 + num_sites % step; arity <= 4; arity += step) {
        struct cohort__request request = {
            .num_sites = num_sites, .arity = arity, .commutative = true, .bytes = 8};
        verify(&request, alone, nothing);
        for (uint32_t root = 0; root < num_sites; root += 1 + num_sites / 3) {
            request.root = root;
            request.collective = COHORT__GATHER;
            verify(&request, decorate, call_sizes_collective);
            request.collective = COHORT__SCATTER;
            verify(&request, decorate, call_sizes_collective);
        }
        request.root = 0;
        request.collective = COHORT__ALL_REDUCE;
        verify(&request, decorate, call_sizes_collective);
        request.collective = COHORT__ALL_TO_ALL;
        verify(&request, decorate, call_sizes_collective);
    }
}

/* With every row that may be chosen for the all_reduce. */
TEST(every_row)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        minimum_row = cohort__algorithms[i];
        for (uint32_t num_sites = 1;
             minimum_row->collective == COHORT__ALL_REDUCE && num_sites <= LAST_SITES;
             num_sites = call_next_sites(num_sites))
            verify_sites(num_sites);
    }
}

/* In a gather by messages each site but the root has a SEND that waits for nothing; so has the root
 * of a scatter for each other site. */
static uint32_t count_early(enum cohort__collective collective, size_t bytes)
{
    const struct cohort__request request = {
        .collective = collective, .num_sites = 5, .arity = 2, .commutative = true, .bytes = bytes};
    struct call call;
    uint32_t num = 0;
    call_init(&call, &request, decorate, call_sizes_collective, 1);
    call_expect(&call, "early", call_check(&call), 1);
    for (uint32_t site = 0; site < 5; site++) {
        verify_order(call.plans[site]);
        for (uint32_t i = 0; i < call.plans[site]->num_steps; i++)
            num += is_early(&call.plans[site]->steps[i]);
    }
    call_fini(&call);
    return num;
}

TEST(early)
{
    minimum_row = cohort__algorithm_find(COHORT__ALL_REDUCE, "linear");
    CHECK_INT(count_early(COHORT__GATHER, 8), 4);
    CHECK_INT(count_early(COHORT__SCATTER, 8), 4);
    CHECK_INT(count_early(COHORT__BARRIER, 0), 4); /* the first half of it */
    CHECK_INT(count_early(COHORT__GATHER, COHORT__EARLY_BYTES), 4);
    CHECK_INT(count_early(COHORT__GATHER, COHORT__EARLY_BYTES + 1), 0);
}

/* The request of the all_reduce uses nothing that may be wrong in the call. */
TEST(request)
{
    struct cohort__request request = cohort__agreement_request(&(struct cohort__request){
        .collective = COHORT__GATHER,
        .num_sites = 9,
        .this_site = 4,
        .root = 77,
        .arity = 3,
        .shift = 5,
        .bytes = SIZE_MAX,
        .element = 12,
        .num_in_parts = 3,
    });
    CHECK_INT(request.collective, COHORT__ALL_REDUCE);
    CHECK(request.num_sites == 9 && request.this_site == 4 && request.arity == 3);
    CHECK(request.root == 0 && request.shift == 0 && request.num_in_parts == 0);
    CHECK(request.bytes == COHORT__CHECK_BYTES && request.element == 2 && request.commutative);
}
