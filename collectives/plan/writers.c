/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/writers.h"

#include <stdlib.h>

struct search {
    struct cohort__plan_builder *builder;
    enum cohort__space space;
    struct cohort__written *ranges; /* by where they begin */
    uint32_t num;
};

/* Ranges without bytes, which nobody writes, come last, so that the others end in order, too. */
static int compare(const void *left, const void *right)
{
    const struct cohort__written *a = left, *b = right;
    if ((a->bytes == 0) != (b->bytes == 0))
        return a->bytes == 0 ? 1 : -1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The index of the first range that ends behind OFFSET. */
static uint32_t find(const struct search *self, size_t offset)
{
    uint32_t low = 0, high = self->num;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (self->ranges[middle].offset + self->ranges[middle].bytes > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void wait_for_bytes(const struct search *self, uint32_t step, size_t begin, size_t end)
{
    for (uint32_t i = find(self, begin); i < self->num && self->ranges[i].offset < end; i++) {
        struct cohort__written *range = &self->ranges[i];
        if (range->last == step + 1)
            continue;
        range->last = step + 1;
        cohort__plan_after(self->builder, range->step, step);
    }
}

static void wait_for_block(const struct search *self, uint32_t step, struct cohort__block block)
{
    if (block.space != self->space || block.bytes == 0)
        return;
    for (uint32_t piece = 0; piece < block.count; piece++) {
        size_t begin = block.offset + piece * block.stride;
        wait_for_bytes(self, step, begin, begin + block.bytes);
    }
}

static uint32_t num_written(const struct cohort__step *step)
{
    if (step->kind == COHORT__STEP_RECV)
        return step->num_blocks;
    return step->kind == COHORT__STEP_COPY || step->kind == COHORT__STEP_REDUCE ||
           step->kind == COHORT__STEP_ZERO || step->kind == COHORT__STEP_MEET ||
           step->kind == COHORT__STEP_READ || step->kind == COHORT__STEP_ROUTE;
}

void cohort__plan_after_writers(struct cohort__plan_builder *builder, enum cohort__space space,
                                struct cohort__written *ranges, uint32_t num)
{
    struct search self = {.builder = builder, .space = space, .ranges = ranges, .num = num};
    qsort(ranges, num, sizeof(*ranges), compare);
    while (self.num > 0 && ranges[self.num - 1].bytes == 0)
        self.num--;
    for (uint32_t i = 0; i < cohort__plan_num_steps(builder); i++) {
        struct cohort__step step = cohort__plan_get_step(builder, i);
        for (uint32_t k = 0; k < num_written(&step); k++)
            wait_for_block(&self, i, cohort__plan_get_operand(builder, &step, k));
    }
}
