/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/plan.h"

#include "tests/support/test.h"

static struct cohort__plan_builder *builder_create(uint32_t num_sites)
{
    struct cohort__plan_builder *builder = NULL;
    CHECK_OK(cohort__plan_builder_create(&builder, "test", num_sites, 0));
    return builder;
}

TEST(empty)
{
    struct cohort__plan *plan = NULL;
    CHECK_OK(cohort__plan_finish(builder_create(1), &plan));
    CHECK_INT(plan->num_steps, 0);
    CHECK_INT(plan->in_bytes + plan->out_bytes + plan->tmp_bytes, 0);
    CHECK(cohort__plan_find_recv(plan, 1, 0, 0) == COHORT__NO_STEP);
    CHECK(cohort__plan_ref(plan) == plan);
    cohort__plan_unref(plan);
    cohort__plan_unref(plan);
    cohort__plan_unref(NULL);
    cohort__plan_builder_destroy(builder_create(1));
    cohort__plan_builder_destroy(NULL);
}

TEST(layout)
{
    struct cohort__plan_builder *builder = builder_create(3);
    struct cohort__plan *plan = NULL;
    uint32_t join = cohort__plan_join(builder, 1);
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 8, 16);
    uint32_t out = cohort__plan_block(
        builder,
        (struct cohort__block){
            .space = COHORT__SPACE_OUT, .count = 2, .offset = 4, .bytes = 8, .stride = 32});
    uint32_t one = cohort__plan_tmp(builder, 3);
    uint32_t two = cohort__plan_tmp(builder, 5);
    uint32_t send = cohort__plan_send(builder, 2, 1, 7, (uint32_t[]){in, one, two}, 3);
    uint32_t copy = cohort__plan_copy(builder, 3, out, in);
    cohort__plan_after(builder, send, join);
    cohort__plan_after(builder, copy, join);
    cohort__plan_after(builder, copy, send);
    cohort__plan_after(builder, copy, COHORT__NO_STEP);
    CHECK_INT(cohort__plan_num_steps(builder), 3);
    CHECK_OK(cohort__plan_finish(builder, &plan));
    CHECK_INT(plan->in_bytes, 24);
    CHECK_INT(plan->out_bytes, 44);
    CHECK_INT(plan->blocks[two].offset, 64);
    CHECK_INT(plan->tmp_bytes, 69);
    CHECK_INT(plan->steps[send].bytes, 24);
    CHECK_INT(plan->steps[send].peer, 1);
    CHECK_INT(plan->steps[send].tag, 7);
    CHECK_INT(plan->steps[send].phase, 2);
    CHECK_INT(plan->block_refs[plan->steps[send].first_block + 2], two);
    CHECK_INT(plan->steps[copy].num_waits, 2);
    CHECK_INT(plan->steps[join].num_successors, 2);
    CHECK_INT(plan->successors[plan->steps[join].first_successor], send);
    CHECK_INT(plan->successors[plan->steps[join].first_successor + 1], copy);
    CHECK_INT(plan->num_successors, 3);
    cohort__plan_unref(plan);
}

/* Pieces without gaps are one piece, and so are blocks without bytes. */
TEST(blocks)
{
    struct cohort__plan_builder *builder = builder_create(1);
    struct cohort__block dense = {.space = COHORT__SPACE_OUT, .count = 4, .bytes = 8, .stride = 8};
    struct cohort__block none = {.space = COHORT__SPACE_IN, .count = 9, .bytes = 0, .stride = 8};
    dense = cohort__plan_get_block(builder, cohort__plan_block(builder, dense));
    none = cohort__plan_get_block(builder, cohort__plan_block(builder, none));
    CHECK_INT(dense.count, 1);
    CHECK_INT(dense.bytes, 32);
    CHECK_INT(dense.stride, 0);
    CHECK_INT(none.count, 1);
    CHECK_INT(none.bytes, 0);
    cohort__plan_builder_destroy(builder);
}

TEST(find_recv)
{
    enum { NUM_SITES = 50, NUM_TAGS = 4 };
    struct cohort__plan_builder *builder = builder_create(NUM_SITES);
    struct cohort__plan *plan = NULL;
    uint32_t block = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 8);
    for (unsigned phase = 1; phase <= 3; phase += 2)
        for (uint32_t source = 1; source < NUM_SITES; source++)
            for (uint32_t tag = 0; tag < NUM_TAGS; tag++)
                cohort__plan_recv(builder, phase, source, tag, &block, 1);
    cohort__plan_send(builder, 2, 1, 0, &block, 1);
    CHECK_OK(cohort__plan_finish(builder, &plan));
    uint32_t next = 0;
    for (unsigned phase = 1; phase <= 3; phase += 2)
        for (uint32_t source = 1; source < NUM_SITES; source++)
            for (uint32_t tag = 0; tag < NUM_TAGS; tag++)
                CHECK_INT(cohort__plan_find_recv(plan, phase, source, tag), next++);
    CHECK(cohort__plan_find_recv(plan, 2, 1, 0) == COHORT__NO_STEP);
    CHECK(cohort__plan_find_recv(plan, 1, 0, 0) == COHORT__NO_STEP);
    CHECK(cohort__plan_find_recv(plan, 1, NUM_SITES, 0) == COHORT__NO_STEP);
    CHECK(cohort__plan_find_recv(plan, 3, 1, NUM_TAGS) == COHORT__NO_STEP);
    cohort__plan_unref(plan);
}

/* A builder that has failed accepts all further steps, and fails at the end. */
TEST(builder_fails)
{
    struct cohort__plan_builder *builder = builder_create(2);
    struct cohort__plan *plan = NULL;
    uint32_t block = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 8);
    cohort__plan_builder_fail(builder);
    CHECK_INT(cohort__plan_get_block(builder, block).bytes, 0);
    block = cohort__plan_tmp(builder, 8);
    cohort__plan_after(builder, cohort__plan_recv(builder, 1, 1, 0, &block, 1),
                       cohort__plan_zero(builder, 1, block));
    CHECK_INT(cohort__plan_finish(builder, &plan), COHORT_ERR_NO_MEMORY);
    CHECK(!plan);
    CHECK_CONTAINS(cohort_error_message(), "plan test at site 0 of 2");
}

/* If a part can't be built, its error is that of the whole, whatever fails after it. */
TEST(part_fails)
{
    struct cohort__plan_builder *builder = builder_create(2);
    struct cohort__plan *plan = NULL;
    cohort__plan_builder_fail_too(builder,
                                  cohort_fail(COHORT_ERR_BAD_PARAMETER, "two sites are too few"));
    cohort__plan_builder_fail_too(builder, cohort_fail(COHORT_ERR_SYSTEM, "something else"));
    cohort__plan_builder_fail(builder);
    CHECK_INT(cohort__plan_finish(builder, &plan), COHORT_ERR_BAD_PARAMETER);
    CHECK(!plan);
    CHECK_CONTAINS(cohort_error_message(), "plan test at site 0 of 2: two sites are too few");
}
