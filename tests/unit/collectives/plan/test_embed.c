/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/embed.h"

#include "tests/support/test.h"

enum { PHASE = 3, TAG = 40 };

static struct cohort__plan_builder *builder_create(uint32_t num_sites)
{
    struct cohort__plan_builder *builder = NULL;
    CHECK_OK(cohort__plan_builder_create(&builder, "test", num_sites, 0));
    return builder;
}

static struct cohort__plan *finish(struct cohort__plan_builder *builder)
{
    struct cohort__plan *plan = NULL;
    CHECK_OK(cohort__plan_finish(builder, &plan));
    return plan;
}

/* Embeds SUBPLAN, which is released, into BUILDER, and makes BUILDER's plan. */
static struct cohort__plan *embed(struct cohort__plan_builder *builder,
                                  struct cohort__plan *subplan,
                                  const struct cohort__embedding *embedding, uint32_t *ret_end)
{
    *ret_end = cohort__plan_embed(builder, subplan, embedding);
    cohort__plan_unref(subplan);
    return finish(builder);
}

static bool follows(const struct cohort__plan *plan, uint32_t step, uint32_t earlier)
{
    const struct cohort__step *at = &plan->steps[earlier];
    for (uint32_t i = 0; i < at->num_successors; i++)
        if (plan->successors[at->first_successor + i] == step)
            return true;
    return false;
}

static const struct cohort__block *block_of(const struct cohort__plan *plan, uint32_t step,
                                            uint32_t index)
{
    return &plan->blocks[plan->block_refs[plan->steps[step].first_block + index]];
}

static void check_block(const struct cohort__block *block, enum cohort__space space, size_t offset,
                        uint32_t count, size_t bytes, size_t stride)
{
    CHECK_INT(block->space, space);
    CHECK_INT(block->offset, offset);
    CHECK_INT(block->count, count);
    CHECK_INT(block->bytes, bytes);
    CHECK_INT(block->stride, stride);
}

/* Receives into TMP, reduces with IN to OUT, sends OUT. */
static struct cohort__plan *chain_create(void)
{
    struct cohort__plan_builder *builder = builder_create(2);
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, 8);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 8);
    uint32_t tmp = cohort__plan_tmp(builder, 8);
    uint32_t recv = cohort__plan_recv(builder, 1, 1, 2, &tmp, 1);
    uint32_t reduce = cohort__plan_reduce(builder, 1, out, in, tmp);
    uint32_t send = cohort__plan_send(builder, 1, 1, 2, &out, 1);
    cohort__plan_after(builder, reduce, recv);
    cohort__plan_after(builder, send, reduce);
    return finish(builder);
}

TEST(chain)
{
    struct cohort__plan_builder *builder = builder_create(9);
    uint32_t first = cohort__plan_join(builder, 1);
    uint32_t second = cohort__plan_join(builder, 1);
    uint32_t used = cohort__plan_tmp(builder, 10);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 16, 8);
    struct cohort__block_list lists[] = {{&used, 1}, {&out, 1}};
    used = cohort__plan_range(builder, COHORT__SPACE_TMP, 0, 8);
    uint32_t end;
    struct cohort__plan *plan = embed(builder, chain_create(),
                                      &(struct cohort__embedding){.sites = (uint32_t[]){5, 7},
                                                                  .block_map = lists,
                                                                  .phase = PHASE,
                                                                  .tag = TAG,
                                                                  .after = first,
                                                                  .recv_after = second},
                                      &end);
    CHECK_INT(plan->num_steps, 5);
    for (uint32_t step = 2; step < 5; step++)
        CHECK_INT(plan->steps[step].phase, PHASE);
    CHECK_INT(plan->steps[2].kind, COHORT__STEP_RECV);
    CHECK_INT(plan->steps[2].peer, 7);
    CHECK_INT(plan->steps[2].tag, TAG + 2);
    check_block(block_of(plan, 2, 0), COHORT__SPACE_TMP, 64, 1, 8, 0);
    check_block(block_of(plan, 3, 0), COHORT__SPACE_OUT, 16, 1, 8, 0);
    check_block(block_of(plan, 3, 1), COHORT__SPACE_TMP, 0, 1, 8, 0);
    CHECK(follows(plan, 2, second) && !follows(plan, 2, first));
    CHECK(follows(plan, 3, 2) && follows(plan, 3, first));
    CHECK(follows(plan, 4, 3) && !follows(plan, 4, first));
    CHECK_INT(end, 4); /* after all other steps, so no JOIN is needed */
    CHECK_INT(plan->tmp_bytes, 72);
    cohort__plan_unref(plan);
}

/* What a ROUTE sorts by stays, and so do its slots, of which there may be more than it gets. */
TEST(route)
{
    struct cohort__plan_builder *inner = builder_create(2), *builder = builder_create(9);
    uint32_t end, in = cohort__plan_range(inner, COHORT__SPACE_IN, 0, 1);
    cohort__plan_route(inner, 1, true, 2, 77, cohort__plan_tmp(inner, 5), in);
    uint32_t used = cohort__plan_range(builder, COHORT__SPACE_TMP, 0, 1);
    struct cohort__block_list lists[] = {{&used, 1}, {&used, 1}};
    struct cohort__plan *plan = embed(builder, finish(inner),
                                      &(struct cohort__embedding){.block_map = lists,
                                                                  .phase = PHASE,
                                                                  .tag = TAG,
                                                                  .after = COHORT__NO_STEP,
                                                                  .recv_after = COHORT__NO_STEP},
                                      &end);
    CHECK_INT(plan->num_steps, 1);
    CHECK_INT(plan->steps[0].kind, COHORT__STEP_ROUTE);
    CHECK_INT(plan->steps[0].phase, PHASE);
    CHECK_INT(plan->steps[0].op, true);
    CHECK_INT(plan->steps[0].peer, 2);
    CHECK_INT(plan->steps[0].tag, 77);
    CHECK_INT(plan->steps[0].bytes, 5);
    check_block(block_of(plan, 0, 0), COHORT__SPACE_TMP, 0, 1, 5, 0);
    check_block(block_of(plan, 0, 1), COHORT__SPACE_TMP, 0, 1, 1, 0);
    cohort__plan_unref(plan);
}

/* A copy of 24 bytes. With IS_LINKED one more step follows it, which shows where the copy ends. */
static struct cohort__plan *copy_create(bool is_linked)
{
    struct cohort__plan_builder *builder = builder_create(2);
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, 24);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 24);
    uint32_t copy = cohort__plan_copy(builder, 1, out, in);
    if (is_linked)
        cohort__plan_after(builder, cohort__plan_send(builder, 1, 1, 0, &out, 1), copy);
    return finish(builder);
}

/* [8 bytes][2 pieces of 8], mapped to three pieces of 8. It is cut after the first piece. */
TEST(split)
{
    struct cohort__plan_builder *builder = builder_create(2);
    uint32_t before = cohort__plan_join(builder, 1);
    uint32_t from = cohort__plan_block(
        builder,
        (struct cohort__block){.space = COHORT__SPACE_IN, .count = 3, .bytes = 8, .stride = 100});
    uint32_t to[] = {
        cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 8),
        cohort__plan_block(
            builder,
            (struct cohort__block){
                .space = COHORT__SPACE_OUT, .count = 2, .offset = 50, .bytes = 8, .stride = 20}),
    };
    struct cohort__block_list lists[] = {{&from, 1}, {to, 2}};
    uint32_t end;
    struct cohort__plan *plan = embed(builder, copy_create(true),
                                      &(struct cohort__embedding){.sites = (uint32_t[]){0, 1},
                                                                  .block_map = lists,
                                                                  .phase = PHASE,
                                                                  .after = before,
                                                                  .recv_after = COHORT__NO_STEP},
                                      &end);
    CHECK_INT(plan->num_steps, 5); /* the step before, two copies, their JOIN, the SEND */
    check_block(block_of(plan, 1, 0), COHORT__SPACE_OUT, 0, 1, 8, 0);
    check_block(block_of(plan, 1, 1), COHORT__SPACE_IN, 0, 1, 8, 0);
    check_block(block_of(plan, 2, 0), COHORT__SPACE_OUT, 50, 2, 8, 20);
    check_block(block_of(plan, 2, 1), COHORT__SPACE_IN, 100, 2, 8, 100);
    CHECK_INT(plan->steps[3].kind, COHORT__STEP_JOIN);
    CHECK(follows(plan, 1, before) && follows(plan, 2, before));
    CHECK(follows(plan, 3, 1) && follows(plan, 3, 2) && follows(plan, 4, 3));
    CHECK_INT(plan->steps[4].num_blocks, 2);
    CHECK_INT(plan->steps[4].bytes, 24);
    CHECK_INT(end, 4);
    cohort__plan_unref(plan);
}

/* Cuts inside pieces: 12 + 12 bytes, mapped to three pieces of 8, become 8, 4, 4, 8. */
TEST(split_pieces)
{
    struct cohort__plan_builder *builder = builder_create(2);
    uint32_t from = cohort__plan_block(
        builder,
        (struct cohort__block){.space = COHORT__SPACE_IN, .count = 3, .bytes = 8, .stride = 100});
    uint32_t to[] = {cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 12),
                     cohort__plan_range(builder, COHORT__SPACE_OUT, 30, 12)};
    struct cohort__block_list lists[] = {{&from, 1}, {to, 2}};
    static const size_t want[][3] = {{0, 0, 8}, {8, 100, 4}, {30, 104, 4}, {34, 200, 8}};
    uint32_t end;
    struct cohort__plan *plan = embed(builder, copy_create(false),
                                      &(struct cohort__embedding){.block_map = lists,
                                                                  .phase = PHASE,
                                                                  .after = COHORT__NO_STEP,
                                                                  .recv_after = COHORT__NO_STEP},
                                      &end);
    CHECK_INT(plan->num_steps, 5);
    for (uint32_t i = 0; i < 4; i++) {
        check_block(block_of(plan, i, 0), COHORT__SPACE_OUT, want[i][0], 1, want[i][2], 0);
        check_block(block_of(plan, i, 1), COHORT__SPACE_IN, want[i][1], 1, want[i][2], 0);
    }
    CHECK_INT(end, 4);
    CHECK_INT(plan->steps[end].kind, COHORT__STEP_JOIN);
    CHECK_INT(plan->steps[end].num_waits, 4);
    cohort__plan_unref(plan);
}

/* A copy of bytes onto themselves is dropped, unless something has to wait at that point. */
TEST(vanish)
{
    for (int is_linked = 0; is_linked <= 1; is_linked++) {
        struct cohort__plan_builder *builder = builder_create(2);
        uint32_t before = cohort__plan_join(builder, 1);
        uint32_t same[] = {cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 16),
                           cohort__plan_range(builder, COHORT__SPACE_OUT, 16, 8)};
        struct cohort__block_list lists[] = {{same, 2}, {same, 2}};
        uint32_t end;
        struct cohort__plan *plan =
            embed(builder, copy_create(is_linked),
                  &(struct cohort__embedding){.sites = (uint32_t[]){0, 1},
                                              .block_map = lists,
                                              .phase = PHASE,
                                              .after = before,
                                              .recv_after = COHORT__NO_STEP},
                  &end);
        CHECK_INT(plan->num_steps, is_linked ? 3 : 1);
        CHECK_INT(end, is_linked ? 2 : before);
        cohort__plan_unref(plan);
    }
}

/* The end follows both of the embedding's steps, even if no step of the subplan connects them. */
TEST(end)
{
    struct cohort__plan_builder *inner = builder_create(2);
    uint32_t block = cohort__plan_range(inner, COHORT__SPACE_OUT, 0, 8);
    cohort__plan_recv(inner, 1, 1, 0, &block, 1);
    struct cohort__plan_builder *builder = builder_create(2);
    uint32_t before = cohort__plan_join(builder, 1);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 8);
    struct cohort__block_list list = {&out, 1};
    uint32_t end;
    struct cohort__plan *plan = embed(builder, finish(inner),
                                      &(struct cohort__embedding){.sites = (uint32_t[]){0, 1},
                                                                  .block_map = &list,
                                                                  .phase = PHASE,
                                                                  .after = before,
                                                                  .recv_after = COHORT__NO_STEP},
                                      &end);
    CHECK_INT(plan->steps[1].num_waits, 0);
    CHECK_INT(plan->steps[end].kind, COHORT__STEP_JOIN);
    CHECK(follows(plan, end, 1) && follows(plan, end, before));
    cohort__plan_unref(plan);
}

TEST(nothing)
{
    struct cohort__plan_builder *builder = builder_create(1);
    struct cohort__plan *subplan = finish(builder_create(1));
    struct cohort__embedding embedding = {.after = COHORT__NO_STEP, .recv_after = COHORT__NO_STEP};
    CHECK(cohort__plan_embed(builder, subplan, &embedding) == COHORT__NO_STEP);
    cohort__plan_unref(subplan);
    cohort__plan_builder_destroy(builder);
}

TEST(failed_builder)
{
    struct cohort__plan_builder *builder = builder_create(2);
    struct cohort__plan *plan = NULL;
    struct cohort__plan *subplan = copy_create(true);
    uint32_t blocks[] = {cohort__plan_range(builder, COHORT__SPACE_IN, 0, 24),
                         cohort__plan_range(builder, COHORT__SPACE_OUT, 0, 24)};
    struct cohort__block_list lists[] = {{&blocks[0], 1}, {&blocks[1], 1}};
    struct cohort__embedding embedding = {
        .sites = (uint32_t[]){0, 1}, .block_map = lists, .after = 0, .recv_after = 0};
    cohort__plan_builder_fail(builder);
    cohort__plan_embed(builder, subplan, &embedding);
    CHECK_INT(cohort__plan_finish(builder, &plan), COHORT_ERR_NO_MEMORY);
    cohort__plan_unref(subplan);
}

/* Messages with one tag in two phases that become one phase. */
TEST(tags_per_phase)
{
    struct cohort__plan_builder *inner = builder_create(2), *outer = builder_create(2);
    uint32_t in = cohort__plan_range(inner, COHORT__SPACE_IN, 0, 8);
    uint32_t out = cohort__plan_range(inner, COHORT__SPACE_OUT, 0, 8);
    uint32_t blocks[] = {cohort__plan_range(outer, COHORT__SPACE_IN, 0, 8),
                         cohort__plan_range(outer, COHORT__SPACE_OUT, 0, 8)};
    struct cohort__block_list lists[] = {{&blocks[0], 1}, {&blocks[1], 1}};
    for (unsigned phase = 1; phase <= COHORT__LAST_PHASE; phase++) {
        cohort__plan_send(inner, phase, 1, 7, &in, 1);
        cohort__plan_recv(inner, phase, 1, 7, &out, 1);
    }
    uint32_t end;
    struct cohort__plan *plan = embed(outer, finish(inner),
                                      &(struct cohort__embedding){.sites = (uint32_t[]){0, 1},
                                                                  .block_map = lists,
                                                                  .phase = COHORT__PHASE_CHECK,
                                                                  .tag = 30,
                                                                  .tags_per_phase = 1000,
                                                                  .after = COHORT__NO_STEP,
                                                                  .recv_after = COHORT__NO_STEP},
                                      &end);
    for (uint32_t phase = 1; phase <= COHORT__LAST_PHASE; phase++) {
        CHECK_INT(plan->steps[2 * (phase - 1)].tag, 37 + 1000 * phase);
        CHECK_INT(cohort__plan_find_recv(plan, COHORT__PHASE_CHECK, 1, 37 + 1000 * phase),
                  2 * (phase - 1) + 1);
    }
    cohort__plan_unref(plan);
}
