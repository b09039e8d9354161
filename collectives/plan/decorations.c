/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/decorations.h"

#include <stdbool.h>
#include <stdlib.h>

#include "collectives/plan/embed.h"
#include "collectives/plan/plan.h"

/* Contiguous bytes of a space. */
struct span {
    size_t begin;
    size_t end;
};

static bool is_used(const struct cohort__block *block, enum cohort__space space)
{
    return block->space == space && block->bytes > 0;
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The parts of SPACE that the steps of PLAN touch, in ascending order, with gaps between them.
 * NULL: no memory. */
static struct span *spans_of(const struct cohort__plan *plan, enum cohort__space space,
                             size_t *ret_num)
{
    size_t num = 0, num_merged = 0;
    for (uint32_t i = 0; i < plan->num_block_refs; i++) {
        const struct cohort__block *block = &plan->blocks[plan->block_refs[i]];
        num += is_used(block, space) ? block->count : 0;
    }
    struct span *spans = malloc((num + 1) * sizeof(*spans));
    if (!spans)
        return NULL;
    num = 0;
    for (uint32_t i = 0; i < plan->num_block_refs; i++) {
        const struct cohort__block *block = &plan->blocks[plan->block_refs[i]];
        for (uint32_t piece = 0; is_used(block, space) && piece < block->count; piece++) {
            size_t begin = block->offset + piece * block->stride;
            spans[num++] = (struct span){begin, begin + block->bytes};
        }
    }
    qsort(spans, num, sizeof(*spans), compare_spans);
    for (size_t i = 0; i < num; i++) {
        struct span *last = num_merged > 0 ? &spans[num_merged - 1] : NULL;
        if (!last || spans[i].begin > last->end)
            spans[num_merged++] = spans[i];
        else if (spans[i].end > last->end)
            last->end = spans[i].end;
    }
    *ret_num = num_merged;
    return spans;
}

/* The blocks in a space move to TMP: byte `first` there is at `base`. */
struct move {
    enum cohort__space from;
    size_t first;
    size_t base;
};

static struct cohort__block moved(const void *context, struct cohort__block block)
{
    const struct move *move = context;
    if (is_used(&block, move->from)) {
        block.space = COHORT__SPACE_TMP;
        block.offset = block.offset - move->first + move->base;
    }
    return block;
}

/* Appends the copies. Returns a step that is done when all of them are. */
static uint32_t copies_append(struct cohort__plan_builder *builder, const struct span *spans,
                              size_t num, size_t offset, size_t base)
{
    uint32_t first = cohort__plan_num_steps(builder);
    for (size_t i = 0; i < num; i++) {
        size_t bytes = spans[i].end - spans[i].begin;
        uint32_t to = cohort__plan_range(builder, COHORT__SPACE_TMP,
                                         base + spans[i].begin - spans[0].begin, bytes);
        uint32_t from =
            cohort__plan_range(builder, COHORT__SPACE_OUT, offset + spans[i].begin, bytes);
        cohort__plan_copy(builder, 1, to, from);
    }
    if (num == 1)
        return first;
    uint32_t join = cohort__plan_join(builder, 1);
    for (size_t i = 0; i < num; i++)
        cohort__plan_after(builder, join, first + (uint32_t)i);
    return join;
}

/* COPIES: the contents of FROM are copied from OUT, where they begin at byte OFFSET. */
static cohort_status move_to_tmp(struct cohort__plan *plan, enum cohort__space from, bool copies,
                                 size_t offset, struct cohort__plan **ret_plan)
{
    size_t num;
    struct span *spans = spans_of(plan, from, &num);
    if (!spans)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "plan %s at site %u of %u in place: no memory",
                           plan->name, plan->this_site, plan->num_sites);
    if (num == 0) {
        free(spans);
        *ret_plan = cohort__plan_ref(plan);
        return COHORT_OK;
    }
    struct cohort__plan_builder *builder;
    cohort_status status =
        cohort__plan_builder_create(&builder, plan->name, plan->num_sites, plan->this_site);
    if (!status) {
        uint32_t tmp = cohort__plan_tmp(builder, spans[num - 1].end - spans[0].begin);
        const struct move move = {from, spans[0].begin,
                                  cohort__plan_get_block(builder, tmp).offset};
        uint32_t after =
            copies ? copies_append(builder, spans, num, offset, move.base) : COHORT__NO_STEP;
        cohort__plan_embed_moved(builder, plan, moved, &move,
                                 (struct cohort__embedding){.phase = COHORT__KEEP_PHASE,
                                                            .after = after,
                                                            .recv_after = after});
        if (plan->has_gaps)
            cohort__plan_set_gaps(builder);
        status = cohort__plan_finish(builder, ret_plan);
    }
    free(spans);
    return status;
}

cohort_status cohort__plan_in_place(struct cohort__plan *plan, size_t offset,
                                    struct cohort__plan **ret_plan)
{
    return move_to_tmp(plan, COHORT__SPACE_IN, true, offset, ret_plan);
}

cohort_status cohort__plan_without_out(struct cohort__plan *plan, struct cohort__plan **ret_plan)
{
    return move_to_tmp(plan, COHORT__SPACE_OUT, false, 0, ret_plan);
}

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
