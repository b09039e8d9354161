/* SPDX-License-Identifier: Apache-2.0 */
/* The rows named shared as plans: a meeting, which does what the collective says, also behind an
 * agreement by a meeting. No site sends anything. */
#include "collectives/algo/algorithm.h"

#include "collectives/algo/agreement.h"
#include "tests/algo/call.h"
#include "tests/support/test.h"

enum { LAST_SITES = 17 };

static struct cohort__plan *minimum_create(const struct cohort__request *call)
{
    struct cohort__request request = cohort__agreement_request(call);
    struct cohort__plan *minimum = NULL;
    CHECK_OK(cohort__shared_build(&request, &minimum));
    return minimum;
}

static cohort_status decorate(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__plan *minimum = minimum_create(request), *collective = NULL;
    CHECK_OK(cohort__shared_build(request, &collective));
    cohort_status status = cohort__agreement_build(minimum, collective, ret_plan);
    cohort__plan_unref(minimum);
    cohort__plan_unref(collective);
    return status;
}

static void verify_steps(const struct cohort__plan *plan, uint32_t num_meetings)
{
    CHECK_INT(plan->num_meetings, num_meetings);
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        CHECK(step->kind != COHORT__STEP_SEND && step->kind != COHORT__STEP_RECV);
        bool is_minimum = step->kind == COHORT__STEP_MEET && step->phase == COHORT__PHASE_CHECK;
        if (step->kind == COHORT__STEP_MEET)
            CHECK_INT(step->op, is_minimum ? COHORT__STEP_OP_MIN : COHORT__STEP_OP_CALL);
    }
}

static void verify(const struct cohort__request *request, uint64_t seed)
{
    struct call call;
    call_init(&call, request, cohort__shared_build, call_sizes_collective, seed);
    call_expect(&call, "shared", call_check(&call), seed);
    call_verify(&call, "shared", call_op_hash, seed);
    for (uint32_t site = 0; site < request->num_sites; site++)
        verify_steps(call.plans[site], 1);
    call_fini(&call);
    call_init(&call, request, decorate, call_sizes_collective, seed);
    call_expect(&call, "shared, checked", call_check(&call), seed);
    for (uint32_t site = 0; site < request->num_sites; site++)
        verify_steps(call.plans[site], 2);
    call_fini(&call);
}

TEST(all_collectives)
{
    for (uint32_t num_sites = 1; num_sites <= LAST_SITES; num_sites = call_next_sites(num_sites))
        for (int collective = 0; collective < COHORT__EXCHANGE; collective++)
            for (uint32_t i = 0; i < 3; i++)
                verify(
                    &(struct cohort__request){.collective = (enum cohort__collective)collective,
                                              .num_sites = num_sites,
                                              .root = i * (num_sites - 1) / 2,
                                              .shift = i * (num_sites - 1) / 2,
                                              .arity = 2,
                                              .bytes = collective == COHORT__BARRIER ? 0 : i * 8},
                    num_sites * 100 + i);
}
