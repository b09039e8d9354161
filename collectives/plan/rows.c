/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/rows.h"

#include <stdbool.h>
#include <stdlib.h>

#include "collectives/plan/embed.h"

/* A row with at least one byte. They are sorted by where they begin. */
struct place {
    size_t begin;
    size_t end;
    uint32_t row;
};

struct rows {
    struct cohort__plan_builder *builder;
    const struct cohort__plan *plan;
    uint32_t num_rows;
    struct place *places;
    uint32_t num_places;
    uint32_t *done; /* the DONE step of each row */
    uint32_t *last; /* for each row: the last step found that writes to it, + 1 */
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void places_fill(struct rows *self, const struct cohort__row *rows)
{
    for (uint32_t row = 0; row < self->num_rows; row++)
        if (rows[row].bytes > 0)
            self->places[self->num_places++] =
                (struct place){rows[row].offset, rows[row].offset + rows[row].bytes, row};
    qsort(self->places, self->num_places, sizeof(*self->places), compare_places);
}

/* The index of the first place that ends behind OFFSET. */
static uint32_t place_find(const struct rows *self, size_t offset)
{
    uint32_t low = 0, high = self->num_places;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (self->places[middle].end > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void wait_for_bytes(struct rows *self, uint32_t step, size_t begin, size_t end)
{
    for (uint32_t i = place_find(self, begin); i < self->num_places && self->places[i].begin < end;
         i++) {
        uint32_t row = self->places[i].row;
        if (self->last[row] == step + 1)
            continue;
        self->last[row] = step + 1;
        cohort__plan_after(self->builder, self->done[row], step);
    }
}

static void wait_for_block(struct rows *self, uint32_t step, const struct cohort__block *block)
{
    if (block->space != COHORT__SPACE_OUT || block->bytes == 0)
        return;
    for (uint32_t piece = 0; piece < block->count; piece++) {
        size_t begin = block->offset + piece * block->stride;
        wait_for_bytes(self, step, begin, begin + block->bytes);
    }
}

static uint32_t num_written(const struct cohort__step *step)
{
    if (step->kind == COHORT__STEP_RECV)
        return step->num_blocks;
    return step->kind == COHORT__STEP_COPY || step->kind == COHORT__STEP_REDUCE ||
           step->kind == COHORT__STEP_ZERO || step->kind == COHORT__STEP_MEET ||
           step->kind == COHORT__STEP_READ;
}

/* Appends the blocks and steps of PLAN, with the same indices. */
static void copy(struct rows *self)
{
    const struct cohort__plan *plan = self->plan;
    for (uint32_t i = 0; i < plan->num_blocks; i++)
        cohort__plan_block(self->builder, plan->blocks[i]);
    cohort__plan_tmp(self->builder, plan->tmp_bytes);
    if (plan->num_members > 0)
        cohort__plan_set_members(self->builder, plan->members, plan->num_members, plan->this_rank);
    for (uint32_t i = 0; i < plan->num_steps; i++)
        cohort__plan_copy_step(self->builder, plan, i);
    for (uint32_t i = 0; i < plan->num_steps; i++)
        for (uint32_t k = 0; k < plan->steps[i].num_successors; k++)
            cohort__plan_after(self->builder, plan->successors[plan->steps[i].first_successor + k],
                               i);
}

static void done_append(struct rows *self)
{
    const struct cohort__plan *plan = self->plan;
    for (uint32_t row = 0; row < self->num_rows; row++)
        self->done[row] = cohort__plan_done(self->builder, row);
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        for (uint32_t k = 0; k < num_written(step); k++)
            wait_for_block(self, i, &plan->blocks[plan->block_refs[step->first_block + k]]);
    }
}

cohort_status cohort__plan_rows(struct cohort__plan *plan, const struct cohort__row *rows,
                                uint32_t num, struct cohort__plan **ret_plan)
{
    struct rows self = {.plan = plan, .num_rows = num};
    cohort_status status =
        cohort__plan_builder_create(&self.builder, plan->name, plan->num_sites, plan->this_site);
    if (status)
        return status;
    self.places = calloc(num + (size_t)1, sizeof(*self.places));
    self.done = calloc(num + (size_t)1, sizeof(*self.done));
    self.last = calloc(num + (size_t)1, sizeof(*self.last));
    if (self.places && self.done && self.last) {
        places_fill(&self, rows);
        copy(&self);
        done_append(&self);
    } else {
        cohort__plan_builder_fail(self.builder);
    }
    free(self.places);
    free(self.done);
    free(self.last);
    return cohort__plan_finish(self.builder, ret_plan);
}
