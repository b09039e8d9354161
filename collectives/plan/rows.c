/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/rows.h"

#include <stdlib.h>

#include "collectives/plan/writers.h"

/* Appends the blocks and steps of PLAN, with the same indices. */
static void copy(struct cohort__plan_builder *builder, const struct cohort__plan *plan)
{
    for (uint32_t i = 0; i < plan->num_blocks; i++)
        cohort__plan_block(builder, plan->blocks[i]);
    cohort__plan_tmp(builder, plan->tmp_bytes);
    if (plan->num_members > 0)
        cohort__plan_set_members(builder, plan->members, plan->num_members, plan->this_rank);
    if (plan->has_gaps)
        cohort__plan_set_gaps(builder);
    for (uint32_t i = 0; i < plan->num_steps; i++)
        cohort__plan_copy_step(builder, plan, i);
    for (uint32_t i = 0; i < plan->num_steps; i++)
        for (uint32_t k = 0; k < plan->steps[i].num_successors; k++)
            cohort__plan_after(builder, plan->successors[plan->steps[i].first_successor + k], i);
}

cohort_status cohort__plan_rows(struct cohort__plan *plan, const struct cohort__row *rows,
                                uint32_t num, struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder;
    cohort_status status =
        cohort__plan_builder_create(&builder, plan->name, plan->num_sites, plan->this_site);
    if (status)
        return status;
    struct cohort__written *ranges = calloc(num + (size_t)1, sizeof(*ranges));
    if (ranges) {
        copy(builder, plan);
        for (uint32_t row = 0; row < num; row++)
            ranges[row] = (struct cohort__written){.offset = rows[row].offset,
                                                   .bytes = rows[row].bytes,
                                                   .step = cohort__plan_done(builder, row)};
        cohort__plan_after_writers(builder, COHORT__SPACE_OUT, ranges, num);
    } else {
        cohort__plan_builder_fail(builder);
    }
    free(ranges);
    return cohort__plan_finish(builder, ret_plan);
}
