/* SPDX-License-Identifier: Apache-2.0 */
/* The decorations of every row's plans: working in place, and a DONE step for each row of OUT. The
 * plan check finds steps that are not ordered. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/plan/decorations.h"
#include "tests/support/plan_check.h"
#include "tests/support/test.h"

enum { LAST_SITES = 17, BYTES = 24 };

typedef cohort_status decorate(const struct cohort__request *request, struct cohort__plan *plan,
                               struct cohort__plan **ret_plan);

static cohort_status in_place(const struct cohort__request *request, struct cohort__plan *plan,
                              struct cohort__plan **ret_plan)
{
    bool is_own =
        request->collective == COHORT__GATHER || request->collective == COHORT__ALL_GATHER;
    return cohort__plan_in_place(plan, is_own ? request->this_site * request->bytes : 0, ret_plan);
}

static cohort_status without_out(const struct cohort__request *request, struct cohort__plan *plan,
                                 struct cohort__plan **ret_plan)
{
    return cohort__plan_without_out(plan, ret_plan);
}

static cohort_status rows(const struct cohort__request *request, struct cohort__plan *plan,
                          struct cohort__plan **ret_plan)
{
    struct cohort__row all[LAST_SITES];
    for (uint32_t row = 0; row < request->num_sites; row++)
        all[row] = (struct cohort__row){row * request->bytes, request->bytes};
    return cohort__plan_rows(plan, all, plan->num_sites, ret_plan);
}

static cohort_status in_place_with_rows(const struct cohort__request *request,
                                        struct cohort__plan *plan, struct cohort__plan **ret_plan)
{
    struct cohort__plan *inner;
    cohort_status status = in_place(request, plan, &inner);
    if (status)
        return status;
    status = rows(request, inner, ret_plan);
    cohort__plan_unref(inner);
    return status;
}

/* Rooted collectives are decorated at the root only. */
static void check_call(const struct cohort__algorithm *row, struct cohort__request request,
                       decorate *decorate)
{
    struct cohort__plan *plans[LAST_SITES];
    if (cohort__algorithm_refuses(row, &request))
        return;
    for (uint32_t site = 0; site < request.num_sites; site++) {
        struct cohort__plan *plan;
        request.this_site = site;
        CHECK_OK(cohort__algorithm_build(row, &request, &plan));
        plans[site] = plan;
        if (cohort__collective_is_rooted(row->collective) && site != request.root)
            continue;
        CHECK_OK(decorate(&request, plan, &plans[site]));
        cohort__plan_unref(plan);
    }
    if (plan_check(plans, request.num_sites))
        FAIL("%s of %s, %u sites, root %u: %s", row->name, cohort__collective_name(row->collective),
             request.num_sites, request.root, cohort_error_message());
    for (uint32_t site = 0; site < request.num_sites; site++)
        cohort__plan_unref(plans[site]);
}

static void check_rows(enum cohort__collective collective, decorate *decorate)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++) {
        const struct cohort__algorithm *row = cohort__algorithms[i];
        for (uint32_t n = 1; row->collective == collective && n <= LAST_SITES; n++)
            check_call(row,
                       (struct cohort__request){
                           .collective = collective,
                           .num_sites = n,
                           .root = cohort__collective_is_rooted(collective) ? (n - 1) / 2 : 0,
                           .arity = 2 + n % 2,
                           .bytes = BYTES,
                           .element = 8,
                           .commutative = n % 3},
                       decorate);
    }
}

/* reduce_scatter is left out: it only reads most of OUT, which the check takes for a mistake. */
TEST(in_place)
{
    check_rows(COHORT__GATHER, in_place);
    check_rows(COHORT__REDUCE, in_place);
    check_rows(COHORT__ALL_GATHER, in_place);
    check_rows(COHORT__ALL_REDUCE, in_place);
    check_rows(COHORT__ALL_TO_ALL, in_place);
    check_rows(COHORT__SCAN, in_place);
}

TEST_CALL(without_out, check_rows(COHORT__SCATTER, without_out))

TEST(rows)
{
    check_rows(COHORT__GATHER, rows);
    check_rows(COHORT__ALL_GATHER, rows);
    check_rows(COHORT__ALL_TO_ALL, rows);
}

TEST(in_place_with_rows)
{
    check_rows(COHORT__GATHER, in_place_with_rows);
    check_rows(COHORT__ALL_GATHER, in_place_with_rows);
    check_rows(COHORT__ALL_TO_ALL, in_place_with_rows);
}

/* Gaps are not copied. A plan that reads nothing stays as it is. */
TEST(gaps)
{
    struct cohort__plan_builder *builder;
    struct cohort__plan *plan, *decorated;
    CHECK_OK(cohort__plan_builder_create(&builder, "gaps", 1, 0));
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 16);
    uint32_t in = cohort__plan_block(
        builder,
        (struct cohort__block){
            .space = COHORT__SPACE_IN, .count = 2, .offset = 100, .bytes = 8, .stride = 50});
    cohort__plan_copy(builder, 1, out, in);
    CHECK_OK(cohort__plan_finish(builder, &plan));
    CHECK_OK(cohort__plan_in_place(plan, 1000, &decorated));
    CHECK_INT(decorated->in_bytes, 0);
    CHECK_INT(decorated->out_bytes, 1158);
    CHECK_INT(decorated->tmp_bytes, 58);
    uint32_t num_copies = 0;
    for (uint32_t i = 0; i < decorated->num_steps; i++)
        if (decorated->steps[i].kind == COHORT__STEP_COPY && decorated->steps[i].num_waits == 0) {
            CHECK_INT(decorated->steps[i].bytes, 8);
            num_copies++;
        }
    CHECK_INT(num_copies, 2);
    struct cohort__plan *again;
    CHECK_OK(cohort__plan_in_place(decorated, 0, &again));
    CHECK(again == decorated);
    cohort__plan_unref(again);
    cohort__plan_unref(decorated);
    cohort__plan_unref(plan);
}
